"""All advice is sent to the window when there is news, and the run goes on as it would."""

import pytest

from gradscribe.engine.protocol.setup import parse
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.protocol.training.advice import RunAdvice
from gradscribe.engine.protocol.training.replies import Exported, TrainState
from tests.engine.train.serve.test_host import Desk, of, only

SLOW = {"data": "sine", "model": {"name": "mlp", "layers": [128]}, "batch": 0}
CRAWL = {"name": "sgd", "lr": 4e-7}
LINE = {"data": "xor", "model": "linear", "batch": 0}
LARGE = {"data": {"name": "formula", "formula": "300 * x + 700"}, "model": "linear", "batch": 0}


@pytest.fixture
def desk():
    return Desk()


def kinds(messages):
    return [[one.kind for one in given.advice] for given in of(RunAdvice, messages)]


def test_advice_follows_the_state_of_a_new_run(desk):
    said = desk.train(**LINE)
    assert kinds(said) == [["linear"]]
    types = [type(message) for message in said]
    assert types.index(TrainState) < types.index(RunAdvice)


def test_a_run_without_any_is_said_to_have_none(desk):
    assert kinds(desk.train(data="moons")) == [[]]


def test_the_same_advice_is_sent_once(desk):
    desk.train(**LINE)
    assert kinds(desk.steps(30)) == []
    assert kinds(desk.ask(requests.Pause(1))) == []


def test_a_slow_run_is_advised_while_it_plays(desk):
    desk.train(**SLOW, optimizer=CRAWL)
    desk.ask(requests.Play(1))
    said = []
    while not any(kinds(said)):
        before = len(desk.said)
        assert desk.host.work() is not None
        said += desk.said[before:]
    assert kinds(said) == [["rate"]]
    assert of(TrainState, said)[-1].status == "running"


def test_advice_goes_with_what_it_was_about(desk):
    desk.train(**SLOW, optimizer=CRAWL)
    assert kinds(desk.steps(200))[-1] == ["rate"]
    better = parse({**SLOW, "optimizer": {"name": "sgd", "lr": 0.01}})
    assert kinds(desk.ask(requests.ChangeSetup(1, better))) == [[]]
    assert kinds(desk.steps(200)) == []


def test_going_back_before_the_steps_takes_their_advice_back(desk):
    desk.train(**SLOW, optimizer=CRAWL)
    assert kinds(desk.steps(200))[-1] == ["rate"]
    assert kinds(desk.ask(requests.Rewind(1, 3))) == [[]]


def test_a_restart_with_the_offered_change_has_none(desk):
    desk.train(**LINE)
    bent = parse({**LINE, "model": "mlp"})
    assert kinds(desk.ask(requests.ChangeSetup(1, bent))) == [[]]


def test_a_loss_that_diverges_names_the_unscaled_data(desk):
    desk.train(**LARGE, optimizer={"name": "sgd", "lr": 2.0}, standardize=False)
    state = of(TrainState, desk.steps(3000))[-1]
    assert state.reached == "nan"
    assert "Targets are about" in state.problem.hint


def test_a_script_has_the_advice_as_comments(desk):
    desk.train(**LINE)
    source = only(Exported, desk.ask(requests.Export(1, "script", 3))).data.decode()
    assert "# A straight line gets" in source
    assert compile(source, "script.py", "exec")
