"""Checksummed file format: a header line with type, length and SHA-256, then the payload.

Truncation at any byte and a change of any byte are detected.
"""

import hashlib
from collections.abc import Sequence

from gradscribe.playback.translation import tr

VERSION = 1
_MAGIC = b"gradscribe-session"
_LINE = 200
"""Most bytes of a header line."""


class DamagedFile(Exception):
    """The content of the file is not what was written."""


class NewerVersion(Exception):
    """The file was written by a later version of the program."""


def wrap(payload: bytes) -> bytes:
    """Return the file's bytes for a payload."""
    return b"".join(wrap_pieces([payload]))


def wrap_pieces(pieces: Sequence[bytes]) -> list[bytes]:
    """Return the file's bytes for a payload in pieces, without copying them."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    size, checksum = sum(map(len, pieces)), digest.hexdigest().encode()
    return [b"%s %d %d %s\n" % (_MAGIC, VERSION, size, checksum), *pieces, b"\n"]


def unwrap(data: bytes) -> memoryview:
    """Return the payload, without copying it.

    Raises:
        Damaged: the header is missing, or length or checksum do not match.
        Newer: a later version wrote it.
    """
    line = data[: data.find(b"\n", 0, _LINE) + 1]
    words = line.split(b" ")
    if len(words) < 2 or words[0] != _MAGIC or not words[1].isdigit() or len(words[1]) > 9:
        raise DamagedFile(tr("it does not begin as such a file does"))
    if int(words[1]) > VERSION:
        raise NewerVersion(
            tr(
                "it has format {int}, and this version knows {version}",
                int=int(words[1]),
                version=VERSION,
            )
        )
    payload = memoryview(data)[len(line) : -1]
    # Check the length first: a truncated file need not be hashed.
    begins = b"%s %d %d " % (_MAGIC, VERSION, len(payload))
    if not (line.startswith(begins) and data.endswith(b"\n") and len(line) < len(data)):
        raise DamagedFile(tr("it is not as it was written"))
    if line != b"%s%s\n" % (begins, _digest(payload)):
        raise DamagedFile(tr("it is not as it was written"))
    return payload


def _digest(payload: bytes | memoryview) -> bytes:
    return hashlib.sha256(payload).hexdigest().encode()
