"""The form of a sweep: says at once how many trials there are, or what is wrong."""

import pytest

from gradscribe.app.training.sweep.form import SweepForm, offered
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.train.source import catalogue

ENTRIES = catalogue.entries()
SETUP = setups.parse({"data": "moons", "model": "mlp", "steps": 200})


@pytest.fixture
def form(qtbot):
    shown = SweepForm()
    qtbot.addWidget(shown)
    shown.out.setText("/results.json")
    shown.set_setup(SETUP, ENTRIES, 200)
    return shown


def test_it_counts_the_trials_of_what_it_begins_with(form):
    assert form.words.said() == "24 trials of 200 steps"
    assert form.start.isEnabled()
    assert form.texts() == ["optimizer.lr=log:1e-4:1:8", "seed=0..2"]
    assert form.arguments() == ["--json", "/results.json", "--steps", "200", "--resume"]


def test_options_of_the_set_up_are_offered(form):
    names = offered(SETUP, ENTRIES)
    assert names[0] == "optimizer.lr"
    assert {"model.layers", "data.noise", "seed", "batch"} <= {*names}
    assert not any(name.startswith("schedule.") for name in names)
    row = form.rows[0].name
    assert [row.itemText(at) for at in range(row.count())] == names


def test_what_is_wrong_is_said_and_nothing_can_start(form):
    form.rows[0].name.setCurrentText("optimizer.lrr")
    assert "did you mean 'lr'?" in form.words.said()
    assert not form.start.isEnabled()
    form.rows[0].name.setCurrentText("optimizer.lr")
    form.rows[0].values.setText("log:1e-4:1:10000")
    assert "at most 10,000 run" in form.words.said()
    form.rows[0].values.setText("")
    assert "has no values" in form.words.said()
    form.rows[0].values.setText("0.1,0.2")
    assert form.words.said() == "6 trials of 200 steps"


def test_rows_are_added_and_left_out(form):
    form.add.click()
    assert form.rows[2].name.currentText() not in ("optimizer.lr", "seed", "")
    form.rows[2].remove.click()
    form.rows[1].remove.click()
    assert form.words.said() == "8 trials of 200 steps"
    form.rows[0].remove.click()
    assert "one option at least" in form.words.said()


def test_draws_count_where_an_option_is_drawn(form):
    assert not form.draws.isEnabled()
    form.rows[0].values.setText("random:log:1e-4:1")
    form.draws.setValue(5)
    assert form.words.said() == "15 trials of 200 steps"
    assert form.arguments()[-2:] == ["--draws", "5"]


def test_a_cluster_takes_the_place_of_engines_here(form):
    form.workers.setValue(3)
    assert form.arguments()[-2:] == ["--workers", "3"]
    form.scheduler.setText("tcp://far:8786")
    assert form.arguments()[-2:] == ["--scheduler", "tcp://far:8786"]


def test_nothing_changes_while_it_runs(form):
    form.set_running(True)
    assert not form.stop.isHidden()
    assert form.start.isHidden()
    assert not form.rows[0].isEnabled()
    form.set_running(False)
    assert form.rows[0].isEnabled()
