"""Modal dialogs that ask for a file, a number or a text."""

import os
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QInputDialog, QLineEdit, QWidget

from gradscribe.app.document.session import Session


class Dialogs:
    """The dialogs over one window; file dialogs begin in the folder of the previous one."""

    def __init__(self, window: QWidget, session: Session) -> None:
        self._window, self._session = window, session
        self._chosen_folder: Path | None = None

    def ask_open(self, title: str, pattern: str) -> Path | None:
        """Let the user choose a file to open."""
        chosen, _ = QFileDialog.getOpenFileName(self._window, title, str(self._folder()), pattern)
        return self._keep_folder(chosen)

    def ask_save(self, title: str, name: str, pattern: str) -> Path | None:
        """Let the user choose where to write a file."""
        start = str(self._folder() / name)
        chosen, _ = QFileDialog.getSaveFileName(self._window, title, start, pattern)
        return self._keep_folder(chosen)

    def ask_folder(self, title: str) -> Path | None:
        """Let the user choose a folder to write files to."""
        chosen = QFileDialog.getExistingDirectory(self._window, title, str(self._folder()))
        if not chosen:
            return None
        self._chosen_folder = Path(chosen)
        return self._chosen_folder

    def suggest(self, name: str) -> Path:
        """Return a file of that name in the folder in which a dialog would begin."""
        return self._folder() / name

    def ask_number(self, title: str, value: int) -> int | None:
        """Let the user change a whole number."""
        limits = 0, 2**31 - 1
        number, agreed = QInputDialog.getInt(self._window, "Gradscribe", title, value, *limits)
        return number if agreed else None

    def ask_text(self, title: str, text: str) -> str | None:
        """Let the user change a line of text."""
        edit = QLineEdit.EchoMode.Normal
        changed, agreed = QInputDialog.getText(self._window, "Gradscribe", title, edit, text)
        return changed.strip() if agreed else None

    def ask_machine(self, address: str) -> str | None:
        """Let the user choose a machine and a Python there; return its address."""
        from gradscribe.app.ui.machine_dialog import MachineDialog

        return MachineDialog(self._window, address).ask()

    def _folder(self) -> Path:
        """Return a file dialog's folder: that of the last one, else the program's."""
        path = self._session.doc.path
        known = self._chosen_folder or (Path(path).parent if path else Path.home())
        return known if os.path.isdir(known) else Path.home()

    def _keep_folder(self, chosen: str) -> Path | None:
        if not chosen:
            return None
        self._chosen_folder = Path(chosen).parent
        return Path(chosen)
