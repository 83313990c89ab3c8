"""Base of all plots: heading, caption, theme, canvas, and axes along its edges."""

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QEvent,
    QIODevice,
    QPointF,
    QRectF,
    QSaveFile,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFileDialog, QPushButton, QSizePolicy, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.painting.pixmap_cache import PixmapCache
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.axes import Axis, tick_label
from gradscribe.widgets.plots.drawing.polylines import PixelPoints, to_points
from gradscribe.widgets.plots.folded_switches import FoldedSwitches
from gradscribe.widgets.plots.key_pointer import KeyPointer
from gradscribe.widgets.plots.numbers_window import ChartNumbers

EDGE = 16
"""Pixels between the border of a panel and its contents."""
TICK_PX = 11
LEAST_AXIS_HEIGHT = 26.0
"""Least pixels below the base line of a plot, for the tick labels."""
TABLE_KEY = Qt.Key.Key_T
"""Opens the numbers of the chart that has the keyboard."""
ENLARGE_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
"""Open a window of its own for it."""
KEPT_FOCUS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
"""The window was left, or a menu opened: the focus comes back as it was."""
_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
_MENU_BUTTONS = (Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton)
LEAST_CANVAS = 130
"""Least height of the canvas in pixels with a caption above it; scaled with the text size, as the
canvas contains text, too."""


class Canvas(QWidget):
    """The painted part of a plot, which delegates painting and events to the plot.

    The painted pixmap is cached until the plot requests a refresh. Keys open its numbers and move
    a pointer over it.
    """

    refreshed = Signal()

    def __init__(self, plot: "Plot") -> None:
        super().__init__(plot)
        self._plot = plot
        self._kept = PixmapCache(self, lambda painter: plot.draw(painter, QRectF(self.rect())))
        self.pointer = KeyPointer(self)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Picture: T opens its numbers, C shows a pointer"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def refresh(self) -> None:
        """Discard the cached pixmap and repaint."""
        self._kept.refresh()
        self.refreshed.emit()

    def sizeHint(self) -> QSize:
        """Return a readable size."""
        return QSize(260, 140)

    def minimumSizeHint(self) -> QSize:
        """Return the least size."""
        return QSize(120, 64)

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Paint the plot."""
        self._kept.paint(*self._depends())

    def prepare(self) -> None:
        """Draw the pixmap ahead of painting."""
        self._kept.prepare(*self._depends())

    def _depends(self) -> list[bool]:
        return [child.isVisible() for child in self.findChildren(QWidget)]

    def event(self, happened: QEvent) -> bool:
        """Offer events to the plot first, except for presses of other buttons than the left."""
        if isinstance(happened, QMouseEvent) and happened.button() in _MENU_BUTTONS:
            return super().event(happened)
        if isinstance(happened, QKeyEvent):
            if self.pointer.is_on and self._press(happened):
                return True
            return self._plot.handle(happened) or self._press(happened) or super().event(happened)
        return self._plot.handle(happened) or super().event(happened)

    def _press(self, happened: QKeyEvent) -> bool:
        """Use a key for the pointer or the numbers, before the window's shortcuts do."""
        if happened.modifiers() & _COMMANDS:
            return False
        opens = happened.key() == TABLE_KEY
        enlarges = happened.key() in ENLARGE_KEYS and self._plot.enlarges
        if not (opens or enlarges or self.pointer.takes(happened.key())):
            return False
        if happened.type() == QEvent.Type.ShortcutOverride:
            happened.accept()
        elif happened.type() != QEvent.Type.KeyPress:
            return False
        elif not self.pointer.press(happened):
            self._plot.numbers.open() if opens else self._plot.enlarged.emit()
        return True

    def focusOutEvent(self, happened: QFocusEvent) -> None:
        """Hide the pointer, unless the focus comes back by itself; called by Qt."""
        super().focusOutEvent(happened)
        if happened.reason() not in KEPT_FOCUS:
            self.pointer.leave()


