"""Figures that a program drew with Matplotlib, as they travel to the window."""

from typing import Literal

from msgspec import Struct

MAX_FIGURES = 24
"""Most figures of a run."""
MAX_SVG_BYTES = 300_000
"""Largest SVG that travels; what would be larger travels as PNG, which draws at once."""
MAX_PNG_BYTES = 6 << 20
MAX_FILE_BYTES = 16 << 20
"""Largest file of the program's own that travels with its figure."""
MAX_TOTAL_BYTES = 96 << 20
"""Most bytes of all figures of a run."""
MAX_SIDE_POINTS = 20_000.0
"""Longest side of a figure, in points; only the ratio of larger ones is kept."""
MAX_LABEL_CHARS = 400
"""Characters after which a title, a description or a name is cut."""

_SVG_STARTS = (b"<?xml", b"<svg")
_PNG_START = b"\x89PNG\r\n\x1a\n"


class Figure(Struct, frozen=True):
    """One figure: a picture to show, and the file that the program saved it as.

    ``width`` and ``height`` are in points. ``name`` is the file name given to ``savefig``,
    ``file`` what it holds, in the format ``file_type`` (``pdf``); both are empty for a figure that
    was only shown. ``is_written`` is True where ``savefig`` wrote its file. ``line`` is the line
    that showed it.
    """

    picture: bytes
    picture_type: Literal["svg", "png"]
    width: float
    height: float
    title: str = ""
    description: str = ""
    name: str = ""
    file: bytes = b""
    file_type: str = ""
    note: str = ""
    line: int = 0
    is_written: bool = False

    @property
    def size(self) -> int:
        """Bytes of the picture and the file."""
        return len(self.picture) + len(self.file)


def clip_label(text: object) -> str:
    """Return a text of a figure in one line, cut to `MAX_LABEL_CHARS` characters."""
    return " ".join(str(text).split())[:MAX_LABEL_CHARS]


def are_bounded(figures: tuple[Figure, ...]) -> bool:
    """Return whether figures stay within the limits and their pictures are what they claim."""
    return (
        len(figures) <= MAX_FIGURES
        and sum(figure.size for figure in figures) <= MAX_TOTAL_BYTES
        and all(map(_is_bounded, figures))
    )


def _is_bounded(figure: Figure) -> bool:
    if figure.picture_type == "svg":
        fits = len(figure.picture) <= MAX_SVG_BYTES and figure.picture.startswith(_SVG_STARTS)
    else:
        fits = len(figure.picture) <= MAX_PNG_BYTES and figure.picture.startswith(_PNG_START)
    return (
        fits
        and len(figure.file) <= MAX_FILE_BYTES
        and 0 < figure.width <= MAX_SIDE_POINTS
        and 0 < figure.height <= MAX_SIDE_POINTS
    )
