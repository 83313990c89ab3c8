"""Chart of the spread of a tensor's numbers over the steps of a run."""

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.training import RunStarted
from gradscribe.engine.protocol.training.replies import (
    MAX_VIEW_PARAMETERS,
    QUANTILES,
    SPREAD_SAMPLE,
)
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.theme import faded
from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.plots.density import at_columns, density_image, masses
from gradscribe.widgets.plots.plot import AxesFrame
from gradscribe.widgets.plots.spread_table import SpreadTable
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import PALE, PlotCurve

NAMED = {
    "least": 0.0,
    "5 %": 0.05,
    "25 %": 0.25,
    "median": 0.5,
    "75 %": 0.75,
    "95 %": 0.95,
    "largest": 1.0,
}
"""The quantiles that are read and in the table; the density is of all `QUANTILES`."""
LINES: dict[str, tuple[float, tuple[float, ...]]] = {
    "5 %": (1.4, (4, 3)),
    "median": (2.4, ()),
    "95 %": (1.4, (4, 3)),
}
"""Width and dashes of the quantiles that are drawn as lines, over the density of all numbers."""
PIXELS = 2
"""Pixels of the screen per pixel of the density, which is smooth."""
MOST_PIXELS = (320, 200)
"""Most columns and rows of the density."""
KINDS = {"weight": tr("Weights"), "gradient": tr("Gradients"), "activation": tr("Activations")}
LONGEST_NAME = 40
"""Most characters of a tensor's name in the list."""