class Plot(QWidget):
    """A heading with space for small controls, and a canvas below it."""

    captioned = Signal(str)
    """Description of what is under the mouse; empty for nothing."""
    wished = Signal()
    """Other views of the engine are needed."""
    enlarged = Signal()
    """The user wishes to see the plot in a window of its own."""

    def __init__(
        self,
        title: str,
        subtitle: str = "",
        parent: QWidget | None = None,
        make_canvas: "Callable[[Plot], Canvas]" = Canvas,
    ) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.mouse: QPointF | None = None
        """The place of the mouse on the canvas, as `follow_mouse` noted it; None: elsewhere."""
        self.heading, self.caption = Heading(title), Label("caption")
        self.enlarges = False
        """True if `enlarged` is heard, so that it is offered."""
        self.is_titled = True
        """False if a tab or the like already says the title."""
        self.tools = hbox(None, spacing=6)
        self.step = Label("caption").fit_text()
        self.step.hide()
        self.tools.addWidget(self.step)
        self._switches = FoldedSwitches(self.tools)
        self.canvas = make_canvas(self)
        top = hbox(None, margins=(EDGE, 12, 12, 0))
        top.addWidget(self.heading, 1)
        # While the heading is hidden the tools stay at the right.
        top.addStretch()
        top.addLayout(self.tools)
        column = vbox(self, spacing=2)
        column.addLayout(top)
        below = hbox(None, margins=(EDGE, 0, 12, 0))
        below.addWidget(self.caption)
        column.addLayout(below)
        column.addWidget(self.canvas, 1)
        self.set_caption(subtitle)
        self.setAccessibleName(title)
        set_sheet(self, sheet(self.theme))

    @cached_property
    def numbers(self) -> ChartNumbers:
        """The window with its numbers."""
        return ChartNumbers(self, self)

    def prepare(self) -> None:
        """Draw ahead of painting, as painting the whole window is slow enough."""
        self.canvas.prepare()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self.theme = theme
        set_sheet(self, sheet(theme))
        self._make_room()
        self.refresh()

    def set_caption(self, subtitle: str) -> None:
        """Show a line below the title, also for screen readers."""
        if self.caption.said() != subtitle:
            self.caption.say(subtitle)
            self.setAccessibleDescription(subtitle)
            self._make_room()

    def show_step(self, step: int | None) -> None:
        """Say which step the plot shows, next to one that shows another; None: say nothing."""
        words = "" if step is None else tr("step {step:,}", step=step)
        if self.step.said() != words:
            self.step.say(words)
            self._make_room()

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Hide the caption if space is short; called by Qt."""
        super().resizeEvent(happened)
        self._make_room()

    def _make_room(self) -> None:
        """Show the caption, unless the canvas would get too small.

        A title that needs several lines is hidden then, too: tabs and a tool tip show it.
        """
        words, least = self.caption.said(), LEAST_CANVAS * self.theme.scale
        # Hidden in a narrow plot, and with that no part of what the tools need.
        self.step.setVisible(bool(self.step.said()) and self._has_space_for_step())
        self._switches.fold(self._tools_width() > self.width() - 2 * EDGE)
        self.tools.invalidate()
        wide = max(1, self.width() - self.tools.sizeHint().width() - 2 * EDGE)
        left = self.height() - self.heading.heightForWidth(wide) - EDGE
        breaks = self.heading.title_width() > wide and left < least
        # A word that is wider than the space would lie below the tools.
        breaks = breaks or self.heading.longest_word_width() > wide
        self.heading.setVisible(self.is_titled and not breaks)
        self.canvas.setToolTip(self.accessibleName() if breaks else "")
        left -= self.caption.heightForWidth(max(1, self.width() - 2 * EDGE))
        is_shown = bool(words) and left >= least and not breaks
        self.caption.setVisible(is_shown)
        self.heading.setToolTip("" if is_shown else words)

    def _tools_width(self) -> int:
        """Return the width of the tools side by side, in pixels."""
        items = [self.tools.itemAt(place) for place in range(self.tools.count())]
        widths = []
        for item, tool in ((one, one.widget()) for one in items if one is not None):
            if tool is not None and not tool.isHidden() and tool is not self._switches.more:
                # A switch in the menu has no width of its own.
                hint = item.sizeHint() if tool.maximumWidth() else tool.sizeHint()
                widths.append(hint.width())
        return sum(widths) + self.tools.spacing() * max(0, len(widths) - 1)

    def _has_space_for_step(self) -> bool:
        tools = self._tools_width() - (
            0 if self.step.isHidden() else self.step.sizeHint().width() + self.tools.spacing()
        )
        title = self.heading.title_width() if self.is_titled else 0
        needed = title + self.tools.spacing() + self.step.sizeHint().width() + tools
        return needed <= self.width() - 2 * EDGE

    def hide_tools(self) -> None:
        """Hide the controls, for an image of the plot alone."""
        for place in range(self.tools.count()):
            item = self.tools.itemAt(place)
            tool = item.widget() if item is not None else None
            if tool is not None:
                tool.hide()

    def refresh(self) -> None:
        """Repaint the canvas."""
        self.canvas.refresh()

    @abstractmethod
    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw into ``area``."""

    def sentences(self) -> Sequence[str]:
        """Return a summary of what is shown, for the window with its numbers."""
        words = (self.caption.said(), self.accessibleDescription(), self.step.said())
        return [text for text in dict.fromkeys(words) if text]

    def table(self) -> Iterator[str]:
        """Yield what is shown as parts of a CSV file; nothing if it has no numbers."""
        yield from ()

    def handle(self, happened: QEvent) -> bool:  # noqa: ARG002
        """Handle an event of the canvas; return whether it was consumed."""
        return False

    def contextMenuEvent(self, happened: QContextMenuEvent) -> None:
        """Offer the picture; plots that are explored as charts have a menu of their own."""
        menus.pop_up(
            self,
            menus.place_in(self, happened),
            (
                *([(tr("Enlarge"), self.enlarged.emit)] if self.enlarges else []),
                (tr("Show the numbers"), self.numbers.open),
                ("", self.refresh),
                (tr("Copy the picture"), self.copy_picture),
                (tr("Save the picture as PNG…"), self._ask_picture),
            ),
        )

    def copy_picture(self) -> None:
        """Put an image of the plot on the clipboard."""
        QGuiApplication.clipboard().setPixmap(self.grab())

    def _ask_picture(self) -> None:
        name = f"{self.accessibleName() or 'plot'}.png"
        path, _ = QFileDialog.getSaveFileName(
            self, tr("Save the picture"), name, tr("PNG picture (*.png)")
        )
        if path:
            self.save_picture(path)

    def save_picture(self, path: str) -> None:
        """Write an image of the plot as PNG, wholly or not at all; say so in the caption."""
        data = QByteArray()
        with contextlib.closing(QBuffer(data)) as buffer:
            buffer.open(QIODevice.OpenModeFlag.WriteOnly)
            self.grab().save(buffer, "PNG")
        file = QSaveFile(path)
        written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) == data.size()
        is_there = written and file.commit()
        words = (
            tr("Saved as {path}", path=path)
            if is_there
            else tr(
                "{path} cannot be written: {errorstring}", path=path, errorstring=file.errorString()
            )
        )
        self.captioned.emit(words)

    def follow_mouse(self, happened: QEvent) -> QMouseEvent | None:
        """Note the place of the mouse, or that it has left; return its event, None for others."""
        moved = happened if isinstance(happened, QMouseEvent) else None
        if moved is not None or happened.type() == QEvent.Type.Leave:
            self.mouse = moved.position() if moved is not None else None
            self.refresh()
        return moved


