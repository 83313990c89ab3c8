"""Clumsy typing: whatever stands in the editor gets a tape or a problem at a line.

Examples with tokens left out, put in and swapped, random tokens, and real keys pressed at random.
200 texts run always; `make torture` runs 20,000.
"""

import random
import re
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.app.document import examples
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window

pytestmark = pytest.mark.e2e

TEXTS, SLOW_TEXTS = 60, 20_000
PARTS = 10
"""The slow texts are shared out among so many tests."""
TIMEOUT_S = 0.5
PATIENCE_S = 120
LOOK_MS = 4
"""Time that the event loop turns between two looks; `processEvents` with a limit would spin."""
GOOD = "x = param(2.0)\ny = x * x\ny.backward()\n"
TOKENS = (
    "x y z loss w b model opt ( ) [ ] { } , : ; . = == += -= * ** / @ - + < > not in is and or if "
    "else for while def class return lambda with as try except finally import from del global "
    "nonlocal yield await async raise assert pass break continue None True False 0 1 2 1e30 -1 "
    "0.5 'a' \"\"\" ''' # \\ \t \n \n\n \r \x0c é 你好 ψ 🙂 \u202e \u2028 \0 range print len "
    "torch nn F optim param tensor tensor([1.0,2.0]) torch.randn(3,4) nn.Linear(3,4) "
    ".backward() .sum() .mean() .T .grad .detach() .item() .zero_() .view(-1) .requires_grad_() "
    ".backward(retain_graph=True) torch.no_grad() optim.SGD([x],lr=0.1) .step() .zero_grad() "
    "F.mse_loss(x,y) while\tTrue:pass 10**9 torch.empty(10**14) exit() print(x) f'{x} 0x 1_ !"
).split(" ")
KEYS = "abxyz0123456789()[]{}=+-*/.,:'\"# "
SPECIAL = (
    Qt.Key.Key_Backspace,
    Qt.Key.Key_Delete,
    Qt.Key.Key_Left,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Return,
)


class Impatient(Link):
    """A link that gives no program much time."""

    def run(self, source, **options):
        return super().run(source, **{**options, "timeout": TIMEOUT_S})


@pytest.fixture
def window(qtbot):
    link = Impatient(spare=True)
    made = Window(link, Settings(), Drafts(None))
    qtbot.addWidget(made)
    made.painted.connect(link.start)
    made.open_first()
    made.show()
    wait(lambda: bool(made.session.result.shown_id), made)
    yield made
    made.close()
    link.deleteLater()


def wait(until, window):
    """Let the event loop turn until something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        if time.monotonic() > deadline:
            pytest.fail(f"nothing came of {window.editor.toPlainText()!r}: {window.session.result}")
        QTest.qWait(LOOK_MS)


def mutated(source, dice):
    """Leave out, put in, double and swap a few tokens."""
    tokens = re.findall(r"\w+|\s|[^\w\s]", source)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 8))):
        at = dice.randrange(len(tokens))
        match dice.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, dice.choice(TOKENS))
            case 2:
                tokens[at] = dice.choice(TOKENS)
            case 3:
                other = dice.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                tokens.insert(at, tokens[at])
        tokens = tokens or ["x"]
    return "".join(tokens)


def soup(dice):
    """Random tokens, more or less in lines."""
    words = dice.choices(TOKENS, k=dice.randrange(1, 60))
    return "".join(word + dice.choice((" ", " ", "", "\n")) for word in words)


def texts(seed, count):
    dice = random.Random(seed)
    sources = [example.source for example in examples.load()]
    for _ in range(count):
        yield soup(dice) if dice.random() < 0.2 else mutated(dice.choice(sources), dice)


def settle(window):
    session = window.session
    wait(
        lambda: (
            session.result.run_id == 0 and not session._waiting and not session._rest.isActive()
        ),
        window,
    )


def type_over(window, text):
    window.editor.selectAll()
    window.editor.insertPlainText(text)
    window.session.run_now()
    settle(window)


def check(window):
    """Check that the text in the editor has a tape, or a problem with a place in the text."""
    result, text = window.session.result, window.editor.toPlainText()
    assert window.session.doc.source == window.editor.source()
    if result.problem is None:
        assert result.source == window.session.doc.source
        assert not result.stale
        return
    # What is shown is an older text's, and says so; or this one's, where there was none to leave.
    assert result.stale or result.source == window.session.doc.source
    assert result.problem.message or result.problem.hint or result.problem.type, text
    if result.problem.type not in ("Crash", "EngineDied"):
        lines = re.split("\n|\u2028|\u2029", text)
        assert 0 < result.problem.place.line <= len(lines), (text, result.problem)


def type_many(window, seed, count):
    for number, text in enumerate(texts(seed, count)):
        type_over(window, text)
        check(window)
        if number % 20 == 0:
            type_over(window, f"{GOOD}# {number}\n")
            assert window.session.result.problem is None
            assert not window.session.result.stale


def test_mutated_examples_and_random_tokens_get_an_answer(window):
    type_many(window, random.randrange(1 << 30), TEXTS)


def test_keys_pressed_at_random_get_an_answer(window):
    dice = random.Random(random.randrange(1 << 30))
    for _ in range(12):
        for _ in range(dice.randrange(1, 40)):
            if dice.random() < 0.7:
                QTest.keyClicks(window.editor, dice.choice(KEYS))
            else:
                QTest.keyClick(window.editor, dice.choice(SPECIAL))
            if dice.random() < 0.1:
                QTest.qWait(dice.choice((1, 20, 200)))
        settle(window)
        check(window)
    while window.editor.document().isUndoAvailable():
        window.editor.undo()
    settle(window)
    assert window.session.result.problem is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_thousands_of_texts_get_an_answer(window, seed):
    type_many(window, seed, SLOW_TEXTS // PARTS)
