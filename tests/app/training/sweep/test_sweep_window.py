"""The window of a sweep: a real sweep in a process, its rows, curves and points, its end."""

import json
import sys

import pytest

from gradscribe.app.cli import train
from gradscribe.app.files.settings import Settings
from gradscribe.app.training.sweep.rows import TrialRow
from gradscribe.app.training.sweep.window import SweepWindow
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.train.source import catalogue

SETUP = setups.parse({"data": "moons", "model": "mlp", "batch": 16, "validate_every": 5})


@pytest.fixture
def window(qtbot, tmp_path):
    from PySide6.QtWidgets import QWidget

    owner = QWidget()
    qtbot.addWidget(owner)
    shown = SweepWindow(owner, Theming(Settings(tmp_path / "settings.json"), owner))
    shown.set_setup(SETUP, catalogue.entries(), 20, tmp_path / "sweeps" / "out.json", ())
    shown.form.rows[0].values.setText("0.01,0.1")
    shown.form.rows[1].values.setText("0..1")
    yield shown
    shown.process.close()


def rows(*losses):
    return [
        TrialRow(at, {"optimizer.lr": 0.1 * at}, "ok", 20, loss, loss, setup=f"a/{at}.setup.json")
        for at, loss in enumerate(losses, 1)
    ]


def test_the_best_is_in_bold_and_said_and_a_click_opens_a_set_up(window, qtbot):
    window._begin(rows(0.5, 0.25, 0.75))
    assert window.table.trials.rows[1].is_best
    assert "best 0.25 (optimizer.lr 0.2)" in window.progress.said()
    with qtbot.waitSignal(window.opened) as sent:
        window.scatter.picked.emit(2)
    assert sent.args[0].name == "2.setup.json"
    assert window.parallels.selected == 2
    assert window.open.isEnabled()


def test_a_trial_without_a_result_is_not_opened(window, qtbot):
    window._begin([TrialRow(1, {"seed": 0}), TrialRow(2, {"seed": 1})])
    with qtbot.assertNotEmitted(window.opened):
        window.open_trial(2)
    assert window.form.words.said() == "Trial 2 has not ended yet"


def test_the_keyboard_goes_to_the_button_that_replaces_the_one_that_was_pressed(window, qtbot):
    window.show()
    qtbot.waitUntil(window.isActiveWindow)
    form = window.form
    form.start.setFocus()
    form.set_running(True)
    assert form.stop.hasFocus()
    form.set_running(False)
    assert form.start.hasFocus()


def test_a_trial_that_opens_is_said(window):
    window._begin(rows(0.5, 0.25))
    window.open_trial(2)
    assert window.form.words.said() == "Trial 2 trains on the training page"


def test_ten_thousand_trials_are_shown(window):
    window._begin(rows(*(1 / at for at in range(1, 10_001))))
    assert window.table.model().rowCount() == 10_000
    window._change(rows(9.0)[0])
    window._show()
    assert window.table.trials.rows[0].cells[2] == "9"


def test_a_row_that_no_trial_has_is_ignored(window):
    window._begin(rows(0.5))
    window._change(TrialRow(7, {"seed": 0}))
    window._change(TrialRow(0, {"seed": 0}))
    assert len(window.rows) == 1


@pytest.mark.e2e
def test_a_sweep_runs_beside_the_window_to_the_bits_of_its_trials(window, qtbot):
    with qtbot.waitSignal(window.process.ended, timeout=100_000) as sent:
        window.form.start.click()
        assert not window.form.stop.isHidden()
    assert sent.args == [""]
    assert [row.status for row in window.rows] == ["ok"] * 4
    assert window.form.words.said().startswith("The best: optimizer.lr ")
    assert len(window.chart.curves) == 4
    row = window.rows[3]
    text = (window.process.folder.parent / row.setup).read_text(encoding="utf-8")
    single = train.run(setups.parse_text(text))
    assert row.validation_loss == single.views["scores"].facts["val_loss"]
    # Started again it finds all results on the disk.
    with qtbot.waitSignal(window.process.ended, timeout=100_000):
        window.form.start.click()
    assert [each.validation_loss for each in window.rows][3] == row.validation_loss


@pytest.mark.e2e
def test_it_stops_and_says_what_is_finished(window, qtbot):
    window.form.rows[0].name.setCurrentText("steps")
    window.form.rows[0].values.setText("20,1000000000")
    with qtbot.waitSignal(window.process.begun, timeout=100_000):
        window.form.start.click()
    with qtbot.waitSignal(window.process.ended, timeout=100_000) as sent:
        window.form.stop.click()
    assert sent.args[0].startswith("interrupted: ")
    assert window.form.start.isEnabled()


@pytest.mark.e2e
def test_a_refusal_of_the_command_is_its_line(window, qtbot):
    window.form.scheduler.setText("nowhere")
    with qtbot.waitSignal(window.process.ended, timeout=100_000) as sent:
        window.form.start.click()
    assert sent.args[0].startswith("--scheduler is 'nowhere', but must be")
    assert window.form.words.said() == sent.args[0]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for Python")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 0", ""),
        ("echo 'a warning' >&2; exit 0", ""),
        ("echo 'gradscribe: no such data' >&2; exit 2", "no such data"),
        ("echo 'RuntimeError: broken' >&2; exit 1", "exit code 1: RuntimeError: broken"),
        ("exit 130", "exit code 130"),
        ("kill -9 $$", "killed"),
    ],
)
def test_each_end_but_a_whole_sweep_has_a_reason(
    window, qtbot, monkeypatch, tmp_path, script, reason
):
    """A process that ended by itself without a line of its own passed for a whole sweep."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n")
    python.chmod(0o700)
    monkeypatch.setattr("gradscribe.app.link.launch.python_executable", lambda: str(python))
    with qtbot.waitSignal(window.process.ended, timeout=30_000) as sent:
        window.form.start.click()
    assert sent.args[0].endswith(reason) if reason != "killed" else "killed" in sent.args[0]
    assert bool(sent.args[0]) == bool(reason)


def test_a_python_that_is_not_there_is_a_reason(window, qtbot, monkeypatch, tmp_path):
    python = str(tmp_path / "gone")
    monkeypatch.setattr("gradscribe.app.link.launch.python_executable", lambda: python)
    with qtbot.waitSignal(window.process.ended, timeout=30_000) as sent:
        window.form.start.click()
    assert sent.args[0] == f"{python} does not start"


def test_lines_that_are_no_events_are_a_reason(window):
    for line in (b"", b"{", b"[]", b'{"event": "begun"}', b'{"event": "progress", "row": 3}'):
        window.process._take(line)
    window.process._take(json.dumps({"event": "something new"}).encode())
    assert window.rows == []
