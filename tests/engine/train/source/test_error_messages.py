"""Exceptions of torch, in words."""

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import error_messages
from gradscribe.engine.train.source.program import ProgramError

LSTM = (
    "could not create a primitive descriptor for the LSTM forward propagation primitive. "
    "Run workload with environment variable ONEDNN_VERBOSE=all to get additional "
    "diagnostic information."
)
ALONE = "Expected more than 1 value per channel when training, got input size torch.Size([1, 4])"
OWN = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.LSTM(2, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.b(self.a(x)[0])
"""


@pytest.mark.parametrize(
    ("text", "given", "message", "hint"),
    [
        (LSTM, {"amp": "bfloat16"}, "LSTM in bfloat16 is not possible on this device", "amp empty"),
        (LSTM, {"dtype": "float16"}, "LSTM in float16 is not possible on this device", "dtype"),
        ("could not create a primitive", {"amp": "float16"}, "This model in float16", "float32"),
        (LSTM, {}, LSTM, ""),
        ("can't allocate memory: 7 bytes", {}, "Not enough memory for this", ""),
        ("boom", {"amp": "bfloat16"}, "boom", ""),
        (ALONE, {"batch": 8}, ALONE, "last batch"),
        (ALONE, {"batch": 8, "drop_last": True}, ALONE, ""),
        (ALONE, {"batch": 1}, ALONE, ""),
    ],
)
def test_what_torch_raises_is_said_as_what_can_be_done(text, given, message, hint):
    found = error_messages.explained(Problem("RuntimeError", text), Setup(**given))
    assert found.message.startswith(message)
    assert hint in found.hint
    assert bool(hint) == bool(found.hint)


def is_possible(amp):
    """Return whether plain torch has an LSTM's step in this dtype here."""
    try:
        with torch.autocast("cpu", getattr(torch, amp)):
            torch.nn.LSTM(2, 4)(torch.zeros(3, 2))[0].sum().backward()
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("amp", ["bfloat16", "float16"])
def test_an_lstm_that_the_processor_cannot_do_is_refused_in_words(amp):
    tokens = {"data": {"name": "copy_tokens", "n": 40}, "model": "recurrent"}
    own = {"data": {"name": "circle", "n": 40}, "model": {"name": "own", "source": OWN}}
    for given, place in ((tokens, "amp"), (own, "model.source")):
        given = setup.parse({**given, "amp": amp, "batch": 8})
        if is_possible(amp):
            TrainingRun(given).advance(2)
            continue
        # Some processors have the forward pass without gradients: then the first step fails.

        try:
            run = TrainingRun(given)
            run.advance(2)
        except (SetupError, ProgramError) as error:
            found, words = error.place, str(error)
        else:
            assert run.step == 0
            found, words = place, run.problem.message
        assert found == place
        assert f"LSTM in {amp} is not possible on this device" in words
        assert "ONEDNN" not in words
        TrainingRun(setup.parse({**tokens, "batch": 8})).advance(2)


def test_a_step_that_the_processor_cannot_do_is_told_in_words(monkeypatch):
    run = TrainingRun(setup.parse({"data": "sine", "amp": "bfloat16"}))

    def cannot(*_):
        raise RuntimeError(LSTM)

    monkeypatch.setattr(run.program.model, "forward", cannot)
    run.advance(1)
    assert run.problem.message == "LSTM in bfloat16 is not possible on this device"
    assert run.problem.hint == "Choose float32: leave amp empty"


def test_a_schedule_that_is_over_is_told_with_what_to_change():
    given = {"data": "line", "model": "linear", "schedule": {"name": "one_cycle", "total_steps": 5}}
    run = TrainingRun(setup.parse(given))
    run.advance(9)
    assert run.step == 5
    assert run.problem.message == "The schedule one_cycle is over after 5 steps"
    assert "total_steps" in run.problem.hint
    longer = {**given["schedule"], "total_steps": 12}
    again = TrainingRun(setup.parse({**given, "schedule": longer}))
    again.advance(9)
    assert (again.step, again.problem) == (9, None)


def test_a_last_batch_of_one_is_dropped_where_one_follows_the_hint():
    net = {"name": "mlp", "layers": [4], "norm": "batch"}
    given = {"data": {"name": "moons", "n": 21}, "model": net, "batch": 8}  # 17 examples: 8, 8, 1
    run = TrainingRun(setup.parse(given))
    run.advance(9)
    assert run.step == 2
    assert "drop it" in run.problem.hint
    run.change_setup(setup.parse({**given, "drop_last": True}))
    run.advance(7)
    assert (run.step, run.problem) == (9, None)
