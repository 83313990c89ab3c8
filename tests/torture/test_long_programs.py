"""The window with a program of 30,000 steps, by mouse and keys."""

import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window
from gradscribe.playback.tape.loops.partial_loops import main_loop, numbers_of
from gradscribe.playback.tape.loops.steps import steps_of

PATIENCE_MS = 240_000
STEPS = 30_000
SOURCE = f"""\
import math
import torch

x = torch.linspace(-math.pi, math.pi, 2000)
y = torch.sin(x)
xx = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
loss_fn = torch.nn.MSELoss(reduction="sum")
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
losses = []
for t in range({STEPS}):
    loss = loss_fn(model(xx), y)
    if t % 1000 == 999:
        print(t, loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
"""


@pytest.fixture(scope="module")
def plain():
    names: dict[str, object] = {}
    torch.manual_seed(0)
    exec(compile(SOURCE, "<plain>", "exec"), names)
    return [loss.item() for loss in names["losses"]]


@pytest.fixture
def window(qtbot, tmp_path):
    link = Link()
    settings = Settings(tmp_path / "s.ini")
    settings.put("timeout", 300.0)
    made = Window(link, settings, Drafts(tmp_path / "drafts"))
    qtbot.addWidget(made)
    made.open_first()
    made.resize(1440, 900)
    made.show()
    qtbot.waitUntil(lambda: made.session.result.engine == "ready", timeout=PATIENCE_MS)
    made.session.apply_fix(SOURCE)
    qtbot.waitUntil(lambda: made.session.shows_draft, timeout=PATIENCE_MS)
    yield made
    made.close()
    link.close()


def shown_losses(window):
    column = next(c for c in main_loop(window.session.result.tape).columns if c.kind == "loss")
    return numbers_of(column)


@pytest.mark.slow
def test_it_is_seen_while_it_runs_and_any_step_is_brought_back(window, qtbot, plain):
    session, strip = window.session, window.transport.strip
    seen = []
    session.computed.connect(lambda _: seen.append(strip.canvas.maximum()))
    assert session.result.engine == "running"
    qtbot.waitUntil(lambda: session.result.engine == "ready", timeout=PATIENCE_MS)
    assert len(set(seen)) >= 3, "the strip grows"
    assert seen == sorted(seen)
    assert strip.canvas.maximum() == STEPS
    losses = shown_losses(window)
    assert losses.numbers.tolist() == [plain[step - 1] for step in losses.steps]
    assert len(losses.steps) == STEPS
    for number in (12_345, 29_000):
        strip.edit_step()
        QTest.keyClicks(strip.entry, str(number))
        QTest.keyClick(strip.entry, Qt.Key.Key_Return)
        qtbot.waitUntil(
            lambda number=number: (
                steps_of(session.result.tape).is_full(number)
                and steps_of(session.result.tape).number_at(session.view.position) == number
            ),
            timeout=PATIENCE_MS,
        )
        tape = session.result.tape
        start, stop = steps_of(tape).span(number)
        passes = [e.ref for e in tape.events[start:stop] if e.kind == "backward"]
        root = next(v for v in tape.values if v.id == tape.passes[passes[0]].roots[0])
        assert tape.snapshots[root.snapshot].item() == plain[number - 1]
        # The next one is there already.
        QTest.keyClick(strip.canvas, Qt.Key.Key_PageDown)
        assert steps_of(session.result.tape).number_at(session.view.position) == number + 1


@pytest.mark.slow
def test_what_it_did_stays_when_it_is_stopped(window, qtbot, plain):
    session, strip = window.session, window.transport.strip
    canvas = strip.canvas
    qtbot.waitUntil(lambda: len(canvas._curves) > 0, timeout=PATIENCE_MS)
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(canvas.x_of(4.5)), 10))
    qtbot.waitUntil(lambda: steps_of(session.result.tape).number_at(session.view.position) == 5)
    assert session.result.engine == "running"
    QTest.keyClick(window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: session.result.engine == "ready", timeout=PATIENCE_MS)
    tape = session.result.tape
    assert tape.error.type == "Stopped"
    assert steps_of(tape).number_at(session.view.position) == 5
    loop = main_loop(tape)
    if loop is not None:
        losses = shown_losses(window)
        assert losses.numbers.tolist() == [plain[step - 1] for step in losses.steps]
