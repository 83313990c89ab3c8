"""The training room's session on a real engine: what is seen is what PyTorch does."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup

MOONS = Setup(
    data=Part("moons"),
    model=Part("mlp", {"layers": [8]}),
    optimizer=Part("adam", {"lr": 0.03}),
    batch=16,
    validate_every=10,
    mode="reference",
)


@pytest.fixture(scope="module")
def engine(qapp_instance):
    """One engine for all tests here: each start costs seconds."""
    from gradscribe.app.training.session.link import TrainLink

    link = TrainLink()
    link.start()
    yield link
    link.close()


@pytest.fixture(scope="module")
def qapp_instance():
    from PySide6.QtWidgets import QApplication

    return QApplication.instance() or QApplication([])


@pytest.fixture
def live(engine, qtbot):
    """A session on that engine, its run at step 0 and paused."""
    from gradscribe.app.training.session.session import TrainSession

    made = TrainSession(engine)
    made.store.setup = MOONS
    made.controller.begin()
    qtbot.waitUntil(lambda: made.run is not None and made.run.state is not None, timeout=60_000)
    yield made
    for run in made.runs:
        if run.alive:
            engine.send(messages.DropRun(run.run_id))
    made.controller.close()
    engine.received.disconnect(made.on_message)
    engine.ready.disconnect(made._on_ready)
    engine.died.disconnect(made._on_engine_died)


def wait_for(qtbot, holds):
    qtbot.waitUntil(holds, timeout=60_000)


def advance(live, qtbot, steps):
    target = live.run.step + steps
    live.controller.advance(steps)
    wait_for(qtbot, lambda: live.run.step == target and len(live.run.curve("loss")) >= target)


def losses(run):
    return run.curve("loss").numbers().copy()


def flat_weights(live, qtbot):
    """Return all weights as they are at the step that holds now."""
    live.run.views.pop("weights", None)
    live.controller.watch(())
    live.controller.watch([messages.ViewRequest("weights")])
    wait_for(
        qtbot,
        lambda: "weights" in live.run.views and live.run.views["weights"].step == live.run.step,
    )
    return live.run.views["weights"].arrays["flat"].array().copy()


def test_the_default_converges_within_two_hundred_steps(live, qtbot):
    advance(live, qtbot, 200)
    curve = losses(live.run)
    assert curve[-20:].mean() < 0.4 * curve[:10].mean()
    assert live.run.curve("val").latest < 0.3
    assert live.run.curve("lr").latest == pytest.approx(0.03)


def test_a_rewind_brings_every_weight_back_and_the_same_steps_follow(live, qtbot):
    advance(live, qtbot, 30)
    weights = flat_weights(live, qtbot)
    advance(live, qtbot, 40)
    curve = losses(live.run)
    live.controller.rewind(30)
    wait_for(qtbot, lambda: live.run.step == 30)
    np.testing.assert_array_equal(flat_weights(live, qtbot), weights)
    advance(live, qtbot, 40)
    np.testing.assert_array_equal(losses(live.run), curve)


def test_a_live_change_holds_from_the_next_step_and_keeps_the_run(live, qtbot):
    advance(live, qtbot, 20)
    before = losses(live.run)
    live.controller.change(replace(live.setup, optimizer=Part("adam", {"lr": 0.3})))
    wait_for(qtbot, lambda: live.run.setup.optimizer.options.get("lr") == 0.3)
    advance(live, qtbot, 5)
    np.testing.assert_array_equal(losses(live.run)[: len(before)], before)
    assert live.run.curve("lr").latest == pytest.approx(0.3)
    assert len(live.runs) == 1


@pytest.mark.checklist(67)
def test_other_layers_begin_anew_and_the_old_curves_stay(live, qtbot):
    advance(live, qtbot, 30)
    old = losses(live.run)
    live.controller.change(replace(live.setup, model=Part("mlp", {"layers": [4, 4]})))
    wait_for(qtbot, lambda: len(live.runs) == 2 and live.run.begun is not None)
    wait_for(qtbot, lambda: live.run.step == 0)
    np.testing.assert_array_equal(losses(live.runs[0]), old)
    assert {p.name for p in live.run.begun.parameters} >= {"0.weight", "2.weight", "4.weight"}


@pytest.mark.checklist(109)
def test_the_lines_of_a_step_happen_one_by_one(live, qtbot):
    events = []
    live.happened.connect(lambda one: events.append(one and one.event))
    for count in range(1, len(live.run.begun.lines) + 1):
        live.controller.next_event()
        wait_for(qtbot, lambda count=count: len([e for e in events if e]) >= count)
    said = [event for event in events if event]
    assert said == [event for event, _text in live.run.begun.lines]
    assert {"zero_grad", "forward", "loss", "backward", "step"} <= set(said)
    wait_for(qtbot, lambda: live.run.step == 1)


def test_a_fork_goes_its_own_way_and_the_source_stays(live, qtbot):
    advance(live, qtbot, 20)
    source = live.run
    live.controller.fork()
    wait_for(qtbot, lambda: live.run.begun is not None and live.run.state is not None)
    live.controller.change(replace(live.setup, optimizer=Part("adam", {"lr": 0.5})))
    wait_for(qtbot, lambda: live.run.setup.optimizer.options.get("lr") == 0.5)
    live.controller.advance(20)
    wait_for(qtbot, lambda: live.run.step == 40)
    assert source.step == 20
    branch = live.run.curve("loss")
    np.testing.assert_array_equal(branch.numbers(0, 20), source.curve("loss").numbers(0, 20))
    live.controller.select(source.run_id)
    advance(live, qtbot, 1)
    assert source.step == 21


def test_a_weight_is_set_by_hand_to_the_bit(live, qtbot):
    flat_weights(live, qtbot)
    live.run.views.pop("weights")
    live.controller.edit_weight("0.weight", 3, 0.123)
    first = live.run.begun.parameters[0].start
    live.controller.watch(())
    live.controller.watch([messages.ViewRequest("weights")])
    wait_for(
        qtbot,
        lambda: (
            "weights" in live.run.views
            and live.run.views["weights"].arrays["flat"].array()[first + 3] == np.float32(0.123)
        ),
    )


def test_every_view_that_can_be_wanted_arrives(live, qtbot):
    advance(live, qtbot, 3)
    kinds = ("boundary", "units", "gradients", "histograms", "weights", "optimizer", "scores")
    live.controller.watch([messages.ViewRequest(kind) for kind in (*kinds, "confusion")])
    wait_for(qtbot, lambda: {*kinds, "confusion"} <= set(live.run.views))
    views = live.run.views
    assert views["boundary"].arrays["grid"].array().ndim == 3
    assert len(views["gradients"].arrays["norms"].array()) == len(live.run.begun.parameters)
    assert views["scores"].facts["train_count"] + views["scores"].facts["val_count"] == 200


def forks(pid):
    """The forks of a process (Linux), without programs such as the writer of the font cache."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    own = Path(f"/proc/{pid}/cmdline").read_bytes()
    return [child for child in children if Path(f"/proc/{child}/cmdline").read_bytes() == own]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the trainer makes them itself")
