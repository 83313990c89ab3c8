"""The stops of the tour: what each says, where it points, and when it is done."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import (
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRegularExpression,
    QSize,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMenu, QMenuBar, QPushButton, QWidget

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.tour.callout import Side
from gradscribe.playback.translation import tr
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.graph.view import GraphView
from gradscribe.widgets.transport.buttons import TransportButtons

Action = Literal["number", "play", "back", "wire", "lesson"]
NUMBER = QRegularExpression(r"(?<![\w.#])-?\d+\.?\d*(?![\w.])")
"""A number in a program."""
SPOT = QSize(60, 34)
"""Area around a point of the graph that a callout does not cover: a share stands there."""
MOST_FOUND = 50
"""Most numbers that are looked at for one outside of comments."""


@dataclass(frozen=True)
class TourParts:
    """The parts of the window that the tour points to and listens to."""

    ground: QWidget
    """The area over which callouts stand."""
    editor: CodeEdit
    graph: GraphView
    buttons: TransportButtons
    lessons: QPushButton
    """The button that opens the list of lessons; hidden in a narrow window."""
    menus: QMenuBar
    lessons_shown: SignalInstance
    """Emitted when the list of lessons opens, however it was asked for."""
    session: Session
    clock: PlaybackClock


@dataclass(frozen=True)
class TourStop:
    """Words of a callout, the action that it asks for, and the area that it points to."""

    action: Action
    title: str
    text: str
    anchor: Callable[[TourParts], QRect]
    side: Side = "below"
    reveal: Callable[[TourParts], None] = lambda _: None
    """Brings what it speaks of into view."""


def _area(parts: TourParts, widget: QWidget, inner: QRect | None = None) -> QRect:
    """Return a widget's area on the ground, or that of a part of it; empty if it is hidden."""
    if not widget.isVisible():
        return QRect()
    inner = widget.rect() if inner is None else inner
    # The menu bar is not on the ground.
    corner = parts.ground.mapFromGlobal(widget.mapToGlobal(inner.topLeft()))
    return QRect(corner, inner.size())


def _found_number(editor: CodeEdit) -> QTextCursor:
    """Return the selection of the program's first number outside of comments, else a null one."""
    cursor = QTextCursor(editor.document())
    for _ in range(MOST_FOUND):
        cursor = editor.document().find(NUMBER, cursor)
        if cursor.isNull() or "#" not in cursor.block().text()[: cursor.positionInBlock()]:
            return cursor
    return QTextCursor()


def _number(parts: TourParts) -> QRect:
    """Return the area of the program's first number, else of the program."""
    editor = parts.editor
    cursor = _found_number(editor)
    if not cursor.isNull():
        right = editor.cursorRect(cursor)
        cursor.setPosition(cursor.selectionStart())
        spot = editor.cursorRect(cursor).united(right).adjusted(-3, -2, 3, 2)
        if editor.viewport().rect().contains(spot):
            return _area(parts, editor.viewport(), spot)
    return _area(parts, editor)


def _reveal_number(parts: TourParts) -> None:
    """Put the caret into the program's first number: the line that plays may be far below it."""
    cursor = _found_number(parts.editor)
    if not cursor.isNull():
        cursor.setPosition(cursor.selectionStart())
        parts.editor.setTextCursor(cursor)
        parts.editor.ensureCursorVisible()


def _lessons(parts: TourParts) -> QRect:
    """Return the area of the button with the lessons, else of the title of their menu."""
    if parts.lessons.isVisible():
        return _area(parts, parts.lessons)
    learn = parts.menus.findChild(QMenu, "Learn")
    if not isinstance(learn, QMenu):
        return QRect()
    return _area(parts, parts.menus, parts.menus.actionGeometry(learn.menuAction()))


def _wire(parts: TourParts) -> QRect:
    """Return the area around the middle of a wire in sight, else of the graph."""
    graph = parts.graph
    placement = graph.stage().placement
    # The leftmost: the callout stands left of it, where it covers least of the graph.
    routes = sorted(placement.routes.values(), key=lambda route: min(route, default=(0.0, 0.0)))
    for route in routes:
        if route:
            x, y = route[len(route) // 2]
            at = graph.camera().to_view(QPointF(x, y)).toPoint()
            if graph.rect().contains(at):
                corner = at - QPoint(SPOT.width() // 2, SPOT.height() // 2)
                return _area(parts, graph, QRect(corner, SPOT))
    return _area(parts, graph)


class StopWatch(QObject):
    """Emits `done` when the user did what a stop asks for; deleted with the stop.

    A QObject, so that its connections end with it.
    """

    done = Signal()

    def __init__(self, parts: TourParts, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._position = parts.session.view.position

    def watch(self, action: Action) -> None:
        """Wait for the action."""
        parts = self._parts
        if action == "number":
            parts.editor.number_changed.connect(self._finish)
        elif action == "play":
            parts.clock.playing_changed.connect(self._play)
        elif action == "back":
            parts.session.moved.connect(self._move)
        elif action == "wire":
            parts.session.view_changed.connect(self._look)
        else:
            parts.lessons_shown.connect(self._finish)

    def _finish(self) -> None:
        self.done.emit()

    def _play(self, plays: bool) -> None:
        if plays:
            self.done.emit()

    def _move(self, position: int) -> None:
        went_back, self._position = 0 < position < self._position, position
        if went_back:
            self.done.emit()

    def _look(self) -> None:
        if self._parts.session.view.selection in self._parts.graph.stage().wires:
            self.done.emit()


STOPS = (
    TourStop(
        "number",
        tr("Drag a number"),
        tr(
            "Press on this number and drag sideways, or press Ctrl+Up with the caret in it. "
            "The program runs again and every value follows."
        ),
        _number,
        "above",
        _reveal_number,
    ),
    TourStop(
        "play",
        tr("Play the run"),
        tr("Values appear as they are computed, then the gradients on their way back (F7)."),
        lambda parts: _area(parts, parts.buttons.play_button),
    ),
    TourStop(
        "back",
        tr("Step back"),
        tr("The run is recorded: go back event by event, as often as you like (Alt+Left)."),
        lambda parts: _area(parts, parts.buttons.back_button),
    ),
    TourStop(
        "wire",
        tr("Look at an edge"),
        tr(
            "Click this edge, or press Shift and an arrow key in the graph: the inspector shows "
            "the share of the gradient that came back here."
        ),
        _wire,
        "left",
    ),
    TourStop(
        "lesson",
        tr("Take a lesson"),
        tr(
            "Lessons ask you to predict, then show (Ctrl+Shift+T). "
            "The tour is in Help whenever you want it."
        ),
        _lessons,
    ),
)
