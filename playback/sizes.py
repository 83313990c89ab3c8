"""How much room cards need, in scene units, from the length of what is written on them."""

_LETTER = 7.6
_SMALL = 6.4


def op(title: str, name: str, note: str, scalar: bool) -> tuple[float, float]:
    """Return width and height of an op's card; tensors get room for a thumbnail."""
    words = _SMALL * (len(title) + len(name)) + 24
    if scalar:
        return max(164.0, 56 + max(words, _SMALL * len(note))), 58.0 if not note else 68.0
    return max(184.0, 88 + max(words, _SMALL * len(note))), 58.0 if not note else 68.0


def pill(title: str, scalar: bool) -> tuple[float, float]:
    """Return width and height of a leaf's pill."""
    if scalar:
        return max(128.0, 104 + _LETTER * len(title)), 40.0
    return max(144.0, 96 + _LETTER * len(title)), 48.0


def module(title: str, note: str) -> tuple[float, float]:
    """Return width and height of a folded module's card."""
    return max(180.0, 60 + max(_LETTER * len(title), _SMALL * len(note))), 56.0
