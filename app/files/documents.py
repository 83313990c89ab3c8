"""Read and write program files, and store drafts that outlive a closed window."""

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

from gradscribe.app.files import atomic, checksummed
from gradscribe.app.files.checksummed import DamagedFile, NewerVersion
from gradscribe.app.files.file_kinds import foreign_kind
from gradscribe.engine.protocol.lecture.slides import Slide
from gradscribe.playback.translation import tr

SESSION_SUFFIX = ".gradscribe"
"""File suffix of a training session."""
STORE_FOLDERS = ("drafts", "sessions")
"""The sibling folders of the drafts of closed windows and the sessions of open ones."""
MAX_PROGRAM_BYTES = 2 << 20
"""Most bytes of a program that is opened."""
MAX_DRAFT_BYTES = 64 << 20
"""Most bytes of a draft that is read."""
_END = re.compile("\r\n|\r|\n")


class Refused(Exception):
    """A request of the user cannot be carried out; the text is shown to the user as it is."""


class Draft(Struct, frozen=True):
    """An unsaved program of a closed window; ``saved`` is the text of its file."""

    source: str
    path: str = ""
    title: str = ""
    saved: str = ""
    foreign: bool = False
    """True if it came from outside: it does not run before the user has read it again."""
    slides: tuple[Slide, ...] = ()
    """Slides of a lecture on the program."""


def read(path: Path, suffix: str = "") -> str:
    """Return the text of the program at ``path``, with line ends normalized to LF.

    ``suffix``: that of a file which is no program, but is wanted: ``.md`` of a lesson.

    Raises:
        Refused: the file is missing, too long, or not text in UTF-8 or its declared encoding.
    """
    try:
        with open_plain(path) as file:
            data = file.read(MAX_PROGRAM_BYTES + 1)
    except OSError as error:
        raise Refused(
            tr("{path} cannot be read: {value}", path=path, value=error.strerror or error)
        ) from error
    if len(data) > MAX_PROGRAM_BYTES:
        most = MAX_PROGRAM_BYTES >> 20
        raise Refused(
            _why_not(
                path, suffix, data, tr("{path} is longer than {most} MB", path=path, most=most)
            )
        )
    try:
        text = data.decode(_encoding(data))
    except UnicodeError as error:
        raise Refused(_why_not(path, suffix, data, tr("{path} is not text", path=path))) from error
    if "\0" in text:
        raise Refused(_why_not(path, suffix, data, tr("{path} is not text", path=path)))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _why_not(path: Path, suffix: str, data: bytes, otherwise: str) -> str:
    """Return why a file is no program: it is of another kind, or else ``otherwise``."""
    kind = "" if suffix and path.suffix == suffix else foreign_kind(path, data[:16])
    return tr("{path} is {kind}, not a program", path=path, kind=kind) if kind else otherwise


