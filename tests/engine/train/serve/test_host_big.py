"""A step that takes long: what is asked meanwhile is answered as soon as it is over."""

from gradscribe.engine.models import files
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train.captured import verify
from gradscribe.engine.train.serve import hosted_run
from tests.engine.train.serve.test_host import Desk, of, only

WISHES = tuple(requests.ViewRequest(kind) for kind in ("scores", "boundary", "weights"))


def test_a_pause_is_answered_before_the_views_are_made():
    desk = Desk()
    desk.train()
    desk.ask(requests.WatchViews(1, WISHES), requests.Play(1))
    desk.host.work()
    said = desk.ask(requests.Pause(1))
    kinds = [type(one) for one in said if isinstance(one, replies.TrainState | replies.ViewReply)]
    assert kinds[0] is replies.TrainState
    assert set(kinds[1:]) == {replies.ViewReply}
    assert only(replies.TrainState, said).status == "paused"


def test_each_slow_step_is_told_of_and_some_are_measured(monkeypatch):
    monkeypatch.setattr(hosted_run, "SLICE_S", 0.0)
    monkeypatch.setattr(hosted_run, "SLOWEST_UPDATE_S", 0.0)
    desk = Desk()
    desk.train()
    desk.ask(requests.Play(1))
    run = desk.host._runs[1].run
    steps = []
    for _ in range(3):
        desk.host.work()
        steps.append(run.step)
    assert steps == [1, 2, 3]
    states = [one.step for one in of(replies.TrainState, desk.said)]
    assert states[-3:] == [1, 2, 3]
    assert len(run.ratios) == len(list(run.program.model.parameters()))


def test_noting_is_done_the_less_often_the_longer_it_takes(monkeypatch):
    monkeypatch.setattr(
        "gradscribe.engine.train.runs.measure.measure_step", lambda _run, _goals: 50.0
    )
    desk = Desk()
    desk.train()
    desk.ask(requests.Play(1))
    held = desk.host._runs[1]
    held.is_slow, held.next_measure_at = True, 0.0
    desk.host.work()
    assert held.next_measure_at - held._sent_at > 1000


def test_weights_that_fit_into_no_message_are_not_exported(monkeypatch):
    desk = Desk()
    desk.train()
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    made = only(replies.Exported, desk.ask(requests.Export(1, "safetensors")))
    assert "more than" in made.problem.message
    assert made.data == b""
    monkeypatch.undo()
    assert only(replies.Exported, desk.ask(requests.Export(1, "safetensors"))).data


def test_a_model_with_very_many_parameters_is_not_captured(monkeypatch):
    desk = Desk()
    desk.train(mode="captured")
    monkeypatch.setattr(verify, "MOST_PARAMETERS", 3)
    state = of(replies.TrainState, desk.steps(3))[-1]
    assert (state.mode, state.step) == ("reference", 3)
    assert "so many parameters" in state.why
