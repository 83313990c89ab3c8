"""Sizes of cards, in scene units, estimated from the length of their texts."""

_LETTER = 7.6
_MONO = 6.7
_SMALL = 6.4
_BIG = 9.8
"""Average letter width of (in this order) a leaf's name, a shape, a small line, a big number."""
MAX_WIDTH = 280.0
"""Greatest width of a card: longer names are cut, and the tooltip shows them in full."""
MAX_ERROR_LINES = 4
"""Most lines of an error message on a card."""
_LONGEST = 24
"""Letters of a name that count for the width."""


def op(title: str, name: str, note: str, scalar: bool, shown: str = "") -> tuple[float, float]:
    """Return width and height of an op's card; tensors get space for a thumbnail.

    ``shown`` is the number of a scalar, else the shape.
    """
    texts = _SMALL * (len(title) + min(len(name), _LONGEST)) + 24
    if scalar:
        width = 56 + max(texts, _SMALL * len(note), _BIG * len(shown) + 8)
        return min(MAX_WIDTH, max(164.0, width)), 58.0 if not note else 68.0
    width = 88 + max(texts, _SMALL * len(note), _MONO * len(shown))
    return min(MAX_WIDTH, max(192.0, width)), 58.0 if not note else 68.0


def failed(title: str, name: str, message: str) -> tuple[float, float]:
    """Return width and height of the card of a failed call, with space for its error message."""
    heading = _LETTER * len(title) + _SMALL * min(len(name), _LONGEST) + 24
    message_width = _SMALL * len(message)
    width = min(MAX_WIDTH, max(192.0, 76 + heading, 76 + message_width / 2 + 24))
    return width, 42.0 + 15 * max(2, min(MAX_ERROR_LINES, -int(-message_width // (width - 80))))


def pill(title: str, scalar: bool, number: str = "") -> tuple[float, float]:
    """Return width and height of a leaf's card, with its ``number``, or the shape of a tensor.

    A constant without a name gets a narrower card.
    """
    name = _LETTER * min(len(title), _LONGEST)
    if scalar:
        # In steps: the width must not change with every digit while a number is dragged.
        least = 7 if title else 3
        written = 8.4 * (least + 4 * max(0, -(-(len(number) - least) // 4)))
        return min(MAX_WIDTH, max(128.0 if title else 76.0, 52 + name + written)), 40.0
    return min(MAX_WIDTH, max(144.0, 96 + name, 86 + _MONO * len(number))), 48.0


def module(title: str, note: str, shape: str = "", name: str = "") -> tuple[float, float]:
    """Return width and height of a folded module's card; with a shape it shows a thumbnail.

    The ``name`` of its result stands next to the title.
    """
    named = _SMALL * min(len(name), _LONGEST) + 14 if name else 0.0
    heading = _LETTER * min(len(title), 30) + named
    texts = max(heading, _SMALL * len(note), _MONO * len(shape))
    thumbnail = 58.0 if shape and shape != "scalar" else 0.0
    return max(180.0, 62 + texts + thumbnail), 72.0 if shape else 56.0
