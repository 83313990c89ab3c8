"""Acts of a user in a window: type, click, run, play, train, learn, open files, change theme."""

import random

from msgspec.structs import replace
from PySide6.QtCore import QEventLoop, QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QSlider

from gradscribe.app.commands import learn
from gradscribe.app.document import examples
from gradscribe.app.lessons import catalogue as lessons_catalogue
from gradscribe.app.ui.popup import PopupCard
from gradscribe.engine.protocol.setup import Part

SNIPPETS = (
    "print('hello', x)\n",
    "y = x * 2\n",
    "for i in range(200):\n    print(i)\n",
    "loss = (torch.randn(64, 64) @ torch.randn(64, 64)).sum()\n",
    "w = param(torch.randn(32, 32))\n(w @ w).tanh().sum().backward()\n",
    "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))\nnet(torch.randn(3, 4))\n",
    "while True: pass\n",
    "while True: print('again and again')\n",
    "raise ValueError('no')\n",
    "import os; os._exit(3)\n",
    "import os; os.kill(os.getpid(), 11)\n",
    "def f(n): return f(n + 1)\nf(0)\n",
    "import threading\nthreading.Thread(target=input).start()\n",
    "z = torch.empty(10**14)\n",
    "(",
    "'",
    "🙂 = 1\n",
)
KEYS = (
    Qt.Key.Key_Return,
    Qt.Key.Key_Backspace,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_End,
    Qt.Key.Key_Home,
    Qt.Key.Key_Tab,
)
FILES = {
    "small.py": "x = param(3.0)\n(x * x).backward()\n",
    "line.py": f"x = param(2.0)  # {'long ' * 200_000}\n(x * x).backward()\n",
    "tall.py": "".join(f"a{i} = {i} + torch.ones(2)\n" for i in range(2_000)),
    "ops.py": "x = param(1.0)\nfor i in range(5_000):\n    x = x * 1.0001\nx.backward()\n",
    "deep.py": "print(" + "(" * 2_000 + ")" * 2_000 + ")\n",
    "prints.py": "for i in range(100_000):\n    print(i)\n",
    "binary.py": "\0\1\2",
    "spoilt.gradscribe": "gradscribe-session 1 99 0\n{}\n",
    "later.gradscribe": "gradscribe-session 99 0 0\n",
    "own.csv": "a,b,c\n" + "".join(f"{i},{i * i},{i % 2}\n" for i in range(500)),
}
WRITES = ("file.export_", "file.copy_picture", "file.save_session", "train.export_")
"""Commands, by how they begin, that write a file or copy a picture."""
LEFT_OUT = ("file.quit", "run.restart", "file.export", "edit.")
"""Commands, by how they begin, that would end the soak or have their own turn in it."""


