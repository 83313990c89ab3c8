"""Chart of the spread of a tensor's numbers over the steps of a run."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.training import RunStarted
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.plots.spread_table import SpreadTable
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import PlotCurve

NAMES = ("least", "5 %", "25 %", "median", "75 %", "95 %", "largest")
WIDTHS = (1.0, 1.2, 1.4, 2.4, 1.4, 1.2, 1.0)
DASHES: tuple[tuple[float, ...], ...] = ((1, 3), (4, 3), (), (), (), (4, 3), (1, 3))
KINDS = {"weight": "Weights", "gradient": "Gradients", "activation": "Activations"}
LONGEST_NAME = 40
"""Most characters of a tensor's name in the list."""


class SpreadChart(QObject):
    """Quantiles of the chosen tensor, from the least number to the largest, in one chart."""

    chosen = Signal()
    """Another tensor is shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chart = CurveChart("Spread over time", "", False, parent)
        self.chart.is_keyed = True
        self.kind, self.layer = Choice(), Choice()
        for choice, name in ((self.kind, "Which numbers"), (self.layer, "Which tensor")):
            choice.setAccessibleName(name)
            choice.setToolTip(name)
            self.chart.tools.addWidget(choice)
        self.kind.addItems(list(KINDS.values()))
        self._begun: RunStarted | None = None
        self._table: SpreadTable | None = None
        self._seen: tuple[object, ...] = ()
        self._series = [StepSeries() for _ in NAMES]
        self.kind.currentIndexChanged.connect(self._list)
        self.layer.currentIndexChanged.connect(self._choose)

    def _names(self) -> list[str]:
        if self._begun is None:
            return []
        if self.kind.currentIndex() == 2:
            return [unit.name for unit in self._begun.units]
        return [parameter.name for parameter in self._begun.parameters]

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

    def show_run(self, begun: RunStarted | None, table: SpreadTable) -> None:
        """Show another run, or its table once it has grown."""
        is_other = begun is not self._begun
        self._begun, self._table = begun, table
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
            self._series = [StepSeries() for _ in NAMES]
        steps, numbers = table.rows(row, len(self._series[0]))
        for place, series in enumerate(self._series):
            if steps.size:
                series.extend(steps, numbers[:, place])
        self._draw(table, row)

    def _bands(self) -> list[StepSeries | None]:
        """Return for each quantile below the median its counterpart above."""
        return [*self._series[:3:-1], None, None, None, None]

    def _draw(self, table: SpreadTable, row: int) -> None:
        theme = self.chart.theme
        color = (theme.parameter, theme.backward, theme.forward)[self.kind.currentIndex()]
        self.chart.set_curves(
            [
                PlotCurve(name, series, color, dashes, width=width, fill_to=other)
                for name, series, dashes, width, other in zip(
                    NAMES, self._series, DASHES, WIDTHS, self._bands(), strict=True
                )
            ]
        )
        count, nan, infinite = table.counts(row)
        words = [f"{count:,} numbers" if count else "no numbers"]
        words += [f"{nan:,} NaN"] * (nan > 0) + [f"{infinite:,} infinite"] * (infinite > 0)
        self.chart.set_caption(" · ".join(words))