def switch_button(name: str, tip: str, on: bool) -> QPushButton:
    """Return a small button that can be on or off."""
    button = QPushButton(name)
    button.setProperty("crumb", True)
    button.setCheckable(True)
    button.setChecked(on)
    button.setToolTip(tip)
    return button


def draw_dot(
    painter: QPainter, at: QPointF, color: QColor, ground: QColor, size: float = 4.0
) -> None:
    """Draw a dot with a rim, so that it is visible on any background."""
    painter.setPen(QPen(ground, 1.5))
    painter.setBrush(color)
    painter.drawEllipse(at, size, size)


def draw_placeholder(painter: QPainter, area: QRectF, theme: Theme, words: str) -> None:
    """Write why the plot is empty."""
    painter.setPen(theme.ink3)
    painter.setFont(theme.font(12))
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    painter.drawText(area.adjusted(EDGE, 0, -EDGE, 0), int(flags), words)


def draw_left_axis(
    painter: QPainter, area: QRectF, axis: Axis, theme: Theme, ticks: Sequence[tuple[float, str]]
) -> None:
    """Draw grid lines across ``area`` and the tick labels to their left."""
    painter.setFont(theme.font(TICK_PX, 500))
    metrics = QFontMetricsF(painter.font())
    for number, label in ticks:
        y = area.bottom() - axis.number_share(number) * area.height()
        painter.setPen(QPen(theme.line, theme.stroke(1), Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(theme.ink2)
        width = metrics.horizontalAdvance(label)
        painter.drawText(QPointF(area.left() - width - 6, y + metrics.ascent() / 2 - 1), label)


def draw_bottom_axis(
    painter: QPainter, area: QRectF, axis: Axis, theme: Theme, *, whole: bool = False
) -> None:
    """Draw the base line of ``area`` and the tick labels below; ``whole``: only integers."""
    painter.setPen(QPen(theme.line, theme.stroke(1)))
    painter.drawLine(area.bottomLeft(), area.bottomRight())
    painter.setFont(theme.font(TICK_PX, 500))
    metrics = QFontMetricsF(painter.font())
    painter.setPen(theme.ink2)
    after = -1e9
    for number, label in bottom_ticks(axis, area.width(), metrics, whole=whole):
        x = area.left() + axis.number_share(number) * area.width()
        width = metrics.horizontalAdvance(label)
        start = min(max(x - width / 2, area.left() - 8), area.right() + 8 - width)
        if start > after:
            painter.drawText(QPointF(start, area.bottom() + metrics.height() + 1), label)
            after = start + width + 8


@dataclass(frozen=True)
class AxesFrame:
    """The part of a plot for curves, with an axis along its bottom and its left edge."""

    area: QRectF
    x: Axis
    y: Axis

    def draw(
        self,
        painter: QPainter,
        theme: Theme,
        ticks: Sequence[tuple[float, str]],
        *,
        whole: bool = False,
    ) -> None:
        """Draw both axes; ``ticks`` are those at the left. ``whole``: only integers below."""
        draw_left_axis(painter, self.area, self.y, theme, ticks)
        draw_bottom_axis(painter, self.area, self.x, theme, whole=whole)

    def points(self, x: NDArray[np.floating], y: NDArray[np.floating]) -> PixelPoints:
        """Return points in pixels."""
        across = self.area.left() + self.x.share(x) * self.area.width()
        return to_points(across, self.area.bottom() - self.y.share(y) * self.area.height())

    def x_at(self, at: QPointF) -> float:
        """Return the number on the axis at the bottom for a pixel."""
        return self.x.number((at.x() - self.area.left()) / max(1.0, self.area.width()))

    def y_at(self, at: QPointF) -> float:
        """Return the number on the axis at the left for a pixel."""
        return self.y.number((self.area.bottom() - at.y()) / max(1.0, self.area.height()))


def plot_frame(
    area: QRectF, top: float, ticks: Sequence[tuple[float, str]], theme: Theme
) -> QRectF:
    """Return the part of ``area`` for curves, with tick labels to its left and below.

    ``top``: free pixels above it.
    """
    letters = QFontMetricsF(theme.font(TICK_PX, 500))
    below = max(LEAST_AXIS_HEIGHT, letters.height() + letters.descent() + 3)
    return area.adjusted(EDGE + label_width(theme, ticks) + 6, top, -EDGE, -below)


def bottom_ticks(
    axis: Axis, width: float, metrics: QFontMetricsF, *, whole: bool = False
) -> list[tuple[float, str]]:
    """Return as many tick labels as fit below ``width`` pixels with gaps between them."""
    gap = 3 * metrics.horizontalAdvance("0")
    ticks: list[tuple[float, str]] = []
    for most in range(max(2, int(width / (2 * gap))), 1, -1):
        ticks = axis.ticks(most)
        if whole and not all(_is_whole(number) for number, _ in ticks):
            ticks = [(number, tick_label(number, 1.0)) for number, _ in ticks if _is_whole(number)]
        places = [axis.number_share(number) * width for number, _ in ticks]
        widths = [metrics.horizontalAdvance(label) for _, label in ticks]
        near = min((b - a for a, b in pairwise(places)), default=width)
        if near >= max(widths, default=0) + gap:
            break
    return ticks


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6


def label_width(theme: Theme, ticks: Sequence[tuple[float, str]]) -> float:
    """Return the width of the widest label."""
    metrics = QFontMetricsF(theme.font(TICK_PX, 500))
    return max((metrics.horizontalAdvance(label) for _, label in ticks), default=0.0)
