"""The keyboard's way from one part of the window to the next, also out of the editor."""

from collections.abc import Callable, Sequence

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.ui.popup import PopupCard
from gradscribe.playback.translation import tr

_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class PaneCycle(QObject):
    """Cycle through the panes of the visible page; each gives the focus to where it was last."""

    def __init__(
        self,
        panes: Callable[[], Sequence[QWidget]],
        ground: QWidget,
        editor: QWidget,
        say: Callable[[str], None],
    ) -> None:
        """Cycle through what ``panes`` returns, in its order.

        Args:
            panes: all panes of the page; those that cannot be seen or focused are left out.
            ground: the widget that popup cards lie on: below one nothing moves.
            editor: a widget that needs Tab for itself.
            say: shows a line in the status line.
        """
        super().__init__(ground)
        self._panes, self._ground, self._editor, self._say = panes, ground, editor, say
        self._last: dict[QWidget, QWidget] = {}
        editor.installEventFilter(self)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._note)

    def step(self, by: int) -> None:
        """Focus the next pane (1) or the one before (-1); after the last comes the first."""
        if any(card.isVisible() for card in self._ground.findChildren(PopupCard)):
            return
        ways = [(pane, self._entry(pane)) for pane in self._panes() if pane.isVisible()]
        ways = [(pane, entry) for pane, entry in ways if entry is not None]
        if not ways:
            return
        here = self._ground.window().focusWidget()
        inside = [k for k, (pane, _) in enumerate(ways) if _is_in(here, pane)]
        start = inside[-1] if inside else (-1 if by > 0 else 0)
        entry = ways[(start + by) % len(ways)][1]
        if entry is not None:
            entry.activateWindow()
            entry.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Say how to leave the editor to whoever came by a key; called by Qt."""
        is_focus = happened.type() == QEvent.Type.FocusIn and isinstance(happened, QFocusEvent)
        if is_focus and happened.reason() in _BY_KEYS:  # type: ignore[attr-defined]
            self._say(tr("F6 leaves the editor, and so does Esc followed by Tab"))
        return super().eventFilter(watched, happened)

    def _note(self, _: QWidget | None, now: QWidget | None) -> None:
        for pane in self._panes() if now is not None else ():
            if _is_in(now, pane) and now is not None:
                self._last[pane] = now

    def _entry(self, pane: QWidget) -> QWidget | None:
        """Return the widget of a pane that gets the focus; None if it has none."""
        last = self._last.get(pane)
        if last is not None and shiboken6.isValid(last) and _can_focus(last, pane):
            return last
        at: QWidget | None = pane
        while at is not None:
            if _can_focus(at, pane):
                return at
            at = at.nextInFocusChain()
            if at is pane:
                break
        return None


def _is_in(widget: QWidget | None, pane: QWidget) -> bool:
    return widget is not None and (widget is pane or pane.isAncestorOf(widget))


def _can_focus(widget: QWidget, pane: QWidget) -> bool:
    takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
    return takes and widget.isVisible() and widget.isEnabled() and _is_in(widget, pane)
