"""The dialog that asks for a machine and a Python on it."""

from collections.abc import Callable

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from gradscribe.app.link.remote import address as addresses
from gradscribe.app.link.remote import ssh_command
from gradscribe.app.link.remote.address import SCHEME, Address, BadAddress
from gradscribe.app.link.remote.ssh_hosts import configured_hosts
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

WIDTH = 460
RESOLVE_MS = 200
"""Pause in typing after which ssh is asked what it understands by the name."""


class MachineDialog(QDialog):
    """Asks for a machine, one of the ssh configuration or another, and for the Python there."""

    def __init__(self, parent: QWidget | None, address: str = "") -> None:
        """``address``: the one that is chosen so far, if any."""
        super().__init__(parent)
        self.setWindowTitle(tr("Engine on another machine"))
        self.setMinimumWidth(WIDTH)
        self.machine = QComboBox(self)
        self.machine.setEditable(True)
        self.machine.addItems(configured_hosts())
        self.python = QLineEdit(addresses.DEFAULT_PYTHON, self)
        self.python.setPlaceholderText("~/venv/bin/python")
        self.line = QLabel(self)
        self.line.setWordWrap(True)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel, self)
        self._fill(address)
        layout = QFormLayout(self)
        layout.addRow(tr("Machine"), self.machine)
        layout.addRow(tr("Python there"), self.python)
        layout.addRow(self.line)
        layout.addRow(self.buttons)
        self._worker = BackgroundWorker(self)
        self._later = single_shot(self, self._resolve, RESOLVE_MS)
        self.machine.currentTextChanged.connect(self._check)
        self.python.textChanged.connect(self._check)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._check()

    def ask(self) -> str | None:
        """Show it; return the chosen address, or None."""
        agreed = self.exec()
        self._later.stop()
        self._worker.close()
        chosen = self.address()
        self.deleteLater()
        return chosen.url if agreed and chosen is not None else None

    def address(self) -> Address | None:
        """Return the address in its fields; None if they hold none."""
        try:
            return self._parsed()
        except BadAddress:
            return None

    def _fill(self, address: str) -> None:
        if not address:
            return
        known = addresses.parse(address)
        self.machine.setEditText(known.place)
        self.python.setText(known.python)

    def _parsed(self) -> Address:
        machine = self.machine.currentText().strip().removeprefix(SCHEME)
        python = self.python.text().strip()
        return addresses.parse(f"{SCHEME}{machine}/{python.removeprefix('/')}")

    def _check(self) -> None:
        """Say what is wrong, or what ssh understands by the machine's name."""
        ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        try:
            self._parsed()
            ok.setEnabled(True)
            self._later.start()
        except BadAddress as problem:
            ok.setEnabled(False)
            named = self.machine.currentText().strip()
            self.line.setText(str(problem) if named else tr("Name a machine that ssh can reach"))

    def _resolve(self) -> None:
        address = self.address()
        if address is None:
            return

        def take(result: Callable[[], dict[str, str]]) -> None:
            if self.address() == address:
                self.line.setText(_connection_line(address, result()))

        self._worker.submit(lambda: ssh_command.resolved(address.host), take)


def _connection_line(address: Address, found: dict[str, str]) -> str:
    """Return what ssh connects to, in a line."""
    if not found:
        return tr("There is no ssh here: install the OpenSSH client")
    user = address.user or found.get("user", "")
    port = address.port or found.get("port", "22")
    return tr(
        "ssh connects to {user}@{get}, port {port}",
        user=user,
        get=found.get("hostname", address.host),
        port=port,
    )
