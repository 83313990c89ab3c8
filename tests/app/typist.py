"""A real window in a process of its own that types by itself and says what it has typed.

``python -m tests.app.typist type`` types for ever: on standard output a line with the number of
each edit and when it was made. ``… tell`` prints the text that the window opens with, and ends.
"""

import sys
import time

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

import gradscribe.app.link.client
from gradscribe.app.window import startup
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeLink
from tests.app.orphans import end_with_parent


class Idle(FakeLink):
    """An engine that takes everything and answers nothing: none is needed to type."""

    def __init__(self, spare=False):
        super().__init__()


class Typist:
    """Appends 0, 1, 2 … to the program, now and then with a detour by way of undo."""

    def __init__(self, window):
        self.window, self.number = window, 0
        window.session.load(type(window.session.doc)())
        self.timer = QTimer(window)
        self.timer.setInterval(7)
        self.timer.timeout.connect(self.type)
        self.timer.start()

    def type(self):
        """Make one edit and tell of it."""
        editor = self.window.editor
        editor.insertPlainText(f"{self.number} ")
        if self.number % 10 == 9:
            editor.insertPlainText("\n")
            editor.undo()
            editor.redo()
        sys.stdout.write(f"{self.number} {time.monotonic()}\n")
        sys.stdout.flush()
        self.number += 1


def main(what):
    """Open the window as the program does, and do what is asked for in it."""
    gradscribe.app.link.client.Link = Idle
    application = startup.make_app(["typist"])
    end_with_parent(application)
    held = []

    def begin():
        window = next(one for one in application.topLevelWidgets() if isinstance(one, Window))
        if what == "type":
            held.append(Typist(window))
        else:
            sys.stdout.write(f"{window.editor.source()}\0{window.editor.history.done}")
            sys.stdout.flush()
            window.close()

    QTimer.singleShot(0, QApplication.instance(), begin)
    sys.exit(startup.open_window())


if __name__ == "__main__":
    main(sys.argv[1])
