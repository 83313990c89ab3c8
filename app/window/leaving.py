"""The question of a window that closes while an engine on another machine trains."""

from typing import Literal

from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from gradscribe.app.training.session.session import TrainSession
from gradscribe.playback.translation import tr

Answer = Literal["leave", "end", "cancel"]


class LeavingQuestion:
    """Asks whether training on another machine is to go on without the window."""

    def __init__(self, window: QWidget, training: TrainSession) -> None:
        self._window, self._training = window, training
        self.asks = True
        """False where nobody can answer: what runs goes on."""

    def settle(self) -> bool:
        """Return whether the window may close; the engine is left or ended with it."""
        link = self._training.link
        far = link.far if self._training.controller.plays else None
        if far is None:
            return True
        answer = self.ask(far.place) if self.asks else "leave"
        link.leaves = answer == "leave"
        return answer != "cancel"

    def ask(self, place: str) -> Answer:
        """Ask; ``place``: the machine as the user names it."""
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Gradscribe")
        box.setText(tr("Training is under way on {place}", place=place))
        box.setInformativeText(
            tr("Left running, it goes on for up to three days; the next start offers it again.")
        )
        roles = QMessageBox.ButtonRole
        answers: dict[QPushButton, Answer] = {
            box.addButton(tr("Leave it running"), roles.AcceptRole): "leave",
            box.addButton(tr("End it"), roles.DestructiveRole): "end",
        }
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(next(iter(answers)))
        box.setEscapeButton(cancel)
        box.exec()
        chosen = box.clickedButton()
        box.deleteLater()
        return next((answer for button, answer in answers.items() if button is chosen), "cancel")

    def close_quietly(self) -> None:
        """Close the window without a question, as at the end of a session."""
        self.asks = False
        self._window.close()
