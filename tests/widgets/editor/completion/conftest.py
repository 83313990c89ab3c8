"""An editor in a wide window, with names of a last run and of torch, and what it asked."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from gradscribe.engine.language.catalogue import read_torch
from gradscribe.engine.protocol.language import Complete, Describe, Explain, Locate
from gradscribe.playback.completion.live_names import LiveName
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.code_edit import CodeEdit

PROGRAM = """\
x = torch.randn(16, 8)
net = nn.Linear(8, 3)
loss = net(x).sum()
def helper(first, second=2):
    return first
"""
LIVE = {
    "x": LiveName("tensor", "16 × 8"),
    "net": LiveName("module", "Linear 8 → 3"),
    "net.weight": LiveName("tensor", "3 × 8"),
    "loss": LiveName("tensor", "scalar"),
}


@pytest.fixture(scope="session")
def torch_names():
    return read_torch().owners


class Typist:
    """The editor as a user sees it: keys in, list and signature out."""

    def __init__(self, qtbot, edit):
        self.qtbot, self.edit = qtbot, edit
        self.help = edit.assistance
        self.asked, self.said = [], []
        self.help.requested.connect(self.asked.append)
        self.help.said.connect(self.said.append)

    def type(self, text):
        """Type letters one by one, and let the program follow."""
        for letter in text:
            self.send(letter)
            self.settle()

    def send(self, letter, key=0):
        """Type a letter, or press a key, and let nothing follow: the window is busy."""
        # Not keyClicks, which ends the process on letters that are no ASCII.
        for kind in (QKeyEvent.Type.KeyPress, QKeyEvent.Type.KeyRelease):
            event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, letter)
            QCoreApplication.sendEvent(self.edit, event)

    def press(self, *keys, **more):
        for key in keys:
            self.qtbot.keyClick(self.edit, key, **more)
        self.settle()

    def settle(self):
        self.qtbot.waitUntil(lambda: not self.help._turn.isActive())

    def put(self, source):
        """Begin with a text, the caret behind it."""
        self.edit.set_source(source, fresh=True)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.settle()

    @property
    def is_open(self):
        assert self.help.completion.is_open == self.help.completion.list.isVisible()
        return self.help.completion.is_open

    @property
    def names(self):
        return [one.name for one in self.help.completion.list.candidates()]

    @property
    def selected(self):
        return self.help.completion.list.current().name

    @property
    def about(self):
        return self.help.completion.list.about.text()

    @property
    def signature(self):
        """The words of the signature that is shown, empty if there is none."""
        from PySide6.QtGui import QTextDocument

        if not self.help.call_help.is_open:
            return ""
        assert self.help.call_help.tip.isVisible()
        page = QTextDocument()
        page.setHtml(self.help.call_help.tip.text())
        return page.toPlainText()

    @property
    def bold(self):
        return (
            self.help.call_help.tip.text().partition("<b ")[2].partition(">")[2].partition("<")[0]
        )

    @property
    def questions(self):
        """The requests about the text, without those about a selected name."""
        return [one for one in self.asked if not isinstance(one, Describe)]

    def last(self, kind):
        return next(one for one in reversed(self.asked) if isinstance(one, kind))

    completes = property(lambda self: [one for one in self.asked if isinstance(one, Complete)])
    explains = property(lambda self: [one for one in self.asked if isinstance(one, Explain)])
    locates = property(lambda self: [one for one in self.asked if isinstance(one, Locate)])


@pytest.fixture(params=["light"])
def user(qtbot, request, torch_names):
    host = QWidget()
    edit = CodeEdit(Theme.load(request.param))
    edit.setParent(host)
    edit.setGeometry(0, 0, 420, 640)
    host.resize(1000, 640)
    qtbot.addWidget(host)
    host.show()
    qtbot.waitExposed(host)
    edit.setFocus()
    edit.assistance.has_answers = True
    edit.assistance.knowledge.owners = torch_names
    edit.assistance.knowledge.live = lambda: LIVE
    made = Typist(qtbot, edit)
    made.host = host
    made.put(PROGRAM)
    return made
