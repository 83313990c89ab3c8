"""Bytes in a file with one line in front that says what they are, how many, and their checksum.

A file that was cut off at any byte, or in which any byte was changed, is told from a whole one.
"""

import hashlib
from collections.abc import Sequence

VERSION = 1
_MAGIC = b"gradscribe-session"
_LINE = 200
"""No first line has more bytes."""


class Damaged(Exception):
    """The file does not hold what was once written into it."""


class Newer(Exception):
    """The file was written by a version that knows more than this one."""


def wrap(payload: bytes) -> bytes:
    """Return what to write into the file."""
    return b"".join(wrapped([payload]))


def wrapped(pieces: Sequence[bytes]) -> list[bytes]:
    """Return what to write into the file, of a payload in pieces: they are not copied."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    size, told = sum(map(len, pieces)), digest.hexdigest().encode()
    return [b"%s %d %d %s\n" % (_MAGIC, VERSION, size, told), *pieces, b"\n"]


def unwrap(data: bytes) -> memoryview:
    """Return what was wrapped, not copied.

    Raises:
        Damaged: it was not wrapped, or is not as it was written.
        Newer: a later version wrote it.
    """
    line = data[: data.find(b"\n", 0, _LINE) + 1]
    words = line.split(b" ")
    if len(words) < 2 or words[0] != _MAGIC or not words[1].isdigit() or len(words[1]) > 9:
        raise Damaged("it does not begin as such a file does")
    if int(words[1]) > VERSION:
        raise Newer(f"it has format {int(words[1])}, and this version knows {VERSION}")
    payload = memoryview(data)[len(line) : -1]
    # The length first: what was cut off need not be gone through.
    begins = b"%s %d %d " % (_MAGIC, VERSION, len(payload))
    if not (line.startswith(begins) and data.endswith(b"\n") and len(line) < len(data)):
        raise Damaged("it is not as it was written")
    if line != b"%s%s\n" % (begins, _digest(payload)):
        raise Damaged("it is not as it was written")
    return payload


def _digest(payload: bytes | memoryview) -> bytes:
    return hashlib.sha256(payload).hexdigest().encode()