class Hands:
    """One pair of hands, at one window. ``home`` is a folder for the files that are opened."""

    def __init__(self, window, seed, home):
        self.window, self.dice, self.home = window, random.Random(seed), home
        home.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (home / name).write_text(text)
        # A dialog of the system's would wait for somebody.
        window.context.dialogs.ask_open = lambda *_: home / self.dice.choice(tuple(FILES))
        window.context.dialogs.ask_save = lambda *_: home / f"written-{self.dice.randrange(3)}"
        window.context.dialogs.ask_number = lambda *_: self.dice.randrange(100)
        self.acts = (
            *(self.type, self.type, self.press, self.click, self.click, self.scrub, self.example),
            *(self.undo, self.drag, self.look_around, self.card, self.command, self.command),
            *(self.train, self.train, self.retrain, self.visit, self.open, self.lesson, self.lab),
            *(self.export, self.compare),
        )

    def next(self):
        """Return what is done next."""
        rare = self.dice.random()
        if rare < 0.01:
            return self.theme
        return self.kill if rare < 0.015 else self.dice.choice(self.acts)

    def rest(self, ms):
        """Let the event loop turn."""
        loop = QEventLoop()
        QTimer.singleShot(ms, loop.quit)
        loop.exec()

    # The program

    def type(self):
        """Type a line, or paste a snippet."""
        editor = self.window.editor
        editor.setFocus()
        if self.dice.random() < 0.5:
            for key in f"v{self.dice.randrange(9)} = {self.dice.random():.3f}":
                QTest.keyClick(editor, key)
                self.rest(0)
        else:
            editor.insertPlainText(self.dice.choice(SNIPPETS))

    def press(self):
        """Press a key in the program."""
        QTest.keyClick(self.window.editor, self.dice.choice(KEYS))

    def undo(self):
        """Take back and make again."""
        for _ in range(self.dice.randrange(1, 6)):
            self.dice.choice((self.window.editor.undo, self.window.editor.redo))()
            self.rest(0)

    def drag(self):
        """Change a number many times, as a slider does."""
        for _ in range(10):
            self.window.session.edit_live(f"x = param({self.dice.random()})\n(x * x).backward()\n")
            self.rest(2)

    def example(self):
        """Start from an example."""
        self.window.context._start_from(self.dice.choice(examples.load()))

    def open(self):
        """Drop a file on the window, and perhaps say that it may run."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(self.home / self.dice.choice(tuple(FILES))))])
        no_button = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        drop = QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, *no_button)
        self.window.dropEvent(drop)
        self.rest(50)
        if self.dice.random() < 0.7:
            self.window.session.run_now()

    # The window

    def click(self):
        """Click on the graph, a button, an axis or the transport."""
        window, dice = self.window, self.dice
        buttons = [one for one in window.findChildren(QAbstractButton) if one.isVisible()]
        # A dialog of files would stay for ever: nobody is there to answer it.
        buttons = [one for one in buttons if one.text() != "Browse…"]
        places = [window.graph, window.transport, window.editor.viewport(), *buttons]
        if window.workspaces.current == "training":
            widgets = window.workspaces.widgets
            places += [widgets.axis, widgets.boundary, widgets.table, widgets.loss]
        target = dice.choice([one for one in places if one.isVisible()] or [window])
        at = QPoint(dice.randrange(max(1, target.width())), dice.randrange(max(1, target.height())))
        QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=at)

    def scrub(self):
        """Play, pause, step, rewind."""
        clock = self.window.clock
        act = self.dice.choice((clock.toggle, clock.step, clock.back, clock.reset, clock.to_end))
        act()
        if clock.length:
            clock.seek(self.dice.randrange(clock.length + 1))

    def look_around(self):
        """Select a card, resize, turn to another tab."""
        window, dice = self.window, self.dice
        cards = window.presenter.picture.cards
        if cards:
            window.session.select(dice.choice(cards).key)
            # No hand is so quick that a click and a drag of the window's edge are one turn.
            self.rest(0)
        window.resize(dice.randrange(1000, 1500), dice.randrange(640, 950))
        for tabs in (window.below, window.tables):
            # No hand is so quick that two clicks are one turn of the event loop.
            self.rest(0)
            tabs.setCurrentIndex(dice.randrange(tabs.count()))

    def theme(self):
        """Change the theme, or the size of the text."""
        if self.dice.random() < 0.5:
            self.window.settings.put("theme", self.dice.choice(("light", "dark")))
        else:
            self.window.settings.put("text", self.dice.choice((0.9, 1.0, 1.2)))

    def card(self):
        """Open palette, gallery, list of lessons or a page of help, and leave it."""
        window = self.window
        act = self.dice.choice(
            (window.context.show_palette, window.context.show_examples, window.context.show_lessons)
        )
        act()
        self.rest(10)
        self._leave_cards()

    def command(self):
        """Give a command that can be given now."""
        menus = self.window.menus
        can = [
            one.id
            for one in menus._commands
            if one.when(self.window.context) and not one.id.startswith(LEFT_OUT) and not one.choices
        ]
        menus.perform_by(self.dice.choice(can))
        self.rest(20)
        self._leave_cards()
        for popup in (QApplication.activePopupWidget(), QApplication.activeModalWidget()):
            if popup is not None:
                popup.close()

    def export(self):
        """Write a picture, a film, a tape, a script, weights or a session; perhaps give it up."""
        can = [
            one.id
            for one in self.window.menus._commands
            if one.id.startswith(WRITES) and one.when(self.window.context)
        ]
        if can:
            self.window.menus.perform_by(self.dice.choice(can))
            self.rest(self.dice.choice((0, 50, 400)))
            if self.window.export_queue.busy and self.dice.random() < 0.3:
                self.window.menus.perform_by("file.cancel_film")

    def compare(self):
        """Keep a run, change something, put the two side by side, and leave them."""
        self._enter("program")
        for name in ("compare.keep", "compare.show"):
            command = next(one for one in self.window.menus._commands if one.id == name)
            if command.when(self.window.context):
                self.window.menus.perform_by(name)
            self.rest(self.dice.choice((10, 150)))
        self._leave_cards()

    def _leave_cards(self):
        for one in self.window.findChildren(PopupCard):
            one.leave()

    def kill(self):
        """End an engine from outside, as a machine without memory does."""
        training = self.window.workspaces.session._link
        engines = (self.window._link._engine, getattr(training, "_engine", None))
        for engine in engines:
            if engine is not None and self.dice.random() < 0.5:
                engine._kill()

    # The other rooms

    def _enter(self, room):
        self.window.workspaces.show_workspace(room)
        self.rest(0)

    def visit(self):
        """Go to the other room."""
        self.window.workspaces.show_workspace(
            "training" if self.window.workspaces.current == "program" else "program"
        )

    def train(self):
        """Train, pause, make a step, rewind, branch off, look at another page."""
        window, dice = self.window, self.dice
        self._enter("training")
        session = window.workspaces.session
        controller = session.controller
        step = session.run.step if session.run is not None else 0
        deeds = (
            *(
                controller.play,
                controller.play,
                controller.pause,
                controller.back,
                controller.next_event,
            ),
            *(
                controller.go_to_furthest,
                controller.reset,
                controller.ask_tape,
                controller.undo,
                controller.redo,
            ),
            lambda: controller.fork() if dice.random() < 0.3 else None,
            lambda: controller.advance(dice.randrange(1, 300)),
            lambda: controller.rewind(dice.randrange(step + 1)),
            lambda: controller.set_rate(dice.choice((0.0, 1.0, 30.0, 500.0))),
            lambda: controller.select(dice.choice(session.runs).run_id) if session.runs else None,
        )
        dice.choice(deeds)()
        # Nobody turns to a page that is not there yet; asked for, the room would be made at once.
        while not window.workspaces.is_whole:
            self.rest(5)
        widgets = window.workspaces.widgets
        for tabs in (widgets.says, widgets.below, widgets.numbers):
            # No hand is so quick that two clicks are one turn of the event loop.
            self.rest(0)
            tabs.setCurrentIndex(dice.randrange(tabs.count()))
        self.rest(dice.choice((10, 200, 800)))

    def retrain(self):
        """Change the setup of the run, sensibly or not."""
        window, dice = self.window, self.dice
        self._enter("training")
        session, catalogue = window.workspaces.session, window.workspaces.session.store.catalogue
        if catalogue is None:
            return
        kind = dice.choice(("data", "model", "optimizer", "schedule", "batch", "lr", "widget"))
        setup = session.setup
        if kind == "widget":
            form = window.workspaces.widgets.form
            found = [one for one in form.findChildren(QComboBox) if one.isVisible()]
            found += [one for one in form.findChildren(QSlider) if one.isVisible()]
            found += [one for one in form.findChildren(QLineEdit) if one.isVisible()]
            if found:
                QTest.keyClick(dice.choice(found), dice.choice((Qt.Key.Key_Down, Qt.Key.Key_9)))
            return
        if kind == "batch":
            setup = replace(setup, batch=dice.choice((0, 1, 8, 64, 10**9)))
        elif kind == "lr":
            setup = replace(setup, optimizer=Part("sgd", {"lr": dice.choice((0.01, 1.0, 1e6))}))
        else:
            names = [one.name for one in catalogue.entries if one.kind == kind]
            options = {"path": str(self.home / "own.csv")} if kind == "data" else {}
            name = dice.choice(names or ["none"])
            setup = replace(setup, **{kind: Part(name, options if name == "csv" else {})})
        session.controller.change(setup)
        self.rest(100)

    def lesson(self):
        """Open a lesson, go through some of it, perhaps leave it."""
        window, dice = self.window, self.dice
        self._enter("program")
        if window.context.lessons.lesson is None:
            chosen = dice.choice(lessons_catalogue.summaries())
            learn.open_lesson(window.context, lessons_catalogue.builtin(chosen.file))
        for _ in range(dice.randrange(5)):
            pane = window.lesson_dock.pane
            dice.choice(
                (
                    window.context.lessons.next,
                    window.context.lessons.back,
                    window.context.lessons.restore,
                )
            )()
            self.rest(30)
            pane.hint_pressed.emit()
            pane.reveal_pressed.emit()
            self.rest(30)
        if dice.random() < 0.5:
            window.context.lessons.leave()

    def lab(self):
        """Open the shape lab on a selected op or on a start, and leave it."""
        window = self.window
        self._enter("program")
        window.context.show_lab(self.dice.choice(("", window.context.selected_lines())))
        self.rest(self.dice.choice((10, 300)))
        self._leave_cards()
