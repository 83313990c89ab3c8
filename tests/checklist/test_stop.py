"""A product that takes long is stopped; its window is of this file alone, for its engine ends."""

import contextlib

import pytest
from PySide6.QtCore import QTimer

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeDialogs
from tests.checklist.desk import Desk


@pytest.fixture
def own_desk(qtbot, tmp_path):
    """A window of this test alone: its engine is replaced."""
    link = Link()
    window = Window(link, Settings(tmp_path / "settings.ini"), Drafts(None))
    window.context.dialogs = FakeDialogs()
    qtbot.addWidget(window)
    window.painted.connect(link.start)
    window.open_first()
    window.resize(1440, 900)
    window.show()
    qtbot.waitUntil(lambda: bool(window.session.result.shown_id), timeout=90_000)
    yield Desk(window, qtbot)
    window.close()
    link.close()


@pytest.mark.e2e
@pytest.mark.checklist(163)
def test_a_long_product_is_stopped_and_the_window_answers_meanwhile(own_desk):
    # A power of a matrix is a chain of products within a single call: Python gets no turn in it.
    product = "b = torch.linalg.matrix_power(a, 2**62)"
    source = (
        "import torch, time\n"
        "a = torch.eye(4000)\n"
        "a[:100, :100] @ a[:100, :100]  # Warm up\n"
        "if torch.cuda.is_available():\n"
        "    torch.cuda.synchronize()\n"
        "start = time.perf_counter()\n"
        "print('begun', flush=True)\n"
        f"{product}\n"
        "print('done', time.perf_counter() - start)\n"
    )
    desk = own_desk
    window, session = desk.window, desk.session
    window.editor.setFocus()
    window.editor.selectAll()
    window.editor.insertPlainText(source)
    desk.bot.waitUntil(lambda: "begun" in desk.output, timeout=60_000)
    turns = []
    with closing_timer(lambda: turns.append(session.result.run_id)):
        desk.bot.waitUntil(lambda: len(turns) > 20, timeout=60_000)
    assert all(turns)
    window.menus.perform_by("run.stop")
    desk.bot.waitUntil(lambda: not session.result.run_id, timeout=60_000)
    assert desk.problem.startswith("Stopped")
    assert product in desk.problem
    assert "done" not in desk.output
    assert window.editor.toPlainText() == source
    desk.run("import torch\nprint(torch.ones(2) @ torch.ones(2))\n")
    assert desk.output == "tensor(2.)\n"


@contextlib.contextmanager
def closing_timer(call):
    """Call a function in every turn of the event loop that has time for it."""
    timer = QTimer()
    timer.timeout.connect(call)
    timer.start()
    yield
    timer.stop()
