"""Programs in and out of files, and drafts that outlive a closed window."""

import codecs
import contextlib
import errno
import hashlib
import io
import os
import re
import select
import stat
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from app import atomic, envelope
from app.envelope import Damaged, Newer

SESSION = ".gradscribe"
"""How the name of a training session ends."""
KEPT_IN = ("drafts", "sessions")
"""Two folders side by side: what closed windows left, and what open ones hold."""
LIMIT = 2 << 20
"""A program longer than this many bytes is not opened."""
MOST_DRAFT = 64 << 20
"""No draft longer than this many bytes is read."""
_END = re.compile("\r\n|\r|\n")


class Refused(Exception):
    """Something the user asked for cannot be done; its text is shown to them as it is."""


class Draft(Struct, frozen=True):
    """A program that was closed before it was saved; ``saved`` is the text its file held."""

    source: str
    path: str = ""
    title: str = ""
    saved: str = ""
    foreign: bool = False
    """Whether it came from elsewhere: it waits to be read again."""


def read(path: Path) -> str:
    """Return the text of the program at ``path``, with line ends as Python writes them.

    Raises:
        Refused: there is no such file, it is no text in UTF-8 or the encoding that its first lines
            declare, or far too long for a program.
    """
    try:
        with opened(path) as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > LIMIT:
        raise Refused(f"{path} is longer than {LIMIT >> 20} MB")
    try:
        text = data.decode(_encoding(data))
    except UnicodeError as error:
        raise Refused(f"{path} is not text") from error
    if "\0" in text:
        raise Refused(f"{path} is not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def real(path: Path) -> Path:
    """Return the whole path without links; one in a circle stays, and cannot be opened.

    Raises:
        Refused: no file can have that name.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise Refused(f"No file is called {str(path)!r}") from error


def is_there(path: Path) -> bool:
    """Return whether something is at ``path``, as far as one may look.

    Asked itself, a path of which that cannot be told raises: in a folder that is not for this user,
    or with a name that is too long.
    """
    return os.path.exists(path)


def opened(path: Path) -> BinaryIO:
    """Open a file for reading, but nothing that one would wait for.

    Raises:
        Refused: it is a folder, or a pipe or socket with a name, or its name is no text.
        OSError: it cannot be opened.
    """
    _check_name(path)
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise Refused(f"{path} is a folder, not a file")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise Refused(f"{path} is no plain file")
    # What the shell puts there for <(a command) ends by itself.
    if (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and path.parts[1:2] not in (
        ("dev",),
        ("proc",),
    ):
        raise Refused(f"{path} is no plain file")
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or not hasattr(os, "O_NONBLOCK"):
        return path.open("rb")
    # A few files of the system's keep whoever reads them until there is more.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    if not select.select([file], [], [], 0)[0]:
        file.close()
        raise Refused(f"{path} is no plain file")
    return file


def _check_name(path: Path) -> None:
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(path).decode("utf-8", "replace")
        raise Refused(f"The name of {shown} is not text: give the file another name") from error


def write(path: Path, text: str, like: Path | None = None) -> None:
    """Write a program to ``path``: wholly, or the file stays as it was.

    Line ends and a byte order mark stay as they are in the file at ``like`` (``path`` if None).

    Raises:
        Refused: the file cannot be written.
    """
    _check_name(path)
    before = _bytes_at(like or path)
    try:
        name = _encoding(text.encode())
        data = _with_ends(text, before).encode(name.removesuffix("-sig"))
    except UnicodeEncodeError as error:
        raise Refused(
            f"{path} cannot be written: {error.object[error.start]!r} is not in the"
            f" encoding that it declares, {error.encoding}"
        ) from error
    except UnicodeError as error:
        raise Refused(f"{path} cannot be written in the encoding that it declares") from error
    if before.startswith(codecs.BOM_UTF8) and name == "utf-8-sig":
        data = codecs.BOM_UTF8 + data
    write_bytes(path, data)


def _bytes_at(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(LIMIT)
    except OSError:
        return b""


def _with_ends(text: str, before: bytes) -> str:
    """Return ``text`` with the line ends that most lines of ``before`` have.

    Where they are mixed, the lines at the start and at the end that did not change keep theirs.
    """
    try:
        old = before.decode(_encoding(before))
    except UnicodeError:
        return text
    # Three kinds of ends and no others: a form feed, say, is a letter like any.
    lines = _END.sub("\n", old).split("\n")
    ends = _END.findall(old)
    most = max(dict.fromkeys(ends), key=ends.count, default="\n")
    if most == "\n" and len(set(ends)) <= 1:
        return text
    new = text.split("\n")
    same = _common(lines, new)
    room = min(len(lines), len(new)) - same
    tail = min(_common(lines[::-1], new[::-1]), room)
    fresh = len(new) - 1 - same - tail
    kept = ends[len(ends) - tail :] if tail else []
    chosen = [*ends[:same], *[most] * max(0, fresh), *kept][: len(new) - 1]
    made = "".join(line + end for line, end in zip(new, [*chosen, ""], strict=True))
    # A lone return before a lone newline would be one line end.
    return made if _END.sub("\n", made) == text else text.replace("\n", most)


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for count, (a, b) in enumerate(zip(one, other, strict=False), 1):
        if a != b:
            return count - 1
    return count


def _encoding(data: bytes) -> str:
    """Return the encoding a program is in, as Python finds out: UTF-8 or what it declares."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        # Some that a program may name are none of texts, or keep no lines apart: rot13, punycode.
        is_plain = "\n".encode(name) == b"\n"
    except (SyntaxError, LookupError, UnicodeError):
        is_plain = False
    return name if is_plain and name not in ("utf-8", "utf-8-sig") else "utf-8-sig"


def write_bytes(path: Path, data: bytes | Sequence[bytes]) -> None:
    """Write ``data`` to ``path``: wholly and safely on the disk, or the file stays as it was.

    Raises:
        Refused: the file cannot be written.
    """
    try:
        atomic.write(path, data)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {atomic.why(error)}") from error


def check_writable(path: Path) -> None:
    """Make sure, before long work, that a file at ``path`` could be written.

    Raises:
        Refused: its folder is missing, or one may not write there.
    """
    folder, error = path.absolute().parent, 0
    try:
        error = 0 if stat.S_ISDIR(folder.stat().st_mode) else errno.ENOTDIR
    except OSError as trouble:
        error = trouble.errno or errno.ENOENT
    if not error and os.path.isdir(path):
        error = errno.EISDIR
    if not error:
        place, wanted = (path, os.W_OK) if is_there(path) else (folder, os.W_OK | os.X_OK)
        if not os.access(place, wanted):
            error = errno.EROFS if _is_read_only(place) else errno.EACCES
    if error:
        why = atomic.why(OSError(error, os.strerror(error).lower()))
        raise Refused(f"{path} cannot be written: {why}")


def _is_read_only(path: Path) -> bool:
    """Return whether nobody may write on that disk (where the system tells)."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):
        return False


def differs(path: Path, text: str) -> bool:
    """Return whether there is a file at ``path`` that holds something else than ``text``."""
    try:
        return read(path) != text
    except Refused:
        return is_there(path)


def newest(where: Path) -> int:
    """Return the time (nanoseconds) of what was kept last, in the folder ``where`` or beside it."""
    return atomic.latest(*{where, *(where.with_name(name) for name in KEPT_IN)})


class Drafts:
    """Unsaved texts in a folder, one per document. ``where`` None keeps nothing."""

    def __init__(self, where: Path | None) -> None:
        self.where = where

    def keep(self, draft: Draft) -> None:
        """Keep a draft of the document at ``draft.path``; `sync` has it safe from a power cut.

        Raises:
            Refused: it cannot be written.
        """
        if self.where is None:
            return
        try:
            self.where.mkdir(parents=True, exist_ok=True)
            data = envelope.wrap(msgspec.json.encode(draft))
            after = newest(self.where)
            atomic.write(self._file(draft.path), data, sync=False, after=after)
        except OSError as error:
            raise Refused(f"The text cannot be kept: {atomic.why(error)}") from error
        except UnicodeEncodeError as error:
            raise Refused(f"The text cannot be kept: {error.reason}") from error

    def sync(self, path: str) -> None:
        """Have the draft of ``path`` safely on the disk. Any thread may do it.

        Raises:
            OSError: the disk has failed.
        """
        if self.where is not None:
            atomic.sync_file(self._file(path))

    def find(self, path: str) -> Draft | None:
        """Return the draft of the document at ``path`` (empty: the one without a file).

        Raises:
            Refused: there is one, and it cannot be read; it stays, if need be under another name.
        """
        if self.where is None:
            return None
        file = self._file(path)
        try:
            with opened(file) as held:
                data = held.read(MOST_DRAFT + 1)
        except OSError:
            return None
        except Refused as error:
            raise Refused(f"Unsaved changes cannot be read: {error}") from error
        # Before drafts had a checksum they were bare JSON.
        bare = data.startswith(b"{")
        try:
            if len(data) > MOST_DRAFT:
                raise Damaged("it is far too long")
            return msgspec.json.decode(data if bare else envelope.unwrap(data), type=Draft)
        except Newer as error:
            raise Refused(f"Unsaved changes of a newer Gradscribe: {error}") from error
        except (Damaged, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            with contextlib.suppress(OSError):
                file = atomic.set_aside(file)
            raise Refused(f"Unsaved changes cannot be read; they are kept as {file}") from error

    def order(self, path: str) -> int:
        """Return a number that grows from each work that is kept to the next; 0 for no draft."""
        return atomic.written_at(self._file(path)) if self.where is not None else 0

    def drop(self, path: str) -> None:
        """Forget the draft of the document at ``path``."""
        if self.where is not None:
            with contextlib.suppress(OSError):
                self._file(path).unlink(missing_ok=True)

    def _file(self, path: str) -> Path:
        assert self.where is not None
        name = hashlib.sha256(path.encode()).hexdigest()[:16] if path else "untitled"
        return self.where / f"{name}.json"
