"""A real window in a process of its own that trains by itself and says how far it has come.

``python -m tests.app.trainee train`` trains for ever and forks now and then: on standard output a
line with the number of runs, the driven one's step, its last loss and when that was told.
``… revive`` goes on with what the window before left by a click, trains it ten steps further, says
where it stood at first and in the end, and ends; “over” stands behind it where no run can go on.
"""

import sys
import time

import msgspec
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from gradscribe.app.training.session.state import DEFAULT_SETUP
from gradscribe.app.window import startup
from gradscribe.app.window.window import Window
from gradscribe.engine.protocol.setup import Part
from tests.app.orphans import end_with_parent

SETUP = msgspec.structs.replace(DEFAULT_SETUP, optimizer=Part("sgd", {"lr": 0.1}))
FORK_EVERY_S = 3
LOOK_MS = 20


class Trainee:
    """Trains, and forks."""

    def __init__(self, window):
        self.session, self.forked = window.workspaces.session, time.monotonic()
        window.workspaces.show_workspace("training")
        self.session.store.setup = SETUP
        self.session.store.state_changed.connect(self.tell)
        self.session.controller.begin(play=True)

    def tell(self, run):
        """Say how far the driven run is; now and then make another of it."""
        if run is not self.session.run:
            return
        loss = run.curve("loss")
        if loss.last:
            number = float(loss.numbers()[-1]).hex()
            say(len(self.session.runs), int(loss.last), number, time.monotonic())
        if time.monotonic() - self.forked > FORK_EVERY_S:
            self.forked = time.monotonic()
            self.session.controller.fork()
            self.session.controller.play()


class Reviver:
    """Waits for the offer, takes it, and sees whether the run goes on."""

    def __init__(self, window):
        self.window, self.session = window, window.workspaces.session
        self.wanted, self.taken = 0, False
        self.timer = QTimer(window)
        self.timer.setInterval(LOOK_MS)
        self.timer.timeout.connect(self.look)
        self.timer.start()

    def look(self):
        """Do the next thing that can be done."""
        run = self.session.run
        if not self.taken:
            for button in self.window.notices.findChildren(QPushButton):
                if button.text() == "Continue" and button.isVisible():
                    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
                    self.taken = True
        elif run is not None and run.alive and run.state is not None:
            if not self.wanted:
                self.wanted = run.step + 10
                say(len(self.session.runs), run.step)
                self.session.controller.advance(10)
            elif run.step == self.wanted and run.curve("loss").last == self.wanted:
                self.end()
        elif run is not None and not run.alive:
            self.end("over")

    def end(self, *words):
        """Say where it stands, and end."""
        say(len(self.session.runs), self.session.run.step, *words)
        self.timer.stop()
        self.window.close()


def say(*words):
    """Write one line at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(what):
    """Open the window as the program does, and do what is asked for in it."""
    application = startup.make_app(["trainee"])
    end_with_parent(application)
    held = []

    def begin():
        window = next(one for one in application.topLevelWidgets() if isinstance(one, Window))
        held.append((Trainee if what == "train" else Reviver)(window))

    QTimer.singleShot(0, QApplication.instance(), begin)
    sys.exit(startup.open_window())


if __name__ == "__main__":
    main(sys.argv[1])
