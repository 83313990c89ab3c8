"""Catalogues as gettext's .po files, read without a compiler in between.

The standard library reads the compiled form alone. It is made here in memory, so that a clone, a
wheel and a bundle need no step that compiles, and no compiled file is out of date.
"""

import io
import re
import struct
from collections.abc import Iterable, Iterator
from gettext import GNUTranslations
from pathlib import Path

from msgspec import Struct

LIMIT = 16 << 20
"""Most bytes of a catalogue."""
_QUOTED = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_MAGIC = 0x950412DE
_HEADER_WORDS = 7


class CatalogueError(Exception):
    """A catalogue cannot be used; the message says why."""


class TranslatedMessage(Struct):
    """A message and its translation."""

    message: str = ""
    plural: str = ""
    texts: tuple[str, ...] = ()
    """The translation; one for each plural form if there is a ``plural``."""
    is_fuzzy: bool = False
    origins: tuple[str, ...] = ()
    """Source files that say it, relative to the source tree."""
    context: str = ""
    """Use of the message, where the same words have several translations."""


class MessageCatalogue(Struct):
    """The entries of a catalogue; the first is the header, whose message is empty."""

    entries: list[TranslatedMessage]

    def translations(self) -> GNUTranslations:
        """Return them as the standard library's translations.

        Raises:
            CatalogueError: the header is none.
        """
        try:
            return GNUTranslations(io.BytesIO(_compiled(self.entries)))
        except (ValueError, OSError, UnicodeError, LookupError) as error:
            raise CatalogueError(str(error)) from error

    def engine_texts(self) -> Iterator[tuple[str, str]]:
        """Yield (message, translation) of what the engine says."""
        for entry in self.entries:
            if any(origin.startswith("engine/") for origin in entry.origins) and _is_done(entry):
                yield entry.message, entry.texts[0]


def read(path: Path) -> MessageCatalogue:
    """Return the catalogue in a file.

    Raises:
        CatalogueError: it cannot be read, or is no catalogue.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        raise CatalogueError(error.strerror or str(error)) from error
    if len(data) > LIMIT:
        raise CatalogueError(f"{path.name} has more than {LIMIT >> 20} MB")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise CatalogueError(f"{path.name} is not in UTF-8") from error
    return parse(text)


def parse(text: str) -> MessageCatalogue:
    """Return the catalogue that a .po file's text describes.

    Raises:
        CatalogueError: the text is no catalogue; the message names the line.
    """
    entries: list[TranslatedMessage] = []
    parts: dict[str, str] = {}
    key = ""
    comments: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        line = line.strip()
        if line.startswith("#~"):
            continue
        is_new = not line or line.startswith(("#", "msgctxt ", "msgid "))
        if is_new and "msgstr" in (name.partition("[")[0] for name in parts):
            entries.append(_entry(parts, comments))
            parts, comments, key = {}, [], ""
        if line.startswith("#"):
            comments.append(line)
        elif line.startswith("msg"):
            key, _, line = line.partition(" ")
            parts[key] = _unquoted(line, number)
        elif line and key:
            parts[key] += _unquoted(line, number)
        elif line:
            raise CatalogueError(f"line {number} belongs to no message")
    if parts:
        raise CatalogueError("the last message has no translation")
    if not entries or entries[0].message:
        raise CatalogueError("it has no header")
    return MessageCatalogue(entries)


def _entry(parts: dict[str, str], comments: list[str]) -> TranslatedMessage:
    texts = [parts[name] for name in sorted(parts) if name.startswith("msgstr")]
    places = [word for line in comments if line.startswith("#:") for word in line[2:].split()]
    is_fuzzy = any(line.startswith("#,") and "fuzzy" in line for line in comments)
    plural = parts.get("msgid_plural", "")
    return TranslatedMessage(
        parts.get("msgid", ""),
        plural,
        tuple(texts),
        is_fuzzy,
        tuple(places),
        parts.get("msgctxt", ""),
    )


def _unquoted(text: str, number: int) -> str:
    found = _QUOTED.fullmatch(text)
    if found is None:
        raise CatalogueError(f"line {number} has no text in quotes")
    inner = found[1]
    return _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], m[1]), inner) if "\\" in inner else inner


def _is_done(entry: TranslatedMessage) -> bool:
    return bool(entry.message and entry.texts and all(entry.texts)) and not entry.is_fuzzy


def _compiled(entries: Iterable[TranslatedMessage]) -> bytes:
    """Return the bytes of a .mo file (GNU gettext's manual, "The Format of GNU MO Files")."""
    pairs = {}
    for index, entry in enumerate(entries):
        if index and not _is_done(entry):
            continue
        name = f"{entry.message}\0{entry.plural}" if entry.plural else entry.message
        name = f"{entry.context}\4{name}" if entry.context else name
        pairs[name.encode()] = "\0".join(entry.texts).encode()
    names = sorted(pairs)
    start = 4 * _HEADER_WORDS + 16 * len(names)
    tables: list[list[int]] = [[], []]
    blob = bytearray()
    for table, strings in zip(tables, (names, [pairs[name] for name in names]), strict=True):
        for string in strings:
            table += (len(string), start + len(blob))
            blob += string + b"\0"
    first = 4 * _HEADER_WORDS
    words = [_MAGIC, 0, len(names), first, first + 8 * len(names), 0, start, *tables[0], *tables[1]]
    return struct.pack(f"<{len(words)}I", *words) + bytes(blob)
