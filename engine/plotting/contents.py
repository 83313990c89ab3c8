"""The numbers in a figure: axes with their limits, lines and scatter plots with their points."""

from typing import Any

import numpy as np

from gradscribe.engine.protocol.figures import (
    MAX_AXES,
    MAX_POINTS,
    FigureAxes,
    FigureLine,
    clip_label,
)

MplObject = Any
"""An object of Matplotlib, which is not imported here."""


def axes_of(figure: MplObject) -> tuple[FigureAxes, ...]:
    """Return the rectangular axes of a figure that has been drawn, with linear or log scales."""
    found, left = [], MAX_POINTS
    for axes in figure.axes[:MAX_AXES]:
        scales = (axes.get_xscale(), axes.get_yscale())
        limits = tuple(map(float, (*axes.get_xlim(), *axes.get_ylim())))
        if axes.name != "rectilinear" or not set(scales) <= {"linear", "log"}:
            continue
        lines, is_cut = [], False
        for line in _lines(axes):
            if len(line.x) // 8 > left:
                is_cut = True
                continue
            left -= len(line.x) // 8
            lines.append(line)
        box = tuple(map(float, axes.get_position().bounds))
        is_log = scales[0] == "log", scales[1] == "log"
        title, labels = axes.get_title(), (axes.get_xlabel(), axes.get_ylabel())
        made = FigureAxes(
            box,  # type: ignore[arg-type]
            limits,  # type: ignore[arg-type]
            is_log,
            tuple(lines),
            is_cut,
            clip_label(title),
            (clip_label(labels[0]), clip_label(labels[1])),
        )
        found.append(made)
    return tuple(found)


def _lines(axes: MplObject) -> list[FigureLine]:
    found = [
        _line(
            line,
            (line.get_xdata(orig=False), line.get_ydata(orig=False)),
            line.get_color(),
            is_scatter=str(line.get_linestyle()).lower() in ("none", "", " "),
        )
        for line in axes.lines
        if line.get_visible() and line.get_transform() == axes.transData
    ]
    for points in axes.collections:
        if type(points).__name__ != "PathCollection" or not points.get_visible():
            continue
        if points.get_offset_transform() == axes.transData:
            places = np.ma.filled(points.get_offsets(), np.nan)
            colors = points.get_facecolor()
            color = colors[0] if len(colors) == 1 else None
            found.append(_line(points, (places[:, 0], places[:, 1]), color, is_scatter=True))
    return [line for line in found if line.x and len(line.x) == len(line.y)]


def _line(
    artist: MplObject, points: tuple[MplObject, MplObject], color: MplObject, *, is_scatter: bool
) -> FigureLine:
    from matplotlib.colors import to_hex

    x, y = (np.ma.filled(np.ma.asarray(part, np.float64), np.nan).tobytes() for part in points)
    name = str(artist.get_label())
    return FigureLine(
        "" if name.startswith("_") else clip_label(name),
        x,
        y,
        to_hex(color) if color is not None else "",
        is_scatter,
    )
