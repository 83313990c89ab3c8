"""A chart in a window of its own, which shows what its source shows."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLayout, QVBoxLayout, QWidget

from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.charts.menu import ChartMenu

SIZE = (960, 600)


class ChartWindow(QWidget):
    """A window with a large copy of a chart, whose ranges are its own."""

    def __init__(self, source: CurveChart) -> None:
        super().__init__(source.window(), Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(source.accessibleName())
        self._source = source
        self.chart = CurveChart(source.accessibleName(), "", source.log, self)
        self.menu = ChartMenu(self.chart, is_window=True)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        # A minimum size would be sent to the window system; not every one accepts it.
        rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        rows.addWidget(self.chart)
        self.setAutoFillBackground(True)
        self.resize(*SIZE)
        for mine, theirs in (
            (self.chart.step_picked, source.step_picked),
            (self.chart.retrained, source.retrained),
            (self.chart.said, source.said),
        ):
            mine.connect(theirs)
        source.refreshed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        source, chart = self._source, self.chart
        if chart.theme is not source.theme:
            palette = self.palette()
            palette.setColor(self.backgroundRole(), source.theme.panel)
            self.setPalette(palette)
            chart.set_theme(source.theme)
        chart.placeholder, chart.is_keyed = source.placeholder, source.is_keyed
        chart.step_word, chart.is_trained = source.step_word, source.is_trained
        chart.smoothing, chart.position = source.smoothing, source.position
        chart.set_caption(source.caption.said())
        chart.set_curves(source.curves)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Close with Escape; called by Qt."""
        if happened.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(happened)
