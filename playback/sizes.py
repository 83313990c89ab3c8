"""How much room cards need, in scene units, from the length of what is written on them."""

_LETTER = 7.6
_MONO = 6.7
_SMALL = 6.4
_BIG = 9.8
"""Width of a letter of a leaf's name, of a shape, of a small line, of a big number."""
WIDEST = 280.0
"""No card grows wider for a long name: the name is cut, and the tool tip tells it whole."""
MOST_LINES = 4
"""An error says no more than so many lines on a card."""
_LONGEST = 24
"""A name of more letters makes no more room."""


def op(title: str, name: str, note: str, scalar: bool, number: str = "") -> tuple[float, float]:
    """Return width and height of an op's card; tensors get room for a thumbnail."""
    words = _SMALL * (len(title) + min(len(name), _LONGEST)) + 24
    if scalar:
        width = 56 + max(words, _SMALL * len(note), _BIG * len(number) + 8)
        return min(WIDEST, max(164.0, width)), 58.0 if not note else 68.0
    width = 88 + max(words, _SMALL * len(note))
    return min(WIDEST, max(192.0, width)), 58.0 if not note else 68.0


def failed(title: str, name: str, message: str) -> tuple[float, float]:
    """Return width and height of the card of a call that raised, with room for what it said."""
    words = _LETTER * len(title) + _SMALL * min(len(name), _LONGEST) + 24
    told = _SMALL * len(message)
    width = min(WIDEST, max(192.0, 76 + words, 76 + told / 2 + 24))
    return width, 42.0 + 15 * max(2, min(MOST_LINES, -int(-told // (width - 80))))


def pill(title: str, scalar: bool, number: str = "") -> tuple[float, float]:
    """Return width and height of a leaf's pill, with its ``number``, or the shape of a tensor.

    A constant without a name is a short one.
    """
    name = _LETTER * min(len(title), _LONGEST)
    if scalar:
        # In steps: a card must not change its width with every digit while one drags a number.
        least = 7 if title else 3
        written = 8.4 * (least + 4 * max(0, -(-(len(number) - least) // 4)))
        return min(WIDEST, max(128.0 if title else 76.0, 52 + name + written)), 40.0
    return min(WIDEST, max(144.0, 96 + name, 86 + _MONO * len(number))), 48.0


def module(title: str, note: str, shape: str = "") -> tuple[float, float]:
    """Return width and height of a folded module's card; with a shape, with room for a picture."""
    words = max(_LETTER * min(len(title), 30), _SMALL * len(note), _MONO * len(shape))
    room = 58.0 if shape and shape != "scalar" else 0.0
    return max(180.0, 62 + words + room), 72.0 if shape else 56.0
