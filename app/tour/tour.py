"""The tour: goes from stop to stop as the user does what each asks for."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from gradscribe.app.tour.callout import Callout
from gradscribe.app.tour.stops import STOPS, StopWatch, TourParts
from gradscribe.app.ui.theming import Theming
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.theme import Theme

MOVED = (
    QEvent.Type.Resize,
    QEvent.Type.Move,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.LayoutRequest,
)
"""Events after which a control may stand elsewhere."""


class Tour(QObject):
    """Shows the stops one after the other; only one callout at a time, never modal."""

    ended = Signal()

    def __init__(self, parts: TourParts, look: Theming, parent: QObject) -> None:
        super().__init__(parent)
        self._parts, self._look = parts, look
        self._at = 0
        self.callout: Callout | None = None
        self._watch: StopWatch | None = None
        self._escape: QShortcut | None = None
        self._refit = single_shot(self, self._point)
        """Controls have their new places only in the next turn of the event loop."""

    @property
    def is_on(self) -> bool:
        """True while a callout is shown."""
        return self.callout is not None

    def start(self) -> None:
        """Begin with the first stop; while the tour is on, put the keyboard into its callout."""
        if self.callout is None:
            self._at = 0
            self._begin()
        if self.callout is not None:
            self.callout.next.setFocus()

    def _begin(self) -> None:
        parts = self._parts
        self.callout = Callout(parts.ground, self._look.theme())
        self.callout.next_pressed.connect(self.advance)
        self.callout.skipped.connect(self.end)
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), parts.ground, self.end)
        self._look.changed.connect(self._set_theme)
        for widget in self._watched():
            widget.installEventFilter(self)
        parts.session.moved.connect(self._refit_soon)
        parts.session.tape_changed.connect(self._refit_soon)
        parts.session.source_replaced.connect(self.end)
        self._show()
        self.callout.raise_()

    def _watched(self) -> tuple[QObject, ...]:
        parts = self._parts
        return (parts.ground, parts.editor, parts.graph, parts.buttons, parts.lessons)

    def advance(self) -> None:
        """Go to the next stop; after the last the tour is over."""
        self._at += 1
        if self._at < len(STOPS):
            self._show()
        else:
            self.end()

    def end(self) -> None:
        """End the tour, and give the keyboard back to the program."""
        if self.callout is None:
            return
        parts = self._parts
        for widget in self._watched():
            widget.removeEventFilter(self)
        self._look.changed.disconnect(self._set_theme)
        parts.session.moved.disconnect(self._refit_soon)
        parts.session.tape_changed.disconnect(self._refit_soon)
        parts.session.source_replaced.disconnect(self.end)
        self._refit.stop()
        self._drop_watch()
        if self._escape is not None:
            # Until it is deleted it would be a second meaning of the key.
            self._escape.setEnabled(False)
            self._escape.deleteLater()
            self._escape = None
        callout, self.callout = self.callout, None
        had_focus = callout.isAncestorOf(parts.ground.window().focusWidget() or parts.ground)
        callout.hide()
        callout.deleteLater()
        if had_focus:
            parts.editor.setFocus()
        self.ended.emit()

    def _show(self) -> None:
        assert self.callout is not None
        stop = STOPS[self._at]
        self.callout.show_stop(stop.title, stop.text, self._at + 1, len(STOPS))
        self._drop_watch()
        self._watch = StopWatch(self._parts, self)
        # In the next turn: what the user does is not over when it is reported.
        self._watch.done.connect(self.advance, Qt.ConnectionType.QueuedConnection)
        self._watch.watch(stop.action)
        stop.reveal(self._parts)
        self._point()

    def _drop_watch(self) -> None:
        if self._watch is not None:
            self._watch.done.disconnect(self.advance)
            self._watch.deleteLater()
            self._watch = None

    def _point(self) -> None:
        if self.callout is None or self._escape is None:
            return
        # On another page there is nothing that it could point to: it waits there.
        is_there = self._parts.graph.isVisible() or self._parts.editor.isVisible()
        self._escape.setEnabled(is_there)
        self.callout.setVisible(is_there)
        if is_there:
            stop = STOPS[self._at]
            self.callout.point_at(stop.anchor(self._parts), stop.side)

    def _refit_soon(self) -> None:
        self._refit.start()

    def _set_theme(self, theme: Theme) -> None:
        if self.callout is not None:
            self.callout.set_theme(theme)
            self._refit.start()

    def eventFilter(self, _watched: QObject, happened: QEvent) -> bool:
        """Follow the controls when they move; called by Qt."""
        if happened.type() in MOVED:
            self._refit.start()
        return False
