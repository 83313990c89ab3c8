"""The window on a watched loop, fed by a loop of plain PyTorch."""

import struct

import numpy as np
import pytest
import torch
from torch import nn

import gradscribe as gs
from gradscribe import watching
from gradscribe.app.files.settings import Settings
from gradscribe.app.watch import window as watch_window
from gradscribe.app.watch.reader import WatchReader
from gradscribe.app.watch.window import WatchWindow
from gradscribe.engine.protocol import watch_file
from gradscribe.engine.protocol.watch_file import WatchHeader, WatchLosses, WatchSample

pytestmark = pytest.mark.gui


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "GAP_S", 0.0)
    monkeypatch.setattr(watching, "BUDGET", 1e9)
    monkeypatch.setattr(watching, "LOOK_S", 0.0)
    monkeypatch.setattr(watch_window, "LOOK_MS", 1)
    return tmp_path / "run.watch"


@pytest.fixture
def opened(qtbot, path):
    """Return a function that opens the window, which is closed afterwards."""
    windows = []

    def open_window():
        window = WatchWindow(WatchReader(path), Settings())
        windows.append(window)
        window.show()
        return window

    yield open_window
    for window in windows:
        window.close()
        window.deleteLater()


def steps(watch, model, optimizer, count):
    found = []
    for _ in range(count):
        loss = model(torch.ones(2, 3)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
        found.append(loss.item())
    return found


def begun(path):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.125)
    return gs.watch(model, optimizer, to=path), model, optimizer


def test_the_window_follows_a_loop_and_survives_its_end(path, opened, qtbot):
    watch, model, optimizer = begun(path)
    window = opened()
    losses = steps(watch, model, optimizer, 40)
    qtbot.waitUntil(lambda: len(window.data.samples) > 10, timeout=30_000)
    assert "live" in window.state.text()
    losses += steps(watch, model, optimizer, 40)
    watch.close()
    qtbot.waitUntil(lambda: window.data.has_ended, timeout=30_000)
    assert window.data.loss.numbers().tolist() == pytest.approx(losses, rel=1e-6)
    assert window.data.loss.steps(0, 80).tolist() == list(range(1, 81))
    assert window.heading.text().startswith("Sequential · SGD")
    assert "ended" in window.state.text()
    assert f"learning rate {0.125:.4f}" in window.state.text()
    assert [row.name for row in window.table.model.rows] == [
        name for name, _ in model.named_parameters()
    ]
    assert not window.record.isEnabled()


def test_numbers_of_the_table_are_those_of_torch(path, opened, qtbot):
    watch, model, optimizer = begun(path)
    steps(watch, model, optimizer, 1)
    watch.close()
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    plain(torch.ones(2, 3)).square().mean().backward()
    window = opened()
    qtbot.waitUntil(lambda: window.data.has_ended, timeout=30_000)
    for row, p in zip(window.table.model.rows, plain.parameters(), strict=True):
        assert row.gradient == pytest.approx(p.grad.norm().item(), rel=1e-6)
        assert row.value == pytest.approx(p.norm().item(), rel=1e-6)
        assert row.update == pytest.approx(0.125 * (p.grad.norm() / p.norm()).item(), rel=1e-4)


def test_the_window_asks_for_a_tape_and_offers_it(path, opened, qtbot, monkeypatch):
    monkeypatch.setattr("gradscribe.watch_writer.ASK_S", 0.01)
    watch, model, optimizer = begun(path)
    window = opened()
    window.at.setText("50")
    window.record.click()
    qtbot.waitUntil(lambda: watch._tape_at == 50, timeout=30_000)
    steps(watch, model, optimizer, 60)
    watch.close()
    qtbot.waitUntil(lambda: window.data.has_ended, timeout=30_000)
    (item,) = [
        window.events.item(at)
        for at in range(window.events.count())
        if "tape" in window.events.item(at).text()
    ]
    assert item.text().startswith("Step 50 ")
    started = []
    monkeypatch.setattr(
        watch_window.QProcess, "startDetached", lambda *command: started.append(command)
    )
    window.events.itemActivated.emit(item)
    assert started[0][1][-1] == str(path.with_name("run.step-50.tape"))
    path.with_name("run.step-50.tape").unlink()
    window.events.itemActivated.emit(item)
    assert len(started) == 1
    assert "not there any more" in window.state.text()


@pytest.mark.parametrize(("typed", "words"), [("abc", "no step"), ("-3", "no step"), ("7", "over")])
def test_a_wrong_step_is_refused_in_words(path, opened, qtbot, typed, words):
    watch, model, optimizer = begun(path)
    steps(watch, model, optimizer, 20)
    window = opened()
    qtbot.waitUntil(lambda: window.data.step >= 7, timeout=30_000)
    window.at.setText(typed)
    window.order()
    assert words in window.state.text()
    assert not path.with_name(path.name + watch_file.ORDER).exists()
    watch.close()


def test_closing_the_window_changes_nothing_for_the_loop(path, opened, qtbot):
    watch, model, optimizer = begun(path)
    window = opened()
    steps(watch, model, optimizer, 20)
    window.close()
    steps(watch, model, optimizer, 20)
    watch.close()
    again = opened()
    qtbot.waitUntil(lambda: again.data.has_ended, timeout=30_000)
    assert len(again.data.loss) == 40


def test_picked_parameters_are_the_curves(path, opened, qtbot):
    watch, model, optimizer = begun(path)
    steps(watch, model, optimizer, 5)
    watch.close()
    window = opened()
    qtbot.waitUntil(lambda: window.data.has_ended, timeout=30_000)
    window.table.picked.emit("2.bias")
    assert [curve.name for curve in window.gradients.curves] == ["all", "2.bias"]
    assert [curve.name for curve in window.outputs.curves] == ["2"]
    window.table.picked.emit("2.bias")
    assert len(window.gradients.curves) == 5


def row(*numbers):
    return np.array(numbers, "<f4").tobytes()


HEADER = WatchHeader("Net", "SGD", (("w", (1,)),), ("m",))
SAMPLE = WatchSample(1, 0.1, row(1), row(1), row(1), row(1), row(1))


@pytest.mark.parametrize(
    "records",
    [
        [SAMPLE],
        [HEADER, SAMPLE, SAMPLE],
        [HEADER, WatchSample(1, 0.1, row(1, 2), row(1), row(1), row(1), row(1))],
        [HEADER, WatchSample(1, 0.1, b"abc", row(1), row(1), row(1), row(1))],
        [HEADER, WatchLosses(struct.pack("<2q", 2, 1), struct.pack("<2d", 1, 1))],
        [HEADER, WatchLosses(b"1", b"")],
        [WatchHeader("Net", "", tuple((f"w{n}", ()) for n in range(9000)), ())],
    ],
)
def test_records_of_a_hostile_hand_are_refused_in_words(path, opened, records, qtbot):
    path.write_bytes(watch_file.MAGIC + b"".join(map(watch_file.encode, records)))
    window = opened()
    qtbot.waitUntil(lambda: window.reader.trouble != "", timeout=30_000)
    qtbot.waitUntil(lambda: "as far as it is whole" in window.note.text(), timeout=30_000)
    assert window.isVisible()
