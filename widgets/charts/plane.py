"""Hands for plots over two axes of numbers: zoomed, panned, brushed, read and enlarged."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, SignalInstance
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPen

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.charts.enlarged import ChartWindow
from gradscribe.widgets.charts.menu import ChartMenu, MenuEntry
from gradscribe.widgets.charts.navigation import Navigation
from gradscribe.widgets.charts.view import ChartView
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.plot import AxesFrame, Canvas, Plot
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

MARGIN = 8
SMALLEST = 3.0
"""Least side in pixels of a region that is brushed."""


class PlanePlot(Protocol):
    """A plot over two axes, as `PlaneHands` need it."""

    theme: Theme
    mouse: QPointF | None
    sight: tuple[Axis | None, Axis | None]
    """The axes that a hand has moved; None: the one that shows everything."""

    @property
    def drawn_axes(self) -> AxesFrame:
        """Return the axes as drawn last."""

    def accessibleName(self) -> str:
        """Return the title."""

    def fitted(self, x: Axis | None) -> tuple[Axis, Axis] | None:
        """Return the axes that show everything; None while there is nothing."""

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw the plot without what the mouse points at."""

    def draw_over(self, painter: QPainter) -> None:
        """Draw what the mouse points at."""

    def takes(self, happened: QMouseEvent) -> bool:
        """Return whether an event edits; else it navigates."""

    def handle(self, happened: QEvent) -> bool:
        """Handle an event of the canvas."""

    def summary(self, x: Axis, y: Axis) -> list[str]:
        """Return the statistics of a region, one line each."""

    def table_between(self, x: Axis, y: Axis) -> Iterator[str]:
        """Yield what is between two axes as parts of a CSV file."""

    def options_offered(self) -> Sequence[tuple[str, Callable[[], object], bool | None]]:
        """Return entries of the menu: name, action, and whether it is on."""

    def pick(self, at: QPointF) -> None:
        """Take a click on what is shown, in pixels."""

    def refresh(self) -> None:
        """Repaint."""


