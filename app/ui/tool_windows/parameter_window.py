"""Window with the parameters of the program, at the position of the playback."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeyEvent, QShortcut
from PySide6.QtWidgets import QLayout, QWidget

from gradscribe.app.document.session import Session
from gradscribe.app.ui.theming import Theming
from gradscribe.playback.tape.parameters import ParameterRow, parameter_rows
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.menus import open_by_key
from gradscribe.widgets.base.open_windows import bring_to_front, resize_within_screen
from gradscribe.widgets.tables.parameter_table import ParameterTable

SIZE = (820, 480)
TITLE = tr("Parameters")


class ParameterWindow(QWidget):
    """A window around the table, which keeps order and filter while it is closed."""

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner, Qt.WindowType.Window)
        self.setWindowTitle(TITLE)
        self.setAccessibleName(TITLE)
        resize_within_screen(self, *SIZE)
        self.table = ParameterTable(self)
        rows = vbox(self)
        rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        rows.addWidget(self.table)
        QShortcut(Qt.Key.Key_Escape, self, self.close)

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """Open the menu of the focused widget with Shift+F10; called by Qt."""
        if not open_by_key(pressed):
            super().keyPressEvent(pressed)


class ProgramParameters(QObject):
    """Opens the window for the program's parameters, and updates it while it is visible."""

    def __init__(
        self,
        session: Session,
        owner: QWidget,
        look: Theming,
        select: Callable[[ParameterRow], None],
    ) -> None:
        super().__init__(owner)
        self._session, self._owner, self._look, self._select = session, owner, look, select
        self.window: ParameterWindow | None = None
        session.tape_changed.connect(self._update)
        session.moved.connect(self._update)

    def show(self) -> None:
        """Show the window, or raise it."""
        if self.window is None:
            self.window = ParameterWindow(self._owner)
            self.window.table.picked.connect(self._pick)
            self._look.add(self.window.table)
        self.window.show()
        bring_to_front(self.window)
        self._update()

    def _update(self) -> None:
        if self.window is not None and self.window.isVisible():
            position = self._session.view.position
            self.window.table.set_rows(parameter_rows(self._session.result.tape, position))

    def _pick(self, name: str) -> None:
        assert self.window is not None
        row = next((row for row in self.window.table.model.rows if row.name == name), None)
        if row is not None:
            self._select(row)
