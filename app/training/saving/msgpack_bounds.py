"""Bounds check on MessagePack before it is decoded: counts its values in pure Python.

A decoder in C holds the GIL, and so blocks the GUI from any thread: for seconds with a hundred
megabytes of small values. This check lets other threads run, and refuses such data.
"""

LONGEST_TEXT = 1 << 20
"""Most bytes of a text; binary data may have more."""

_SIZES = [0] * 256
"""The bytes that a value takes, by its first byte; 0 if the next bytes say."""
_MORE = [-1] * 256
"""The change of the number of values still to come; -1 for a value that contains no others."""
for _byte in range(256):
    if _byte < 0x80 or _byte >= 0xE0 or _byte in (0xC0, 0xC2, 0xC3):
        _SIZES[_byte] = 1
    elif _byte < 0x90:
        _SIZES[_byte], _MORE[_byte] = 1, 2 * (_byte & 15) - 1
    elif _byte < 0xA0:
        _SIZES[_byte], _MORE[_byte] = 1, (_byte & 15) - 1
    elif _byte < 0xC0:
        _SIZES[_byte] = 1 + (_byte & 31)
for _byte, _size in enumerate((5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18), 0xCA):
    _SIZES[_byte] = _size
_WITH_COUNT = (*range(0xC4, 0xCA), *range(0xD9, 0xE0))
_COUNTS = dict(zip(_WITH_COUNT, (1, 2, 4, 1, 2, 4, 1, 2, 4, 2, 4, 2, 4), strict=True))
"""The bytes of a value's length or element count."""


class TooManyValues(ValueError):
    """The data has more values than allowed, or is not MessagePack."""


def skip(data: bytes | memoryview, at: int, most: int) -> tuple[int, int]:
    """Return the end of the value that begins at ``at``, and how many values it consists of.

    Raises:
        TooMany: it has more than ``most``, a text in it is too long, or it does not end.
    """
    sizes, more, size = _SIZES, _MORE, len(data)
    left, parts = 1, 0
    while left > 0:
        if at >= size or parts >= most:
            raise TooManyValues(f"more than {most:,} parts")
        byte = data[at]
        parts += 1
        if sizes[byte]:
            at += sizes[byte]
            left += more[byte]
        else:
            step, held = _long(data, at, byte)
            at += step
            left += held - 1
    if at > size:
        raise TooManyValues("it does not end")
    return at, parts


def _long(data: bytes | memoryview, at: int, byte: int) -> tuple[int, int]:
    """Return the bytes to skip and the values that follow, for a value with a length field."""
    width = _COUNTS.get(byte)
    if width is None:
        raise TooManyValues("it is no MessagePack")
    count = int.from_bytes(data[at + 1 : at + 1 + width], "big")
    if 0xDC <= byte <= 0xDF:
        return 1 + width, count * (2 if byte >= 0xDE else 1)
    if byte >= 0xD9 and count > LONGEST_TEXT:
        raise TooManyValues(f"a text of {count:,} bytes")
    return 1 + width + count + (0xC7 <= byte <= 0xC9), 0


def skip_field(data: bytes | memoryview, name: str, most: int, most_in_it: int) -> None:
    """Check a map: at most ``most`` values in all, and ``most_in_it`` under the key ``name``.

    Raises:
        TooMany: as `skip`.
    """
    if not data:
        raise TooManyValues("it is empty")
    byte, at = data[0], 1
    if byte in (0xDE, 0xDF):
        width = _COUNTS[byte]
        count, at = int.from_bytes(data[1 : 1 + width], "big"), 1 + width
    elif 0x80 <= byte < 0x90:
        count = byte & 15
    else:
        raise TooManyValues("it is no map")
    for _ in range(count):
        begin = at
        at, named = skip(data, at, most)
        # The length of a key can be encoded in several ways.
        is_it = at - begin < len(name) + 6 and bytes(data[begin:at]).endswith(name.encode())
        at, parts = skip(data, at, min(most - named, most_in_it if is_it else most))
        most -= named + parts