class PlaneHands(QObject):
    """Makes a plot one to explore: its canvas is a `ChartView`, with navigation and a menu."""

    def __init__(self, make: "Callable[[Callable[[Plot], Canvas]], PlanePlot]") -> None:
        self.view: ChartView
        """The canvas."""
        self.plot = plot = make(self._make_view)
        super().__init__(self.view)
        self.region: tuple[Axis, Axis] | None = None
        """The brushed part of both axes."""
        self._edits = False
        self.navigation = Navigation(self.view, plot.fitted, self)
        self.menu = ChartMenu(self, self.view, self.navigation)
        self.follow = self.view.add_button(
            tr("Follow"), tr("Show everything again, and what is to come")
        )
        self.follow.clicked.connect(self.navigation.fit)
        self._connect()

    @property
    def widget(self) -> Plot:
        """Return the plot as a widget."""
        plot = self.view.parentWidget()
        assert isinstance(plot, Plot)
        return plot

    def _make_view(self, plot: Plot) -> Canvas:
        self.view = ChartView(self._draw, self._draw_over, plot)
        canvas: Canvas = self.view
        return canvas

    def _connect(self) -> None:
        box, view = self.view.box, self.view
        # Placed once: what moves are the axes, in numbers from the least to the largest float.
        box.setRange(xRange=(0, 1), yRange=(0, 1), padding=0)
        box.framed.connect(self._frame)
        box.picked.connect(lambda at: self.plot.pick(self._pixel(at)))
        view.moved.connect(self._hover)
        view.left.connect(lambda: self._hover(None))
        view.keyed.connect(self._press)
        view.viewport().installEventFilter(self)
        self.navigation.changed.connect(self._navigate)
        # Not while painting: the button would be in a picture of the chart as it was.
        view.refreshed.connect(self._offer_to_follow)

    # The chart of the menu

    @property
    def theme(self) -> Theme:
        """The theme in use."""
        return self.plot.theme

    def accessibleName(self) -> str:
        """Return the title."""
        return self.plot.accessibleName()

    def entries(self) -> Sequence[MenuEntry]:
        """Return what the menu offers besides what every chart has."""
        made = [
            MenuEntry(name, partial(self._switch, do), is_on)
            for name, do, is_on in self.plot.options_offered()
        ]
        if self.region is not None:
            made.append(MenuEntry(tr("Zoom to the region"), self.zoom_to_region))
            made.append(MenuEntry(tr("Drop the region"), self.drop_region))
        return made

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw the chart without what the mouse points at."""
        self.plot.draw_still(painter, area)

    def sentences(self) -> Sequence[str]:
        """Return a summary of the region, or else of what is in sight."""
        seen = self.region or self.navigation.axes()
        caption = self.widget.caption.said()
        return [*([caption] if caption else []), *self.plot.summary(*seen)]

    def table(self) -> Iterator[str]:
        """Yield the numbers in sight as parts of a CSV file."""
        return self.plot.table_between(*self.navigation.axes())

    def _switch(self, do: Callable[[], object]) -> None:
        """Do what an option does; an axis that got another scale shows everything again."""
        do()
        whole, seen = self.plot.fitted(None), (self.navigation.x, self.navigation.y)
        if whole is None or all(
            axis is None or axis.log == fitted.log for axis, fitted in zip(seen, whole, strict=True)
        ):
            return
        if self.navigation.is_frozen:
            self.navigation.fit()
            return
        x, y = (
            axis if axis is not None and axis.log == fitted.log else None
            for axis, fitted in zip(seen, whole, strict=True)
        )
        self.navigation.show(x, y)

    # What is in sight

    def _navigate(self) -> None:
        self.plot.sight = self.navigation.x, self.navigation.y
        self.plot.refresh()

    def _offer_to_follow(self) -> None:
        has_any = self.plot.fitted(None) is not None
        self.follow.setVisible(has_any and not self.navigation.is_following)

    def zoom_to_region(self) -> None:
        """Show only the brushed region."""
        if self.region is not None:
            x, y = self.region
            self.drop_region()
            self.navigation.show(x, y)

    def drop_region(self) -> None:
        """Select nothing."""
        self.region = None
        self._describe()

    def _frame(self, start: QPointF, end: QPointF, _released: bool) -> None:
        """Select the region between two corners; one of no width selects nothing."""
        x, y = self.navigation.axes()
        (left, right), (low, high) = (
            sorted(min(max(share, 0.0), 1.0) for share in pair)
            for pair in ((start.x(), end.x()), (start.y(), end.y()))
        )
        frame = self.plot.drawn_axes.area
        is_small = min((right - left) * frame.width(), (high - low) * frame.height()) < SMALLEST
        self.region = None
        if not is_small and self.plot.fitted(None) is not None:
            self.region = _between(x, left, right), _between(y, low, high)
        self._describe()

    def words(self) -> list[str]:
        """Return the statistics of the brushed region, one line each."""
        return self.plot.summary(*self.region) if self.region is not None else []

    def _describe(self) -> None:
        keys, escape = self.view.keys, Qt.Key.Key_Escape
        (keys.add if self.region is not None else keys.discard)(escape)
        self.view.setAccessibleDescription(". ".join(self.words()))
        self.view.viewport().update()

    # Events

    def _pixel(self, shares: QPointF) -> QPointF:
        frame = self.plot.drawn_axes.area
        return QPointF(
            frame.left() + shares.x() * frame.width(), frame.bottom() - shares.y() * frame.height()
        )

    def _hover(self, at: QPointF | None) -> None:
        self.plot.mouse = at
        self.view.viewport().update()

    def _press(self, happened: QKeyEvent) -> None:
        if happened.key() == Qt.Key.Key_Escape and self.region is not None:
            self.drop_region()
        elif not self.navigation.press(happened.key()):
            return
        happened.accept()

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Offer what edits to the plot; all else navigates. Called by Qt."""
        if isinstance(happened, QMouseEvent):
            pressed = happened.type() == QEvent.Type.MouseButtonPress
            if pressed and not happened.modifiers() and self.plot.takes(happened):
                self._edits = True
            if self._edits:
                self.plot.handle(happened)
                if happened.type() == QEvent.Type.MouseButtonRelease:
                    self._edits = False
                return True
            if happened.type() == QEvent.Type.MouseButtonDblClick and self.plot.takes(happened):
                self.plot.handle(happened)
                return True
        elif isinstance(happened, QContextMenuEvent):
            # The menu is about what is there, wherever the mouse was seen last.
            by_mouse = happened.reason() == QContextMenuEvent.Reason.Mouse
            self.plot.mouse = QPointF(happened.pos()) if by_mouse else None
        return super().eventFilter(watched, happened)

    # Painting

    def _draw(self, painter: QPainter, area: QRectF) -> None:
        self.view.theme = self.plot.theme
        self.plot.draw_still(painter, area)
        has_any = self.plot.fitted(None) is not None
        self.view.box.setVisible(has_any)
        frame = self.plot.drawn_axes.area
        if has_any:
            self.view.place(frame)
            self.follow.adjustSize()
            self.follow.move(
                round(frame.right()) - MARGIN - self.follow.width(),
                round(frame.bottom()) - MARGIN - self.follow.height(),
            )

    def _draw_over(self, painter: QPainter) -> None:
        if self.plot.fitted(None) is None:
            return
        frame = self.plot.drawn_axes.area
        if self.region is not None:
            self._draw_region(painter, frame, *self.region)
        self.plot.draw_over(painter)

    def _draw_region(self, painter: QPainter, frame: QRectF, x: Axis, y: Axis) -> None:
        shown, theme = self.plot.drawn_axes, self.plot.theme
        left, right = (frame.left() + shown.x.number_share(n) * frame.width() for n in _ends(x))
        low, high = (frame.bottom() - shown.y.number_share(n) * frame.height() for n in _ends(y))
        region = QRectF(QPointF(left, high), QPointF(right, low)) & frame
        painter.setPen(QPen(theme.selection, theme.stroke(1.5)))
        painter.setBrush(faded(theme.selection, 0.16))
        painter.drawRect(region)
        words = self.words()
        if words:
            colors = [theme.surface] * len(words)
            draw_bubble(painter, frame, frame.topLeft(), words, colors, theme)


def _between(axis: Axis, low: float, high: float) -> Axis:
    return Axis(axis.number(low), axis.number(high), axis.log)


def _ends(axis: Axis) -> tuple[float, float]:
    return axis.low, axis.high


def enlarge_plane(
    source: PlaneHands,
    larger: PlaneHands,
    copy: Callable[[], None],
    sent: Sequence[tuple[SignalInstance, SignalInstance]] = (),
) -> ChartWindow:
    """Return a window whose chart stays as current as its source.

    ``copy`` shows in ``larger`` what ``source`` shows.
    ``sent``: signals of the larger chart, each with that of the source that it is passed on to.
    """
    larger.menu.enlarges = False
    larger.menu.said.connect(source.menu.said)
    for mine, theirs in sent:
        mine.connect(theirs)

    return ChartWindow(source.widget, larger.widget, copy, source.view.refreshed)
