"""The rooms of the window: the program's page, and the training room once it is first opened."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.documents import Refused
from app.theming import Look
from app.training.link import TrainLink
from app.training.revival import Revival
from app.training.saving import Saving
from app.training.session import TrainSession
from app.training.state import TrainEngine
from engine.training import Exported, StepTape
from widgets.workspaces import WorkspaceSwitch


class Workspaces(QObject):
    """Shows one room at a time; the training room's widgets and engine are made when needed."""

    entered = Signal(str)
    commanded = Signal(str)
    """A button of the training room stands for the command of that id."""
    taped = Signal(object)
    exported = Signal(object)
    said = Signal(str)

    def __init__(
        self,
        page: QWidget,
        switch: WorkspaceSwitch,
        look: Look,
        make_link: Callable[[], TrainEngine] = TrainLink,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._look, self._switch = look, switch
        self.stack = QStackedWidget()
        self.stack.addWidget(page)
        link = make_link()
        self.session = TrainSession(link, self)
        self.saving = Saving(self.session, link, self)
        self.saving.said.connect(self.said)
        self.revival = Revival(self.session, link, self)
        self.revival.said.connect(self.said)
        self._room: QWidget | None = None
        self.room = "program"
        switch.picked.connect(self.show_room)

    def show_room(self, name: str) -> None:
        """Go to ``program`` or ``training``."""
        if name == "training" and self._room is None:
            self._make()
        self.room = name
        room = self._room
        self.stack.setCurrentIndex(1 if name == "training" else 0)
        self._switch.show_room(name)
        if room is not None:
            self.showing.set_visible(name == "training")
            self.widgets.bar.switch.show_room(name)
            if name == "training":
                self.session.open()
                self.widgets.bar.setFocus(Qt.FocusReason.OtherFocusReason)
        self.entered.emit(name)

    def _make(self) -> None:
        # Here and not above: the plots cost time that the first paint of the program need not pay.
        from app.training.room import TrainingRoom
        from app.training.showing import TrainShowing

        self.widgets = TrainingRoom()
        self._room = self.widgets
        self.showing = TrainShowing(self.session, self.widgets, self)
        self.stack.addWidget(self.widgets)
        self.widgets.bar.switch.picked.connect(self.show_room)
        self.widgets.bar.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.showing.commanded.connect(lambda name: self.commanded.emit(COMMANDS[name]))
        self.session.taped.connect(self._tape)
        self.session.exported.connect(self._export)
        self.session.said.connect(self.said)
        self._look.add(*self.widgets.themed())
        self._look.changed.connect(self.showing.follow)
        self.showing.follow(self._look.theme())

    def _tape(self, message: StepTape) -> None:
        self.taped.emit(message)

    def _export(self, message: Exported) -> None:
        if message.problem is not None:
            self.said.emit(message.problem.message)
        else:
            self.exported.emit(message)

    def draw(self, path: str) -> bool:
        """Write what is seen of the training room to a PNG file."""
        if self._room is None:
            raise Refused("The training room has not been opened yet")
        return self._room.grab().save(path, "PNG")

    def close(self) -> None:
        """End the training engine."""
        if self._room is not None:
            self.showing.live.close()
        self.revival.close()
        self.session.close()


COMMANDS = {
    "play": "play.toggle",
    "step": "play.step",
    "reset": "play.reset",
    "line": "train.line",
    "fork": "train.fork",
    "new_weights": "train.new_weights",
    "new_data": "train.new_data",
    "tape": "train.tape",
    "export_script": "train.export_script",
    "export_csv": "train.export_csv",
    "export_weights": "train.export_weights",
    "export_picture": "train.export_picture",
}
"""Buttons of the training room and the commands that they stand for."""
