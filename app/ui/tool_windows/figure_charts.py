"""Charts of the numbers in figures of programs, in the figures' own windows."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.figures import FigureAxes
from gradscribe.playback.translation import tr
from gradscribe.widgets.charts.preload import ChartImport
from gradscribe.widgets.plots.plot import Canvas, Plot
from gradscribe.widgets.tables.figure_window import FigureWindow
from gradscribe.widgets.tables.inline_figures import InlineFigures


class FigureCharts(QObject):
    """Adds a chart to a figure's window for each pair of axes with lines or points."""

    def __init__(self, figures: InlineFigures, look: Theming, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look
        self._open: list[FigureWindow] = []
        self._library = ChartImport(self)
        figures.opened.connect(self._add)
        look.changed.connect(self._dress)

    def _add(self, window: FigureWindow) -> None:
        self._open.append(window)
        window.destroyed.connect(lambda: self._open.remove(window))
        if any(axes.lines for axes in window.figure.axes):
            self._library.call(lambda: self._add_charts(window))

    def _add_charts(self, window: FigureWindow) -> None:
        if window not in self._open:
            return  # It was closed meanwhile.
        for number, axes in enumerate(window.figure.axes, 1):
            if axes.lines:
                _add_chart(window, axes, axes.title or tr("Axes {number}", number=number))

    def _dress(self) -> None:
        for window in self._open:
            window.set_theme(self._look.theme())


def _add_chart(window: FigureWindow, axes: FigureAxes, title: str) -> None:
    # Imported here: they import pyqtgraph.
    from gradscribe.widgets.charts.plane import PlaneHands
    from gradscribe.widgets.plots.figures.axes_plot import FigureAxesPlot

    def make(make_canvas: Callable[[Plot], Canvas]) -> FigureAxesPlot:
        return FigureAxesPlot(axes, title, make_canvas=make_canvas)

    hands = PlaneHands(make)
    hands.menu.enlarges = False
    hands.menu.said.connect(window.say)
    window.add_plot(title, hands.widget, hands.navigation.fit)