def test_while_it_plays_another_process_makes_the_views(live, qtbot, engine):
    before = forks(engine.pid())
    assert len(before) == 1
    live.controller.watch([messages.ViewRequest("boundary"), messages.ViewRequest("units")])
    live.controller.play()
    steps = set()
    for _ in range(5):
        live.run.views.clear()
        wait_for(qtbot, lambda: {"boundary", "units"} <= set(live.run.views))
        steps.add(live.run.views["boundary"].step)
    assert len(steps) == 5
    live.controller.pause()
    wait_for(qtbot, lambda: not live.controller.plays and live.run.state.status == "paused")
    wait_for(qtbot, lambda: live.run.views["boundary"].step == live.run.state.step)
    assert forks(engine.pid()) == before


def test_training_until_the_loss_is_low_pauses_there(live, qtbot):
    live.controller.play([messages.StopCondition("loss_below", 0.2)])
    wait_for(qtbot, lambda: bool(live.run.state.reached) and not live.controller.plays)
    assert losses(live.run)[-20:].mean() < 0.2
    assert live.run.state.status == "paused"


def test_a_rate_out_of_range_is_refused_at_its_place(live, qtbot):
    with qtbot.waitSignal(
        live.store.error_changed, timeout=60_000, check_params_cb=lambda place, _why: bool(place)
    ) as told:
        live.controller.change(replace(live.setup, optimizer=Part("adam", {"lr": 1e31})))
    assert told.args[0] == "optimizer.lr"
    assert live.run.alive


def test_a_setup_that_cannot_be_keeps_the_run(live, qtbot):
    advance(live, qtbot, 5)
    with qtbot.waitSignal(
        live.store.error_changed, timeout=60_000, check_params_cb=lambda _p, w: bool(w)
    ):
        live.controller.change(replace(live.setup, data=Part("csv", {"path": "/nowhere/x.csv"})))
    assert live.run.step == 5
    assert live.run.alive
    advance(live, qtbot, 1)


def test_a_confined_engine_trains_on_a_table_of_the_users(live, qtbot, tmp_path):
    file = tmp_path / "line.csv"
    file.write_text("a,b\n" + "".join(f"{x},{2 * x}\n" for x in range(20)), encoding="utf-8")
    with qtbot.waitSignal(live.looked, timeout=60_000) as told:
        live.controller.look_into(str(file))
    assert told.args[0].columns == ("a", "b")
    data = Part("csv", {"path": str(file), "inputs": ["a"], "target": "b"})
    with qtbot.waitSignal(live.store.begun, timeout=60_000):
        live.controller.change(replace(live.setup, data=data))
    advance(live, qtbot, 5)
    assert live.run.begun.task == "regression"


def test_the_exported_script_is_python_and_names_the_model(live, qtbot):
    advance(live, qtbot, 3)
    with qtbot.waitSignal(live.exported, timeout=60_000) as told:
        live.controller.export("script")
    text = told.args[0].data.decode()
    compile(text, "exported", "exec")
    assert "torch" in text
    with qtbot.waitSignal(live.exported, timeout=60_000) as told:
        live.controller.export("csv")
    rows = told.args[0].data.decode().splitlines()
    assert rows[0].split(",")[:2] == ["step", "loss"]
    assert math.isfinite(float(rows[-1].split(",")[1]))


def test_a_step_is_recorded_on_a_tape(live, qtbot):
    advance(live, qtbot, 4)
    with qtbot.waitSignal(live.taped, timeout=60_000) as told:
        live.controller.ask_tape()
    tape = told.args[0].tape
    assert tape.status == "ok"
    kinds = {event.kind for event in tape.events}
    assert {"op", "backward", "step"} <= kinds
    assert live.run.step == 4
