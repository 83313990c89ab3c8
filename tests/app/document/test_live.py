"""The window with the real engine: open it, type, play, step back, break it, mend it, close it."""

import pytest

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window

pytestmark = pytest.mark.e2e

PROGRAM = "x = param(2.0)\ny = param(3.0)\nz = x * y\nw = z + x\nloss = w**2\nloss.backward()\n"


@pytest.fixture
def window(qtbot):
    link = Link()
    made = Window(link, Settings(), Drafts(None))
    qtbot.addWidget(made)
    made.painted.connect(link.start)
    made.open_first()
    made.show()
    qtbot.waitUntil(lambda: bool(made.session.result.shown_id), timeout=60_000)
    yield made
    made.close()


def type_over(window, qtbot, text):
    window.editor.setFocus()
    window.editor.selectAll()
    window.editor.insertPlainText(text)


def gradient(window, name):
    model = window.values.view.model()
    rows = {model.index(r, 0).data(): model.index(r, 2).data() for r in range(model.rowCount())}
    return rows.get(name)


@pytest.mark.checklist(73, 251)
def test_type_play_step_back_break_and_mend(window, qtbot):
    type_over(window, qtbot, PROGRAM)
    qtbot.waitUntil(lambda: gradient(window, "x") == "64.0000", timeout=20_000)
    assert gradient(window, "y") == "32.0000"
    window.clock.set_speed(8)
    window.clock.play()
    qtbot.waitUntil(lambda: not window.clock.playing, timeout=20_000)
    while gradient(window, "x") == "64.0000":
        window.clock.back()
    assert gradient(window, "x") == "…"
    window.clock.to_end()
    type_over(window, qtbot, PROGRAM.replace("z + x", "z + "))
    qtbot.waitUntil(lambda: window.session.result.problem is not None, timeout=20_000)
    assert window.session.result.stale
    assert window.session.result.problem.type == "SyntaxError"
    assert gradient(window, "x") == "64.0000"
    type_over(window, qtbot, PROGRAM.replace("3.0", "4.0"))
    qtbot.waitUntil(lambda: gradient(window, "x") == "100.0000", timeout=20_000)
    assert window.session.result.problem is None


def test_an_endless_loop_gives_way_to_the_next_good_text(window, qtbot):
    type_over(window, qtbot, "while True: pass\n")
    qtbot.waitUntil(lambda: window.session.result.engine == "running", timeout=20_000)
    type_over(window, qtbot, PROGRAM)
    qtbot.waitUntil(lambda: gradient(window, "x") == "64.0000", timeout=30_000)


@pytest.mark.checklist(41, 204)
def test_a_check_agrees(window, qtbot):
    type_over(window, qtbot, PROGRAM)
    qtbot.waitUntil(lambda: gradient(window, "x") == "64.0000", timeout=20_000)
    card = next(card for card in window.presenter.picture.cards if card.title == "x")
    window.session.select(card.key)
    with qtbot.waitSignal(window.session.checked, timeout=30_000) as answer:
        window.inspector.check_requested.emit(card.value, 0)
    assert answer.args[0].agrees
    assert answer.args[0].autograd == pytest.approx(64.0)
