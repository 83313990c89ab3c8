"""Programs in and out of files, and drafts that outlive a closed window."""

import hashlib
import io
import os
import tokenize
from pathlib import Path

import msgspec
from msgspec import Struct

LIMIT = 2 << 20
"""A program longer than this many bytes is not opened."""


class Refused(Exception):
    """Something the user asked for cannot be done; its text is shown to them as it is."""


class Draft(Struct, frozen=True):
    """A program that was closed before it was saved; ``saved`` is the text its file held."""

    source: str
    path: str = ""
    title: str = ""
    saved: str = ""


def read(path: Path) -> str:
    """Return the text of the program at ``path``, with line ends as Python writes them.

    Raises:
        Refused: there is no such file, it is no text in UTF-8 or the encoding that its first lines
            declare, or far too long for a program.
    """
    try:
        if path.is_dir():
            raise Refused(f"{path} is a folder, not a program")
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > LIMIT:
        raise Refused(f"{path} is longer than {LIMIT >> 20} MB")
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not text") from error
    if "\0" in text:
        raise Refused(f"{path} is not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write(path: Path, text: str) -> None:
    """Write a program to ``path``: wholly, or the file stays as it was.

    Raises:
        Refused: the file cannot be written.
    """
    data = text.encode()
    try:
        data = text.encode(_encoding(data).removesuffix("-sig"))
    except UnicodeEncodeError as error:
        raise Refused(
            f"{path} cannot be written: {error.object[error.start]!r} is not in the"
            f" encoding that it declares, {error.encoding}"
        ) from error
    write_bytes(path, data)


def _encoding(data: bytes) -> str:
    """Return the encoding a program is in, as Python finds out: UTF-8 or what it declares."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        return "utf-8-sig"
    return "utf-8-sig" if name in ("utf-8", "utf-8-sig") else name


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``: wholly, or the file stays as it was.

    Raises:
        Refused: the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Refused(f"{path} cannot be written: {error.strerror or error}") from error


class Drafts:
    """Unsaved texts in a folder, one per document. ``where`` None keeps nothing."""

    def __init__(self, where: Path | None) -> None:
        self._where = where

    def keep(self, draft: Draft) -> None:
        """Keep a draft of the document at ``draft.path``; a full disk is no reason to complain."""
        if self._where is None:
            return
        try:
            self._where.mkdir(parents=True, exist_ok=True)
            write_bytes(self._file(draft.path), msgspec.json.encode(draft))
        except (OSError, Refused):
            return

    def find(self, path: str) -> Draft | None:
        """Return the draft of the document at ``path`` (empty: the one without a file)."""
        if self._where is None:
            return None
        try:
            return msgspec.json.decode(self._file(path).read_bytes(), type=Draft)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def drop(self, path: str) -> None:
        """Forget the draft of the document at ``path``."""
        if self._where is not None:
            self._file(path).unlink(missing_ok=True)

    def _file(self, path: str) -> Path:
        assert self._where is not None
        name = hashlib.sha256(path.encode()).hexdigest()[:16] if path else "untitled"
        return self._where / f"{name}.json"
