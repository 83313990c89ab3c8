"""Figures that a program plotted, as plain data for the window to draw."""

from typing import Literal

from msgspec import Struct

MAX_FIGURES, MAX_AXES, MAX_TRACES, MAX_POINTS = 12, 12, 40, 2000
"""Limits of the recorded plots; of longer curves every k-th point is recorded."""

MAX_IMAGE_SIDE = 96
"""Largest number of rows and of columns of a recorded image."""
MAX_LABEL_CHARS = 400
"""Characters after which a title, a label or a name is cut."""

TraceKind = Literal["line", "points", "bars", "area", "level", "upright"]


class Trace(Struct, frozen=True):
    """A curve, point cloud, bar chart, filled area, or straight line across the whole plot.

    An *area* lies between ``y`` and ``base``, *bars* are ``width`` wide. A *level* line is
    horizontal at ``y[0]``, an *upright* line vertical at ``x[0]``. ``color`` is a name or
    ``#rrggbb`` as the program gave it, else empty. Missing numbers are NaN.
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


class AxesData(Struct, frozen=True):
    """One pair of axes: its traces or its image, with title, labels and scales."""

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

    ``name`` is the file name given to ``savefig``, ``line`` the line that showed the figure.
    """

    axes: tuple[AxesData, ...]
    columns: int = 1
    title: str = ""
    name: str = ""
    line: int = 0
    left_out: tuple[str, ...] = ()
    """Plotting calls that are not supported, such as ``contourf``."""


def clip_label(text: object) -> str:
    """Return a text of a figure, cut to `MAX_LABEL_CHARS` characters."""
    return str(text)[:MAX_LABEL_CHARS]
