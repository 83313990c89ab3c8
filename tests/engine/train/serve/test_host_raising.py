"""A module of the user's may raise anything anywhere: it is told, and the host goes on."""

import pytest

from gradscribe.engine.protocol.training import replies, requests
from tests.engine.train.serve.test_host import Desk, of, only

ODD = "type('Odd', (type,), {'__name__': property(lambda kind: 1 / 0)})"
"""A kind of class that cannot be asked what it is called."""
WORDS = {
    "SystemExit(0)": "The program ended itself with exit code 0",
    "SystemExit('tired')": "tired",
    "KeyboardInterrupt": "",
    "BaseException('odd')": "odd",
    "AssertionError('no')": "no",
    "type('E', (Exception,), {'__str__': lambda self: 1 / 0})()": "",
    f"{ODD}('E', (Exception,), {{}})('odd')": "odd",
}


def own(raised, where, made=""):
    """A model that raises where a condition on its calls holds."""
    source = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)
        self.register_buffer("calls", torch.zeros(()))
        {made}

    def forward(self, x):
        self.calls += self.training
        if {where}:
            raise {raised}
        return self.line(x)
"""
    return {"data": "moons", "model": {"name": "own", "source": source}, "validate_every": 2}


@pytest.fixture
def desk():
    return Desk()


def goes_on(desk):
    """Return whether another run is trained afterwards."""
    desk.train(9)
    return only(replies.TrainState, desk.steps(2, 9)[-1:]).step == 2


@pytest.mark.parametrize("raised", WORDS)
def test_a_module_that_raises_as_it_is_made_is_refused(desk, raised):
    said = desk.train(**own(raised, "False", f"raise {raised}"))
    problem = only(replies.TrainProblem, said)
    assert problem.place == "model.source"
    assert problem.problem.message == WORDS[raised]
    assert problem.problem.place.line == 6
    assert goes_on(desk)


@pytest.mark.parametrize("raised", WORDS)
def test_a_module_that_raises_at_once_is_refused(desk, raised):
    problem = only(replies.TrainProblem, desk.train(**own(raised, "True")))
    assert problem.place == "model.source"
    assert problem.problem.message == WORDS[raised]
    assert goes_on(desk)


@pytest.mark.parametrize("mode", ["reference", "captured"])
@pytest.mark.parametrize("raised", WORDS)
def test_a_step_that_raises_ends_the_run_at_the_one_before(desk, raised, mode):
    desk.train(**own(raised, "self.calls > 3"), mode=mode)
    state = of(replies.TrainState, desk.steps(20))[-1]
    assert (state.status, state.step) == ("failed", 3)
    assert state.problem.message == WORDS[raised]
    assert state.problem.place.line == 11
    assert goes_on(desk)


@pytest.mark.parametrize("raised", WORDS)
def test_a_validation_that_raises_is_told_and_the_step_before_it_kept(desk, raised):
    desk.train(**own(raised, "self.calls > 3 and not self.training"))
    state = of(replies.TrainState, desk.steps(20))[-1]
    assert (state.status, state.step) == ("failed", 4)
    assert state.problem.message == WORDS[raised]
    assert goes_on(desk)


@pytest.mark.parametrize("raised", WORDS)
def test_an_event_that_raises_is_told(desk, raised):
    desk.train(**own(raised, "self.calls > 0 and self.training"))
    said = desk.ask(requests.StepEvent(1), requests.StepEvent(1))
    assert of(replies.TrainState, said)[-1].problem.message == WORDS[raised]
    assert goes_on(desk)


@pytest.mark.parametrize("raised", WORDS)
def test_a_view_that_raises_is_left_out(desk, raised):
    few = own(raised, "not self.training and len(x) > 1000")
    desk.train(**few)
    said = desk.ask(
        requests.WatchViews(1, tuple(map(requests.ViewRequest, ("boundary", "scores", "weights"))))
    )
    assert {view.kind for view in of(replies.ViewReply, said)} == {"scores", "weights"}
    assert of(replies.TrainState, desk.steps(2))[-1].step == 2
    assert goes_on(desk)


@pytest.mark.parametrize("raised", WORDS)
def test_a_step_that_raises_while_it_is_recorded_is_a_tape_with_the_error(desk, raised):
    desk.train(**own(raised, "self.calls > 0 and self.training"))
    tape = only(replies.StepTape, desk.ask(requests.RecordStep(1, 1))).tape
    assert tape.status == "error"
    assert tape.error.message == WORDS[raised]
    assert goes_on(desk)
