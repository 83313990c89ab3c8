"""Figures that a program drew with Matplotlib, as they travel to the window."""

import math
import re
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

MAX_AXES = 24
"""Most axes of a figure whose numbers travel."""
MAX_POINTS = 20_000
"""Most points of a figure whose numbers travel."""

_SVG_STARTS = (b"<?xml", b"<svg")
_PNG_START = b"\x89PNG\r\n\x1a\n"


class FigureLine(Struct, frozen=True):
    """The points of a line or a scatter plot: ``x`` and ``y`` hold float64 in native order.

    ``color`` is ``#rrggbb``, empty for a scatter plot of several; ``is_scatter``: without a line
    between the points.
    """

    name: str
    x: bytes
    y: bytes
    color: str = ""
    is_scatter: bool = False


class FigureAxes(Struct, frozen=True):
    """Rectangular axes of a figure, and what is plotted in them.

    ``box`` has left, bottom, width and height as shares of the figure; ``limits`` the numbers at
    the left, right, lower and upper edge. ``is_cut``: lines are missing, the points are too many.
    """

    box: tuple[float, float, float, float]
    limits: tuple[float, float, float, float]
    is_log: tuple[bool, bool] = (False, False)
    lines: tuple[FigureLine, ...] = ()
    is_cut: bool = False
    title: str = ""
    labels: tuple[str, str] = ("", "")
    """Along the bottom and the left edge."""


class Figure(Struct, frozen=True):
    """One figure: a picture to show, and the file that the program saved it as.

    ``width`` and ``height`` are in points. ``name`` is the file name given to ``savefig``,
    ``file`` what it holds, in the format ``file_type`` (``pdf``); both are empty for a figure that
    was only shown. ``is_written`` is True where ``savefig`` wrote its file. ``line`` is the line
    that showed it, ``after`` the number of lines that the program had begun to print before; -1 if
    unknown.
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
    axes: tuple[FigureAxes, ...] = ()
    after: int = -1

    @property
    def size(self) -> int:
        """Bytes of the picture, the file and the numbers."""
        points = sum(len(line.x) + len(line.y) for axes in self.axes for line in axes.lines)
        return len(self.picture) + len(self.file) + points


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
        and len(figure.axes) <= MAX_AXES
        and sum(len(line.x) for axes in figure.axes for line in axes.lines) <= 8 * MAX_POINTS
        and all(map(_are_plain, figure.axes))
    )


def _is_plain(line: FigureLine) -> bool:
    """Return whether a line has as many x as y, and a colour or none."""
    return (
        len(line.x) == len(line.y)
        and len(line.x) % 8 == 0
        and len(line.name) <= MAX_LABEL_CHARS
        and (not line.color or re.fullmatch("#[0-9a-f]{6}", line.color) is not None)
    )


def _are_plain(axes: FigureAxes) -> bool:
    """Return whether axes have finite places and limits, and lines as many x as y."""
    left, right, bottom, top = axes.limits
    return (
        all(map(math.isfinite, (*axes.box, *axes.limits)))
        and min(axes.box[2:]) > 0
        and left != right
        and bottom != top
        and (not axes.is_log[0] or min(left, right) > 0)
        and (not axes.is_log[1] or min(bottom, top) > 0)
        and len(axes.lines) <= MAX_POINTS
        and all(map(_is_plain, axes.lines))
        and all(len(text) <= MAX_LABEL_CHARS for text in (axes.title, *axes.labels))
    )