class SpreadChart(QObject):
    """Quantiles of the chosen tensor, from the least number to the largest, in one chart."""

    chosen = Signal()
    """Another tensor is shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chart = CurveChart(tr("Spread over time"), "", False, parent)
        self.chart.is_keyed = True
        self.kind, self.layer = Choice(), Choice()
        for choice, name in ((self.kind, tr("Which numbers")), (self.layer, tr("Which tensor"))):
            choice.setAccessibleName(name)
            choice.setToolTip(name)
            self.chart.tools.addWidget(choice)
        self.kind.addItems(list(KINDS.values()))
        self._begun: RunStarted | None = None
        self._table: SpreadTable | None = None
        self._seen: tuple[object, ...] = ()
        self._series = [StepSeries() for _ in NAMED]
        self._ahead: SpreadTable | None = None
        """The quantiles from before the run went back."""
        self._image: tuple[object, QImage] | None = None
        """The density as drawn last, and what it depends on."""
        self.chart.backdrop = self._draw_density
        self.kind.currentIndexChanged.connect(self._list)
        self.layer.currentIndexChanged.connect(self._choose)

    def _names(self) -> list[str]:
        if self._begun is None:
            return []
        if self.kind.currentIndex() == 2:
            return [layer.title for layer in self._begun.layers or self._begun.units]
        return [parameter.name for parameter in self._begun.parameters]

    def show_tensor(self, kind: int, name: str) -> bool:
        """Show a tensor's weights (0), gradients (1) or activations (2); False if unknown."""
        self.kind.setCurrentIndex(kind)
        if name not in self._names():
            return False
        self.layer.setCurrentIndex(self._names().index(name))
        return True

    def _list(self) -> None:
        before = self.layer.currentIndex()
        self.layer.blockSignals(True)
        self.layer.clear()
        for name in self._names():
            whole = len(name) <= LONGEST_NAME
            half = LONGEST_NAME // 2
            self.layer.addItem(name if whole else f"{name[:half]}…{name[-half:]}")
        self.layer.setCurrentIndex(max(0, min(before, self.layer.count() - 1)))
        self.layer.blockSignals(False)
        self._choose()

    def _choose(self) -> None:
        self.refresh()
        self.chosen.emit()

    @property
    def row(self) -> int:
        """Row of the chosen tensor in the table; -1 without any."""
        names, at = self._names(), self.layer.currentIndex()
        if self._begun is None or not 0 <= at < len(names):
            return -1
        return self.kind.currentIndex() * len(self._begun.parameters) + at

    def show_run(
        self, begun: RunStarted | None, table: SpreadTable, ahead: SpreadTable | None = None
    ) -> None:
        """Show another run, or its table once it has grown.

        ``ahead``: the table from before the run went back; the steps after it are drawn pale.
        """
        is_other = begun is not self._begun
        self._begun, self._table, self._ahead = begun, table, ahead
        if is_other:
            self._list()
        else:
            self.refresh()

    def refresh(self) -> None:
        """Draw the steps that have come."""
        table, row = self._table, self.row
        if table is None or row < 0:
            self._seen = ()
            self.chart.set_curves([])
            return
        seen = (id(table), table.generation, row)
        if seen != self._seen:
            self._seen = seen
            self._series = [StepSeries() for _ in NAMED]
        steps, numbers = table.rows(row, len(self._series[0]))
        for share, series in zip(NAMED.values(), self._series, strict=True):
            if steps.size:
                series.extend(steps, numbers[:, QUANTILES.index(share)])
        self._draw(table, row)

    def _color(self) -> QColor:
        theme = self.chart.theme
        return (theme.parameter, theme.backward, theme.forward)[self.kind.currentIndex()]

    def _draw(self, table: SpreadTable, row: int) -> None:
        ink = self.chart.theme.ink
        curves = []
        for name, series in zip(NAMED, self._series, strict=True):
            width, dashes = LINES.get(name, (1.0, ()))
            is_line = name in LINES
            color = ink if is_line else self._color()
            curves.append(PlotCurve(name, series, color, dashes, width=width, is_drawn=is_line))
        self.chart.set_curves([*self._later(table, row), *curves])
        count, nan, infinite = table.counts(row)
        words = [tr("{count:,} numbers", count=count) if count else tr("no numbers")]
        if self._begun is not None and self._begun.parameter_count > MAX_VIEW_PARAMETERS:
            words += [tr("of a sample of {spread_sample:,}", spread_sample=SPREAD_SAMPLE)] * (
                count > SPREAD_SAMPLE
            )
        words += [f"{nan:,} NaN"] * (nan > 0) + [tr("{infinite:,} infinite", infinite=infinite)] * (
            infinite > 0
        )
        self.chart.set_caption(" · ".join(words))

    def _later(self, table: SpreadTable, row: int) -> list[PlotCurve]:
        """Return the lines from before the run went back, after the last step, pale."""
        if self._ahead is None:
            return []
        steps, numbers = self._ahead.rows(row)
        start = int(np.searchsorted(steps, table.last))
        curves = []
        for name, (_, dashes) in LINES.items() if steps[start:].size else ():
            series = StepSeries()
            series.extend(steps[start:], numbers[start:, QUANTILES.index(NAMED[name])])
            color, words = (
                faded(self.chart.theme.ink, PALE),
                tr("{name} before going back", name=name),
            )
            curves.append(PlotCurve(words, series, color, dashes, width=1.4, is_listed=False))
        return curves

    def _draw_density(self, painter: QPainter, axes: AxesFrame) -> None:
        """Draw how many numbers there are at each height."""
        table, row, frame = self._table, self.row, axes.area
        if table is None or row < 0 or frame.width() < PIXELS or frame.height() < PIXELS:
            return
        color = self._color()
        sizes = (round(frame.width()), round(frame.height()))
        wide, high = (min(m, s // PIXELS) for m, s in zip(MOST_PIXELS, sizes, strict=True))
        come = id(table), table.generation, len(table), table.last, row
        depends = come, axes.x, axes.y, wide, high, color.rgb()
        if self._image is None or self._image[0] != depends:
            steps, numbers = table.rows(row)
            x = np.array([axes.x.number((at + 0.5) / wide) for at in range(wide)])
            found = masses(at_columns(steps, numbers, x), np.array(QUANTILES), axes.y, high)
            self._image = depends, density_image(found, color)
        painter.save()
        painter.setClipRect(frame, Qt.ClipOperation.IntersectClip)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(frame, self._image[1])
        painter.restore()
