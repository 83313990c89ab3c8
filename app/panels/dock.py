"""A panel outside of the usual arrangement: a dock with a slim title, or a window of its own."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QHBoxLayout, QToolButton, QWidget

from gradscribe.app.panels.homes import PanelHome
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import elided_label, tip

TITLE_MARGINS = (10, 1, 2, 3)
_MOUSE = frozenset(
    (
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseButtonRelease,
        QEvent.Type.MouseButtonDblClick,
        QEvent.Type.MouseMove,
    )
)


class PanelTitleBar(QWidget):
    """Title of a panel, the button of its menu and the button that hides it.

    The mouse passes to the dock, which moves with it.
    """

    def __init__(self, dock: QDockWidget, title: str) -> None:
        super().__init__(dock)
        self._is_slim = False
        self.label = elided_label(title, role="title")
        self.label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.menu = _button("⋯", tr("Move {panel}", panel=title))
        self.hide_button = _button("×", tr("Hide {panel}", panel=title))
        row = QHBoxLayout(self)
        row.setContentsMargins(*TITLE_MARGINS)
        row.setSpacing(2)
        row.addWidget(self.label, 1)
        row.addWidget(self.menu)
        row.addWidget(self.hide_button)

    def set_title(self, title: str, more: str) -> None:
        """Show another title with a tip."""
        self.label.setText(title)
        self.label.setToolTip(tip(more or title))

    def set_collapsed(self, collapsed: bool) -> None:
        """Take no space, or that of a line of text."""
        if collapsed != self._is_slim:
            self._is_slim = collapsed
            for part in (self.label, self.menu, self.hide_button):
                part.setVisible(not collapsed)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the size that the dock gives the title."""
        return QSize(0, 0) if self._is_slim else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the size that the dock gives the title at least."""
        return QSize(0, 0) if self._is_slim else super().minimumSizeHint()

    def event(self, happened: QEvent) -> bool:
        """Leave the mouse to the dock; called by Qt."""
        if happened.type() in _MOUSE:
            happened.ignore()
            return False
        return super().event(happened)


class PanelDock(QDockWidget):
    """A panel that has left its place in the usual arrangement."""

    menu_requested = Signal(object)
    """Open the panel's menu below this button."""
    hidden_by_user = Signal()

    def __init__(self, area: QWidget, name: str, home: PanelHome) -> None:
        super().__init__(area)
        self.setObjectName(name)
        # A window of its own would have no ground otherwise.
        self.setAutoFillBackground(True)
        self.home = home
        self.is_closed = False
        """True while the user has hidden it; otherwise it follows its content."""
        self.is_quiet = False
        """True while it makes way for what is presented."""
        self._is_away = False
        """True while a card is shown over the main window, at its place."""
        self.is_returning = False
        """True if it has no place but that in the usual arrangement, to which it returns."""
        title = home.title()
        self.setWindowTitle(title)
        self.setAccessibleName(home.name())
        self.bar = PanelTitleBar(self, home.name())
        self.bar.menu.clicked.connect(lambda: self.menu_requested.emit(self.bar.menu))
        self.bar.hide_button.clicked.connect(self.hidden_by_user)
        self.setTitleBarWidget(self.bar)
        self.visibilityChanged.connect(self._note_shown)
        home.content.installEventFilter(self)

    def hold(self, content: QWidget) -> None:
        """Set what it shows; what is hidden stays so."""
        was_hidden = content.isHidden() and content.testAttribute(
            Qt.WidgetAttribute.WA_WState_ExplicitShowHide
        )
        self.setWidget(content)
        content.setHidden(was_hidden)
        self.refresh_title()

    def refresh_title(self) -> None:
        """Show the panel's title as it is now."""
        title = self.home.title()
        self.setWindowTitle(title)
        self.bar.set_title(title, self.home.tip())

    def release(self) -> None:
        """Let go of the content, which has another parent by now, and disappear."""
        self.home.content.removeEventFilter(self)
        self.hide()
        # Until it is deleted a restored state would find it by its name.
        self.setObjectName("")
        self.setParent(None)
        self.deleteLater()

    def follow_content(self) -> None:
        """Be in view unless the user, presenting or the owner of the content has hidden it."""
        off = self.is_closed or self.is_quiet or self.home.content.isHidden()
        self.setVisible(not (off or self._is_away))

    def set_out_of_way(self, away: bool) -> None:
        """Disappear while a card over the main window is open, and come back after it."""
        self._is_away = away
        if self.parentWidget() is None:
            return
        self.follow_content()
        if not away and not self.isVisible():
            self.home.set_shown(False)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Hide the dock with its content, and show it again; called by Qt."""
        if happened.type() in (QEvent.Type.HideToParent, QEvent.Type.ShowToParent):
            self.follow_content()
        return super().eventFilter(watched, happened)

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """Let the keys of the main window work in a panel's own window, too; called by Qt."""
        super().keyPressEvent(pressed)
        above = self.parentWidget()
        if self.isFloating() and above is not None and not pressed.isAccepted():
            QApplication.sendEvent(above.window(), pressed)

    def closeEvent(self, happened: QCloseEvent) -> None:
        """Hide the panel, to be shown from the menu again; called by Qt."""
        happened.ignore()
        self.hidden_by_user.emit()

    def _note_shown(self, shown: bool) -> None:
        if not self._is_away:
            self.home.set_shown(shown)


def _button(text: str, name: str) -> QToolButton:
    button = QToolButton()
    button.setProperty("quiet", True)
    button.setProperty("slim", True)
    button.setText(text)
    button.setToolTip(name)
    button.setAccessibleName(name)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