def resolve(path: Path) -> Path:
    """Return the absolute path with links resolved; circular links are left as they are.

    Raises:
        Refused: the name is not a valid file name.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise Refused(tr("No file is called {str!r}", str=str(path))) from error


def exists(path: Path) -> bool:
    """Return whether ``path`` exists; False if that cannot be determined.

    Unlike `Path.exists`, this does not raise for an unreadable folder or an overlong name.
    """
    return os.path.exists(path)


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading, unless reading from it might block.

    Raises:
        Refused: it is a folder, a device, or a named pipe or socket, or its name is not text.
        OSError: it cannot be opened.
    """
    _check_name(path)
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise Refused(tr("{path} is a folder, not a file", path=path))
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise Refused(tr("{path} is no plain file", path=path))
    # The shell's process substitution <(command) is a pipe that ends by itself.
    if (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and path.parts[1:2] not in (
        ("dev",),
        ("proc",),
    ):
        raise Refused(tr("{path} is no plain file", path=path))
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or not hasattr(os, "O_NONBLOCK"):
        return path.open("rb")
    # Reading from some system files (/proc/kmsg) blocks until there is more.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    if not select.select([file], [], [], 0)[0]:
        file.close()
        raise Refused(tr("{path} is no plain file", path=path))
    return file


def _check_name(path: Path) -> None:
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(path).decode("utf-8", "replace")
        raise Refused(
            tr("The name of {shown} is not text: give the file another name", shown=shown)
        ) from error


def write(path: Path, text: str, like: Path | None = None) -> None:
    """Write a program to ``path`` atomically.

    Line ends and a byte order mark are taken from the file at ``like`` (``path`` if None).

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
            tr(
                "{path} cannot be written: {object!r} is not in the encoding that it "
                "declares, {encoding}",
                path=path,
                object=error.object[error.start],
                encoding=error.encoding,
            )
        ) from error
    except UnicodeError as error:
        raise Refused(
            tr("{path} cannot be written in the encoding that it declares", path=path)
        ) from error
    if before.startswith(codecs.BOM_UTF8) and name == "utf-8-sig":
        data = codecs.BOM_UTF8 + data
    write_bytes(path, data)


def _bytes_at(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(MAX_PROGRAM_BYTES)
    except OSError:
        return b""


def _with_ends(text: str, before: bytes) -> str:
    """Return ``text`` with the line end that is most frequent in ``before``.

    If they are mixed, unchanged lines at the start and at the end keep theirs.
    """
    try:
        old = before.decode(_encoding(before))
    except UnicodeError:
        return text
    # Not str.splitlines, which also splits at form feeds and the like.
    lines = _END.sub("\n", old).split("\n")
    ends = _END.findall(old)
    most = max(dict.fromkeys(ends), key=ends.count, default="\n")
    if most == "\n" and len(set(ends)) <= 1:
        return text
    new = text.split("\n")
    same = _common(lines, new)
    rest = min(len(lines), len(new)) - same
    tail = min(_common(lines[::-1], new[::-1]), rest)
    fresh = len(new) - 1 - same - tail
    last = ends[len(ends) - tail :] if tail else []
    chosen = [*ends[:same], *[most] * max(0, fresh), *last][: len(new) - 1]
    made = "".join(line + end for line, end in zip(new, [*chosen, ""], strict=True))
    # A line that ends in \r before an empty line that ends in \n would merge into one \r\n.
    return made if _END.sub("\n", made) == text else text.replace("\n", most)


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for count, (a, b) in enumerate(zip(one, other, strict=False), 1):
        if a != b:
            return count - 1
    return count


def _encoding(data: bytes) -> str:
    """Return a program's encoding by Python's rules (PEP 263): UTF-8 or what it declares."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        # Exclude codecs that are not text encodings or do not keep newlines: rot13, punycode.
        is_plain = "\n".encode(name) == b"\n"
    except (SyntaxError, LookupError, UnicodeError):
        is_plain = False
    return name if is_plain and name not in ("utf-8", "utf-8-sig") else "utf-8-sig"


def write_bytes(path: Path, data: bytes | Sequence[bytes]) -> None:
    """Write ``data`` to ``path`` atomically, synced to the disk.

    Raises:
        Refused: the file cannot be written.
    """
    try:
        atomic.write(path, data)
    except OSError as error:
        raise Refused(
            tr("{path} cannot be written: {reason}", path=path, reason=atomic.reason(error))
        ) from error


def check_writable(path: Path) -> None:
    """Check, before long work, that a file at ``path`` could be written.

    Raises:
        Refused: its folder is missing or not writable.
    """
    folder, error = path.absolute().parent, 0
    try:
        error = 0 if stat.S_ISDIR(folder.stat().st_mode) else errno.ENOTDIR
    except OSError as trouble:
        error = trouble.errno or errno.ENOENT
    if not error and os.path.isdir(path):
        error = errno.EISDIR
    if not error:
        place, wanted = (path, os.W_OK) if exists(path) else (folder, os.W_OK | os.X_OK)
        if not os.access(place, wanted):
            error = errno.EROFS if _is_read_only(place) else errno.EACCES
    if error:
        why = atomic.reason(OSError(error, os.strerror(error).lower()))
        raise Refused(tr("{path} cannot be written: {why}", path=path, why=why))


def _is_read_only(path: Path) -> bool:
    """Return whether the file system is mounted read-only; False if unknown."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):
        return False


def differs(path: Path, text: str) -> bool:
    """Return whether a file exists at ``path`` whose text is not ``text``."""
    try:
        return read(path) != text
    except Refused:
        return exists(path)


def latest_mtime(where: Path) -> int:
    """Return the latest mtime (nanoseconds) in folder ``where`` and its `STORE_FOLDERS`."""
    return atomic.latest_mtime(*{where, *(where.with_name(name) for name in STORE_FOLDERS)})


class Drafts:
    """Unsaved texts in a folder, one per document; nothing is stored if ``where`` is None."""

    def __init__(self, where: Path | None) -> None:
        self.where = where

    def keep(self, draft: Draft) -> None:
        """Store a draft of the document at ``draft.path``; `sync` makes it survive a power cut.

        Raises:
            Refused: the draft cannot be written.
        """
        if self.where is None:
            return
        try:
            self.where.mkdir(parents=True, exist_ok=True)
            data = checksummed.wrap(msgspec.json.encode(draft))
            after = latest_mtime(self.where)
            atomic.write(self._file(draft.path), data, sync=False, after=after)
        except OSError as error:
            raise Refused(
                tr("The text cannot be stored: {reason}", reason=atomic.reason(error))
            ) from error
        except UnicodeEncodeError as error:
            raise Refused(tr("The text cannot be stored: {reason}", reason=error.reason)) from error

    def sync(self, path: str) -> None:
        """Flush the draft of ``path`` to the disk. Thread-safe.

        Raises:
            OSError: the disk has failed.
        """
        if self.where is not None:
            atomic.sync_file(self._file(path))

    def find(self, path: str) -> Draft | None:
        """Return the draft of the document at ``path`` (empty: the document without a file).

        Raises:
            Refused: the draft cannot be read; a damaged one is renamed, not deleted.
        """
        if self.where is None:
            return None
        file = self._file(path)
        try:
            with open_plain(file) as stream:
                data = stream.read(MAX_DRAFT_BYTES + 1)
        except OSError:
            return None
        except Refused as error:
            raise Refused(tr("Unsaved changes cannot be read: {error}", error=error)) from error
        # Before drafts had a checksum they were bare JSON.
        bare = data.startswith(b"{")
        try:
            if len(data) > MAX_DRAFT_BYTES:
                raise DamagedFile(tr("it is far too long"))
            return msgspec.json.decode(data if bare else checksummed.unwrap(data), type=Draft)
        except NewerVersion as error:
            raise Refused(
                tr("Unsaved changes of a newer Gradscribe: {error}", error=error)
            ) from error
        except (DamagedFile, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            with contextlib.suppress(OSError):
                file = atomic.rename_to_backup(file)
            raise Refused(
                tr("Unsaved changes cannot be read; they are kept as {file}", file=file)
            ) from error

    def order(self, path: str) -> int:
        """Return a number that is greater for a later draft or session; 0 for no draft."""
        return atomic.mtime_of(self._file(path)) if self.where is not None else 0

    def drop(self, path: str) -> None:
        """Delete the draft of the document at ``path``."""
        if self.where is not None:
            with contextlib.suppress(OSError):
                self._file(path).unlink(missing_ok=True)

    def _file(self, path: str) -> Path:
        assert self.where is not None
        name = hashlib.sha256(path.encode()).hexdigest()[:16] if path else "untitled"
        return self.where / f"{name}.json"
