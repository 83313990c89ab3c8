"""A window whose link answers by the real recorder and the real comparison, when told to."""

import pytest

from gradscribe.app.document.state import Doc
from gradscribe.engine.inspect.by_hand import hand_check
from gradscribe.engine.protocol.messages import HandCheck
from gradscribe.engine.protocol.structs import replace

SOURCE = """x = param(2.0)
w = param(3.25)
y = w * x
loss = (y - 5.0) ** 2
loss.backward()
print(w.grad)
"""


class Bench:
    """The window, and the two ends of its link."""

    def __init__(self, window, link, record):
        self.window, self.link, self.record = window, link, record
        self.session, self.hand = window.session, window.hand
        self.pane, self.code = window.hand.pane, window.backward_code

    def load(self, source):
        self.session.load(Doc(source=source, saved=source, title="Mine"))
        self.run()

    def run(self):
        while self.session.result.run_id:
            self.link.answer(self.record(self.link.sources[-1]))
        self.session.move(10**9)

    def compare(self):
        """Answer the comparison that was asked for, as the engine does."""
        request = next(one for one in reversed(self.link.asked) if isinstance(one, HandCheck))
        self.record(self.link.sources[-1])
        answer = hand_check(replace(request, run_id=0))
        self.link.received.emit(replace(answer, run_id=request.run_id))

    def answer(self, text):
        self.pane.field.setText(text)
        self.pane.field.returnPressed.emit()
        self.compare()
        return self.pane.page()

    def ask(self, name):
        names = [target.name for target in self.hand.targets]
        self.hand.choose(names.index(name))

    def gradient(self, name):
        """The gradient of a tensor as the views see it: a number, or None for a hidden one."""
        index = self.hand.index
        value = next(v.id for v in index.tape.values if v.name == name)
        found = index.snapshot(index.gradient(value, len(index.tape.events)).snapshot)
        return None if found.is_hidden else found.item()


@pytest.fixture
def bench(window, link, record, qtbot):
    link.greet()
    made = Bench(window, link, record)
    made.load(SOURCE)
    window.show()
    made.hand.open()
    qtbot.waitUntil(lambda: window.presenter.is_drawn)
    return made
