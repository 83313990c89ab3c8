"""Pictures of the window compared with approved ones, tolerant of fonts and of smoothing.

Both are reduced to cells of 12 x 12 pixels of the screen: letters of another font give nearly the
same grey, a panel that is missing, moved or of another colour does not. What was seen is written to
``build/e2e``; with ``APPROVE=1`` in the environment it becomes the approved picture.
"""

import os
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

APPROVED = Path(__file__).parent / "approved"
SEEN = Path(__file__).resolve().parents[2] / "build" / "e2e"
CELL = 12
"""Side of a cell in pixels; an approved picture has a pixel for each quarter of it."""
KEPT = 4
"""Reduction of an approved picture."""
MOST_LEVELS = 26.0
"""Difference of a cell's colour that no font explains, of 255."""
MOST_CELLS = 0.015
"""Part of the cells that may differ by more, for what an animation or a clock moves."""


def reduced(image: QImage, scale: int) -> QImage:
    """Return the picture with ``scale`` times fewer pixels a side."""
    return image.scaled(
        max(1, image.width() // scale),
        max(1, image.height() // scale),
        Qt.AspectRatioMode.IgnoreAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    ).convertToFormat(QImage.Format.Format_RGB888)


def cells(image: QImage) -> np.ndarray:
    """Return the mean colours of a reduced picture's cells (rows, columns, 3)."""
    small = reduced(image, CELL // KEPT)
    rows = np.frombuffer(small.constBits(), np.uint8).reshape(small.height(), -1)
    return rows[:, : small.width() * 3].reshape(small.height(), small.width(), 3).astype(float)


def differing(first: QImage, second: QImage) -> float:
    """Return the part of the cells in which two reduced pictures differ; 1 if their sizes do."""
    if first.size() != second.size():
        return 1.0
    distance = np.abs(cells(first) - cells(second)).max(axis=2)
    return float((distance > MOST_LEVELS).mean())


def check_picture(name: str, screen: Path) -> None:
    """Compare a picture of the screen with the approved one of that name.

    Raises:
        AssertionError: there is none, or more than ``MOST_CELLS`` of the cells differ.
    """
    image = QImage(str(screen))
    SEEN.mkdir(parents=True, exist_ok=True)
    image.save(str(SEEN / f"{name}.png"))
    small = reduced(image, KEPT)
    path = APPROVED / f"{name}.png"
    if os.environ.get("APPROVE") == "1":
        APPROVED.mkdir(exist_ok=True)
        small.save(str(path))
    assert path.is_file(), f"no approved picture {name}: look at {SEEN / name}.png, then APPROVE=1"
    part = differing(small, QImage(str(path)).convertToFormat(QImage.Format.Format_RGB888))
    assert part <= MOST_CELLS, (
        f"{name}: {part:.1%} of the picture differs from {path.name}: look at {SEEN / name}.png"
    )
