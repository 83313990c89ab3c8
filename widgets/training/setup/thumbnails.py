"""Thumbnails of the data sets: a click chooses a data set."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from gradscribe.engine.protocol.training import CatalogueEntry
from gradscribe.playback.translation import translated
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.points import PlanePoints, marks_of, to_pixels
from gradscribe.widgets.plots.drawing.shading import AROUND_ZERO, shading_of

SIDE, RIM, GAP, EDGE = 30.0, 6, 4, 3.0
"""Pixels of a thumbnail, of its button's border, between buttons, and of its inner margin."""
DOT = 1.2
AT_ONCE = 3
"""Buttons that are built in a turn of the event loop."""
MOST_POINTS, MOST_CLASSES, FARTHEST = 4096, 10, 1e9

Sample = NDArray[np.float32]


class Thumbnails(QWidget):
    """A button for each drawable data set with as many inputs as the current data set."""

    chosen = Signal(str)
    """Carries the name of the chosen data set."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: dict[str, QPushButton] = {}
        self._theme = Theme.load("light")
        self._entries: dict[str, CatalogueEntry] = {}
        self._samples: Mapping[str, Sample] = {}
        self._name, self._columns = "", 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.hide()

    def offer(
        self, entries: Sequence[CatalogueEntry], samples: Mapping[str, Sample]
    ) -> Iterator[None]:
        """Offer the data sets that have a sample, a few buttons per step.

        A sample is (m, 3): x, y, and the class or target, which determines the colour.
        """
        for button in self.buttons.values():
            self._grid.removeWidget(button)
            button.deleteLater()
        self.buttons = {}
        self._samples = {name: rows for name, rows in samples.items() if is_drawable(rows)}
        self._entries = {entry.name: entry for entry in entries if entry.name in self._samples}
        for made, (name, entry) in enumerate(self._entries.items()):
            self.buttons[name] = self._button(entry)
            if made % AT_ONCE == AT_ONCE - 1:
                yield
        self.choose(self._name)

    def _button(self, entry: CatalogueEntry) -> QPushButton:
        button = QPushButton(self)
        button.setProperty("crumb", True)
        button.setCheckable(True)
        set_sheet(button, "padding: 1px;")
        button.setAccessibleName(translated(entry.title))
        button.setAccessibleDescription(translated(entry.help))
        button.setToolTip(
            f"{translated(entry.title)}: {translated(entry.help)}"
            if entry.help
            else translated(entry.title)
        )
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self._take(entry.name))
        self._dress(button, entry)
        return button

    def _dress(self, button: QPushButton, entry: CatalogueEntry) -> None:
        side = round(SIDE * self._theme.scale)
        button.setIconSize(QSize(side, side))
        button.setFixedSize(side + RIM, side + RIM)
        button.setIcon(
            thumbnail_icon(self._samples[entry.name], entry, self._theme, self.devicePixelRatioF())
        )

    def _take(self, name: str) -> None:
        self.buttons[name].setChecked(name == self._name)
        if name != self._name:
            self.chosen.emit(name)

    def choose(self, name: str) -> None:
        """Check a data set, and show those with as many inputs; all if it is not drawable."""
        self._name = name
        inputs = self._entries[name].inputs if name in self._entries else None
        for other, button in self.buttons.items():
            button.setChecked(other == name)
        self._place(
            [
                other
                for other, entry in self._entries.items()
                if other in self.buttons and inputs in (None, entry.inputs)
            ]
        )
        self.setVisible(bool(self.buttons))

    def _place(self, names: Sequence[str]) -> None:
        self._columns = self._fitting()
        for button in self.buttons.values():
            self._grid.removeWidget(button)
        for place, name in enumerate(names):
            self._grid.addWidget(self.buttons[name], place // self._columns, place % self._columns)
        for name, button in self.buttons.items():
            button.setVisible(name in names)

    def _fitting(self) -> int:
        """Return how many columns fit."""
        return max(1, (self.width() + GAP) // (self._side() + GAP))

    def _side(self) -> int:
        return round(SIDE * self._theme.scale) + RIM

    def minimumSizeHint(self) -> QSize:
        """Return the size of a single column."""
        return QSize(self._side(), self._grid.minimumSize().height())

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Put the buttons into as many columns as fit; called by Qt."""
        super().resizeEvent(happened)
        if self._fitting() != self._columns:
            self.choose(self._name)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme``, and its scale."""
        self._theme = theme
        for name, button in self.buttons.items():
            self._dress(button, self._entries[name])
        self.choose(self._name)


def is_drawable(sample: Sample) -> bool:
    """Return whether an array is a drawable sample: finite, (m, 3), not too many rows."""
    known = sample.ndim == 2 and sample.shape[1] == 3 and 0 < len(sample) <= MOST_POINTS
    return known and bool(np.isfinite(sample).all()) and float(np.abs(sample).max()) < FARTHEST


def thumbnail_icon(
    sample: Sample, entry: CatalogueEntry, theme: Theme, ratio: float = 1.0
) -> QIcon:
    """Return an icon of a data set: its points in the colours of the plane."""
    side = SIDE * theme.scale
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(theme.panel)
    x, y, value = sample.astype(np.float64).T
    is_curve, is_regression = entry.inputs == "1", entry.task == "regression"
    targets = value if is_regression and not is_curve else None
    kinds = np.ones(len(x)) if is_regression else value.clip(0, MOST_CLASSES)
    points = PlanePoints(x, y, kinds=kinds.astype(np.intp), targets=targets)
    shading = AROUND_ZERO if targets is None else shading_of(targets)
    room = QRectF(EDGE, EDGE, side - 2 * EDGE, side - 2 * EDGE)
    across, up = to_pixels(points, _around(x, y), room)
    marks, which = marks_of(points, shading, theme, DOT)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for left, top, look in zip(across.tolist(), up.tolist(), which.tolist(), strict=True):
            painter.setBrush(marks[look].fill)
            painter.drawEllipse(QRectF(left - DOT, top - DOT, 2 * DOT, 2 * DOT))
    return QIcon(pixmap)


def _around(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float, float]:
    (x0, x1), (y0, y1) = ((float(axis.min()), float(axis.max())) for axis in (x, y))
    return x0, y0, x1 if x1 > x0 else x0 + 1, y1 if y1 > y0 else y0 + 1
