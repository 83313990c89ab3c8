"""The dialog that asks where PyTorch is to come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from gradscribe.app.link.python_search import FoundPython
from gradscribe.app.link.torch_install import InstallPlan, amount
from gradscribe.playback.translation import tr

WIDTH = 520
MOST_PYTHONS = 4
"""Most Pythons that are listed, the nearest first; others are chosen as files."""


@dataclass(frozen=True)
class TorchChoice:
    """The answer: an installation, or a Python that has PyTorch."""

    plan: InstallPlan | None = None
    python: str = ""
    """The path of its executable."""


class TorchDialog(QDialog):
    """Asks for a way to PyTorch: an installation with its size, or a Python that was found."""

    def __init__(self, parent: QWidget | None, pythons: Sequence[FoundPython] = ()) -> None:
        """``pythons``: those with PyTorch, the nearest first."""
        super().__init__(parent)
        self.setWindowTitle(tr("Set up PyTorch"))
        self.setMinimumWidth(WIDTH)
        self._parent, self._wheels, self._python = "", "", ""
        self._layout = QVBoxLayout(self)
        about = QLabel(tr("Programs run in a Python with PyTorch, apart from the window."), self)
        about.setWordWrap(True)
        self._layout.addWidget(about)
        self._ways = QButtonGroup(self)
        self._found: dict[QRadioButton, str] = {}
        for python in pythons[:MOST_PYTHONS]:
            self._found[self._add(_python_title(python), python.path)] = python.path
        self.cpu = self._add(_install_title(InstallPlan()))
        self.gpu = self._add(_install_title(InstallPlan(gpu=True)))
        self.offline = self._add(tr("Install from a folder of wheels, without a network…"))
        self.other = self._add(tr("Use another Python…"))
        self._add_folder()
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel, self)
        self.buttons.button(kinds.Ok).setText(tr("Set up"))
        self.buttons.button(kinds.Cancel).setText(tr("Not now"))
        self._layout.addWidget(self.buttons)
        self.buttons.accepted.connect(self._agree)
        self.buttons.rejected.connect(self.reject)
        self._ways.buttonToggled.connect(self._show_folder)
        next(iter((*self._found, self.cpu))).setChecked(True)

    def ask(self) -> TorchChoice | None:
        """Show it; return the answer, or None."""
        agreed = self.exec()
        answer = self.answer()
        self.deleteLater()
        return answer if agreed else None

    def answer(self) -> TorchChoice | None:
        """Return the way that is chosen; None if it lacks a file or a folder."""
        chosen = self._ways.checkedButton()
        if isinstance(chosen, QRadioButton) and chosen in self._found:
            return TorchChoice(python=self._found[chosen])
        if chosen is self.other:
            return TorchChoice(python=self._python) if self._python else None
        if chosen is self.offline and not self._wheels:
            return None
        return TorchChoice(self._plan())

    def choose_folder(self, folder: str) -> None:
        """Install into this folder."""
        self._parent = folder
        self._show_folder()

    def choose_wheels(self, folder: str) -> None:
        """Install from the wheels in this folder."""
        self._wheels = folder

    def choose_python(self, path: str) -> None:
        """Use this Python."""
        self._python = path

    def _plan(self) -> InstallPlan:
        is_offline = self.offline.isChecked()
        wheels = self._wheels if is_offline else ""
        return InstallPlan(self._parent, self.gpu.isChecked(), wheels)

    def _add(self, title: str, tip: str = "") -> QRadioButton:
        button = QRadioButton(title, self)
        button.setToolTip(tip)
        self._ways.addButton(button)
        self._layout.addWidget(button)
        return button

    def _add_folder(self) -> None:
        row = QHBoxLayout()
        self.folder = QLabel(self)
        self.folder.setWordWrap(True)
        self.change = QPushButton(tr("Other folder…"), self)
        self.change.setAutoDefault(False)
        self.change.clicked.connect(self._ask_folder)
        row.addWidget(self.folder, 1)
        row.addWidget(self.change)
        self._layout.addLayout(row)

    def _show_folder(self) -> None:
        installs = self._ways.checkedButton() in (self.cpu, self.gpu, self.offline)
        self.folder.setText(tr("Folder {path}", path=self._plan().folder) if installs else "")
        self.change.setEnabled(installs)

    def _ask_folder(self) -> None:
        start = str(Path(self._parent or Path.home()))
        title = tr("Choose a folder for PyTorch")
        if chosen := QFileDialog.getExistingDirectory(self, title, start):
            self.choose_folder(chosen)

    def _agree(self) -> None:
        """Ask for the file or the folder that the chosen way needs, then close."""
        if self.offline.isChecked() and not self._wheels:
            title = tr("Choose a folder of wheels")
            self.choose_wheels(QFileDialog.getExistingDirectory(self, title, str(Path.home())))
        if self.other.isChecked() and not self._python:
            title, pattern = tr("Choose a Python"), tr("Python (python*);;All files (*)")
            chosen, _ = QFileDialog.getOpenFileName(self, title, str(Path.home()), pattern)
            self.choose_python(chosen)
        if self.answer() is not None:
            self.accept()


def _install_title(plan: InstallPlan) -> str:
    sizes = {"download": amount(plan.download_mb), "disk": amount(plan.size_mb)}
    if plan.gpu:
        return tr(
            "Install it for the graphics card: {download} to download, {disk} on the disk", **sizes
        )
    return tr("Install it for the CPU: {download} to download, {disk} on the disk", **sizes)


def _python_title(python: FoundPython) -> str:
    parts = {"name": python.name, "version": python.version or "3", "torch": python.torch}
    return tr("Use {name}: Python {version}, torch {torch}", **parts)
