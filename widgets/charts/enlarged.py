"""A chart in a window of its own, which shows what its source shows."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLayout, QWidget

from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.menus import open_by_key
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.plots.plot import Plot

SIZE = (960, 600)


class ChartWindow(QWidget):
    """A window with a large copy of a chart, whose ranges are its own."""

    def __init__(
        self, source: Plot, chart: Plot, copy: Callable[[], None], changed: SignalInstance
    ) -> None:
        """``copy`` shows in ``chart`` what ``source`` shows, now and when ``changed`` is sent."""
        super().__init__(source.window(), Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(source.accessibleName())
        self.chart = chart
        self._source, self._copy = source, copy
        rows = vbox(self)
        # A minimum size would be sent to the window system; not every one accepts it.
        rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        rows.addWidget(chart)
        self.setAutoFillBackground(True)
        resize_within_screen(self, *SIZE)
        self._set_theme(source.theme)
        changed.connect(self._follow)
        self._follow()
        source.window().installEventFilter(self)

    def _follow(self) -> None:
        if self.chart.theme is not self._source.theme:
            self._set_theme(self._source.theme)
        self._copy()

    def _set_theme(self, theme: Theme) -> None:
        palette = self.palette()
        palette.setColor(self.backgroundRole(), theme.panel)
        self.setPalette(palette)
        self.chart.set_theme(theme)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Close with the window of the source, which is not hidden by being minimized."""
        if happened.type() == QEvent.Type.Hide and not happened.spontaneous():
            self.close()
        return super().eventFilter(watched, happened)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Close with Escape; called by Qt."""
        if happened.key() == Qt.Key.Key_Escape:
            self.close()
        elif not open_by_key(happened):
            super().keyPressEvent(happened)


def enlarge_curves(source: CurveChart) -> ChartWindow:
    """Return a window that shows the curves of ``source`` as they grow."""
    chart = CurveChart(source.accessibleName(), "", source.log)
    chart.menu.enlarges = False
    for mine, theirs in (
        (chart.step_picked, source.step_picked),
        (chart.retrained, source.retrained),
        (chart.menu.said, source.menu.said),
    ):
        mine.connect(theirs)

    def copy() -> None:
        chart.placeholder, chart.is_keyed = source.placeholder, source.is_keyed
        chart.step_word, chart.is_trained = source.step_word, source.is_trained
        chart.picks_while_dragged = source.picks_while_dragged
        chart.smoothing = source.smoothing
        chart.backdrop, chart.flags = source.backdrop, source.flags
        chart.set_caption(source.caption.said())
        chart.set_curves(source.curves)

    chart.mark(source.position)
    source.marked.connect(chart.mark)
    return ChartWindow(source, chart, copy, source.refreshed)


def enlarge_picture(source: Plot, make: Callable[[], Plot]) -> ChartWindow:
    """Return a window with a second painted plot, which copies what ``source`` shows."""
    larger: Any = make()
    return ChartWindow(source, larger, lambda: larger.copy_from(source), source.canvas.refreshed)
