"""Later steps of a run that went back stay known, until it takes another way."""

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.runs import saved
from gradscribe.engine.train.runs.record_step import record_step
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.changes import WeightEdit

SETUP = {"data": "moons", "batch": 16, "validate_every": 7, "optimizer": {"name": "adam"}}


@pytest.fixture(autouse=True)
def close_checkpoints(monkeypatch):
    """Take them often, so that going back begins at one of them."""
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 16)


def parsed(lr=0.01, **more):
    return setup.parse({**SETUP, "optimizer": {"name": "adam", "lr": lr}, **more})


def weights(run):
    return torch.cat([p.detach().reshape(-1) for p in run.program.model.parameters()])


def rows(run):
    losses, validations, _ = run.history.store()
    return losses.tolist(), validations.tolist()


def advanced(steps=100, **given):
    """Return a run, and the weights after each of its steps."""
    run, seen = TrainingRun(parsed(**given)), {}
    seen[0] = weights(run).clone()
    for step in range(1, steps + 1):
        run.advance(1)
        seen[step] = weights(run).clone()
    return run, seen


def test_every_later_step_is_reached_again_without_training():
    run, seen = advanced()
    before = rows(run)
    run.rewind(20)
    assert (run.step, run.last_step) == (20, 100)
    for step in (21, 64, 33, 99, 20, 100):
        run.rewind(step)
        assert run.step == step
        assert torch.equal(weights(run), seen[step])
    assert rows(run) == before
    assert run.later is None


def test_a_run_trains_on_from_a_later_step_as_it_would_have_done():
    run, _ = advanced(60)
    plain, seen = advanced(90)
    run.rewind(10)
    run.rewind(60)
    run.advance(30)
    assert torch.equal(weights(run), seen[90])
    assert rows(run) == rows(plain)


def test_going_the_same_way_again_keeps_the_rest_known():
    run, seen = advanced()
    run.rewind(20)
    run.advance(30)
    assert run.last_step == 100
    run.rewind(80)
    assert torch.equal(weights(run), seen[80])
    run.rewind(20)
    run.advance(79)
    assert run.last_step == 100
    run.advance(1)
    assert run.later is None


@pytest.mark.parametrize("change", [parsed(0.2), WeightEdit("0.weight", 0, 1.5)], ids=["lr", "w"])
def test_another_way_has_no_later_steps(change):
    run, _ = advanced()
    run.rewind(20)
    if isinstance(change, WeightEdit):
        run.edit(change)
    else:
        run.change_setup(change)
    assert run.last_step == 20
    run.rewind(100)
    assert run.step == 20


def test_training_past_a_change_that_was_taken_back_is_another_way():
    run, _ = advanced(40)
    run.change_setup(parsed(0.2))
    run.advance(40)
    run.rewind(30)
    run.advance(10)
    assert run.last_step == 80
    run.advance(1)
    assert run.last_step == 41


def test_a_later_step_has_the_settings_and_edits_of_then():
    run, _ = advanced(40)
    run.change_setup(parsed(0.2))
    run.advance(5)
    run.edit(WeightEdit("0.weight", 0, 1.5))
    run.advance(35)
    end = weights(run).clone()
    run.rewind(30)
    assert run.setup.optimizer.options["lr"] == 0.01
    run.rewind(42)
    assert run.setup.optimizer.options["lr"] == 0.2
    assert len(run.changes) == 1
    run.rewind(80)
    assert torch.equal(weights(run), end)
    assert len(run.changes) == 2
    run.rewind(44)
    run.advance(1)
    run.rewind(80)
    assert torch.equal(weights(run), end)


def test_a_fork_leaves_the_later_steps_with_its_source():
    run, seen = advanced()
    run.rewind(20)
    fork = run.fork(20)
    fork.change_setup(parsed(0.2))
    fork.advance(80)
    assert not torch.equal(weights(fork), seen[100])
    run.rewind(run.last_step)
    assert torch.equal(weights(run), seen[100])


def test_a_run_that_went_back_is_saved_with_its_later_steps():
    run, seen = advanced()
    run.rewind(20)
    again = saved.resume(saved.save(run))
    assert (again.step, again.last_step) == (20, 100)
    again.advance(3)
    for step in (70, 100):
        again.rewind(step)
        assert torch.equal(weights(again), seen[step])
    run.rewind(100)
    assert rows(again) == rows(run)
    again.advance(10)
    run.advance(10)
    assert torch.equal(weights(again), weights(run))


def test_going_back_from_inside_a_step_keeps_the_step_before_it_as_the_last():
    run, seen = advanced(50)
    for _ in range(4):
        run.next_event()
    run.rewind(10)
    run.rewind(50)
    assert torch.equal(weights(run), seen[50])
    run.advance(1)
    assert torch.equal(weights(run), advanced(51)[1][51])


def test_a_step_is_recorded_in_its_middle_and_then_goes_on_as_it_would_have_done():
    run, _ = advanced(50)
    whole, _, _ = record_step(advanced(50)[0])
    for _ in range(3):
        run.next_event()
    tape, _, step = record_step(run)
    assert (step, run.step) == (50, 50)
    assert run.events.index == 2
    assert [event.kind for event in tape.events] == [event.kind for event in whole.events]
    losses = [event.ref for event in tape.events if event.kind == "op"]
    assert losses == [event.ref for event in whole.events if event.kind == "op"]
    run.finish_events()
    assert torch.equal(weights(run), advanced(51)[1][51])
