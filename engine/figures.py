"""What a program plotted: plain data, drawn by the window in its own way."""

from typing import Literal

from msgspec import Struct

MOST_FIGURES, MOST_AXES, MOST_TRACES, MOST_POINTS = 12, 12, 40, 2000
"""So much of a program's plots is kept; of longer curves every k-th point."""

MOST_SIDE = 96
"""An image keeps at most so many rows and columns."""
MOST_WORDS = 400
"""Characters that a title, a label or a name keeps."""

TraceKind = Literal["line", "points", "bars", "area", "level", "upright"]


class Trace(Struct, frozen=True):
    """One curve, cloud, row of bars, filled stretch, or straight line across the whole plot.

    ``y`` has the heights; an *area* lies between ``y`` and ``base``, *bars* are ``width`` wide. A
    *level* line stands at ``y[0]``, an *upright* one at ``x[0]``. ``color`` is a name or
    ``#rrggbb`` as the program gave it, else empty. Numbers that are none are NaN.
    """

    kind: TraceKind
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    label: str = ""
    color: str = ""
    style: Literal["solid", "dashed", "dotted"] = "solid"
    marked: bool = False
    base: tuple[float, ...] = ()
    width: float = 0.0


class Plotted(Struct, frozen=True):
    """One pair of axes: its traces or its image, and what stands around them."""

    title: str = ""
    x_label: str = ""
    y_label: str = ""
    traces: tuple[Trace, ...] = ()
    image: tuple[tuple[float, ...], ...] = ()
    legend: bool = False
    x_log: bool = False
    y_log: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


class Figure(Struct, frozen=True):
    """One figure: its axes row by row, ``columns`` side by side.

    ``name`` is what the program wanted it saved as, ``line`` the line that showed it.
    """

    axes: tuple[Plotted, ...]
    columns: int = 1
    title: str = ""
    name: str = ""
    line: int = 0
    left_out: tuple[str, ...] = ()
    """What the program asked for and is not drawn here: ``contourf``."""


def words(thing: object) -> str:
    """Return what a program wrote into a figure, not without end."""
    return str(thing)[:MOST_WORDS]
