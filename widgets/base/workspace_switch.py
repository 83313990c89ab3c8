"""The switch between the workspaces of the window."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.stylesheet import set_sheet

WORKSPACES = {
    "program": (tr("Program"), tr("Write a program and see its graph (Ctrl+Alt+1)")),
    "training": (tr("Training"), tr("Train a small model live (Ctrl+Alt+2)")),
}


class WorkspaceSwitch(QFrame):
    """A checkable button per workspace, with the current one checked."""

    picked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Workspace"))
        self.buttons: dict[str, QPushButton] = {}
        self._group = QButtonGroup(self)
        row = hbox(self, spacing=3)
        for name, (title, tip) in WORKSPACES.items():
            button = self.buttons[name] = QPushButton(title)
            button.setCheckable(True)
            set_sheet(button, "padding-left: 9px; padding-right: 9px;")
            button.setToolTip(tip)
            button.setAccessibleDescription(tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, name=name: self.picked.emit(name))
            self._group.addButton(button)
            row.addWidget(button)
        self.show_workspace("program")

    def show_workspace(self, name: str) -> None:
        """Check the button of that workspace."""
        self.buttons[name].setChecked(True)
