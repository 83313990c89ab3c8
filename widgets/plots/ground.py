"""A model's output over the plane: its grid, its image, and the numbers at a point."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from gradscribe.engine.protocol.training import ViewReply
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.class_legend import CLASS_PREFIX
from gradscribe.widgets.plots.drawing.colors import class_color, class_pixels
from gradscribe.widgets.plots.drawing.points import GROUND_STRENGTH, PlanePoints
from gradscribe.widgets.plots.drawing.shading import AROUND_ZERO, Shading, shading_of
from gradscribe.widgets.plots.drawing.upsampling import (
    upsample,
    upsample_logits,
    upsample_probabilities,
)

FINER = 3
"""Factor by which the grid of outputs is refined for painting."""


@dataclass(frozen=True)
class Ground:
    """The model's output on a grid that fills ``domain`` (left, bottom, right, top).

    ``grid`` is (H, W), its first row at the bottom: numbers with their ``shading``, or (H, W, K)
    probabilities of K classes.
    """

    domain: tuple[float, float, float, float]
    grid: NDArray[np.float32]
    shading: Shading = AROUND_ZERO
    logits: NDArray[np.float32] | None = None
    """(H, W) if ``grid`` is tanh(logits / 2), which jumps from 1 to -1 at a sharp boundary; so the
    logits are interpolated instead."""


def decisions(ground: Ground) -> Ground:
    """Return the model's decisions: the side of the middle, or the most probable class."""
    grid = ground.grid
    if grid.ndim == 2:
        middle, reach = ground.shading.middle, ground.shading.reach
        output = np.where(grid > middle, middle + reach, middle - reach).astype(np.float32)
        return Ground(ground.domain, output, ground.shading)
    chosen = grid.argmax(axis=2)[..., None] == np.arange(grid.shape[2])
    return Ground(ground.domain, chosen.astype(np.float32))


def refined(ground: Ground) -> NDArray[np.float32]:
    """Return the grid of outputs, `FINER` times as fine."""
    if ground.logits is not None:
        return upsample_logits(ground.logits, FINER)
    return (upsample if ground.grid.ndim == 2 else upsample_probabilities)(ground.grid, FINER)


def ground_image(ground: Ground, dark: bool) -> QImage:
    """Return the image of a ground, a pixel for each number, the first row at the top."""
    grid = ground.grid[::-1]
    if grid.ndim == 2:
        above = grid - np.float32(ground.shading.middle)
        return heat.image(above, dark, ground.shading.reach / GROUND_STRENGTH)
    pixels = np.ascontiguousarray(class_pixels(grid, dark))
    rows, columns = grid.shape[:2]
    held = QImage(pixels.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888)
    return held.copy()


def outputs_at(
    ground: Ground, x: float, y: float, points: PlanePoints, theme: Theme
) -> list[tuple[str, QColor]]:
    """Return the model's output at a point, or the probability of each class, with colours."""
    left, bottom, right, top = ground.domain
    rows, columns = ground.grid.shape[:2]
    row = min(rows - 1, max(0, int((y - bottom) / (top - bottom) * rows)))
    column = min(columns - 1, max(0, int((x - left) / (right - left) * columns)))
    output = ground.grid[row, column]
    if ground.grid.ndim == 2 and ground.logits is None:
        above = float(output) - ground.shading.middle
        side = class_name(int(output > 0), points.names)
        # For a loss without probabilities the sign of the output decides.
        words = tr("output {number}", number=formatting.number(float(output), 3))
        words += f": {side}" if points.kinds is not None else ""
        return [(words, heat.color(above, ground.shading.reach, theme.dark))]
    chances = [(1 - output) / 2, (1 + output) / 2] if ground.grid.ndim == 2 else list(output)
    return [
        (
            f"{class_name(k, points.names)}  {formatting.number(float(p), 3)}",
            class_color(k, theme.dark),
        )
        for k, p in enumerate(chances)
    ]


def class_name(kind: int, names: Sequence[str]) -> str:
    """Return the name of a class, or its number if it has none."""
    return names[kind] if kind < len(names) else f"{CLASS_PREFIX}{kind}"


def to_ground(
    view: ViewReply, is_regression: bool, points: PlanePoints, of_logits: bool = True
) -> Ground | None:
    """Return the ground of a ``boundary`` view; a single output is mapped to -1 to 1.

    Outputs that are not logits are compared with targets of -1 and 1, and stay as they are.
    """
    grid = view.arrays["grid"].array()
    x0, y0, x1, y1 = view.arrays["box"].array().astype(float).tolist()
    upward = grid[:, ::-1]
    if len(grid) > 1:
        return Ground((x0, y0, x1, y1), np.moveaxis(upward, 0, -1))
    output = upward[0].astype(np.float32)
    if is_regression:
        known = points.targets if points.targets is not None else np.empty(0)
        return Ground((x0, y0, x1, y1), output, shading_of(known))
    if not of_logits:
        return Ground((x0, y0, x1, y1), output)
    return Ground((x0, y0, x1, y1), np.tanh(output / 2), logits=output)
