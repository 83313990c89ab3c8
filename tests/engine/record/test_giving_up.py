"""A recorder that fails itself: the program runs on as ever, and the tape says that it ends."""

import inspect

import pytest

from gradscribe.engine.record import freeze
from gradscribe.engine.record.backward.backward_pass import Backward
from gradscribe.engine.record.backward.hooks import NodeHooks
from gradscribe.engine.record.backward.nodes import Nodes
from gradscribe.engine.record.backward.passes import PassReader
from gradscribe.engine.record.forward import function_mode
from gradscribe.engine.record.forward.failure import FailurePoint
from gradscribe.engine.record.forward.modules import Modules
from gradscribe.engine.record.forward.op_recorder import OpRecorder
from gradscribe.engine.record.forward.optimizers import Optimizers
from gradscribe.engine.record.log import Log
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.values.copies import SnapshotStore
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.record.writes import Writes
from gradscribe.engine.run import run
from tests.engine.mirror import mirror, plain

PROGRAM = """
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x / 2
    @staticmethod
    def backward(ctx, g):
        return g / 2
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    loss = Half.apply(net(torch.randn(5, 3))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item(), net[0].weight.grad.norm().item())
"""
RUNS_THE_PROGRAM = {
    (OpRecorder, "record_opaque_call"),
    (Backward, "run"),
    (Optimizers, "_pre"),
    (Optimizers, "_post"),
    (Optimizers, "_wrapped"),
    (Writes, "_shared"),
    (OpRecorder, "note_failure"),
    (Log, "stop_on_error"),
    (Log, "describe_omissions"),
}
"""Methods around the program's call or the report of a fault: their parts are made to fail."""
OWNERS = (
    Backward,
    FailurePoint,
    Log,
    Modules,
    NodeHooks,
    Nodes,
    OpRecorder,
    Optimizers,
    PassReader,
    SnapshotStore,
    Source,
    Tensors,
    Writes,
)
PARTS = [
    (owner, name)
    for owner in OWNERS
    for name, thing in vars(owner).items()
    if inspect.isfunction(thing)
    and not name.startswith("__")
    and name not in ("start", "stop", "release")
    and (owner, name) not in RUNS_THE_PROGRAM
]


@pytest.mark.parametrize("at", [0, 9])
@pytest.mark.parametrize(("owner", "name"), PARTS, ids=lambda p: getattr(p, "__name__", p))
def test_a_fault_of_the_recorder_is_not_the_programs(monkeypatch, owner, name, at):
    plainly, leave = getattr(owner, name), Recorder.__exit__
    calls, running = list[str](), [True]

    def faulty(*args, **kwargs):
        if running:
            calls.append(name)
            if len(calls) > at:
                raise ValueError("a fault")
        return plainly(*args, **kwargs)

    def left(recorder, *error):
        running.clear()
        return leave(recorder, *error)

    monkeypatch.setattr(owner, name, faulty)
    monkeypatch.setattr(Recorder, "__exit__", left)
    tape = run.record(PROGRAM)
    _assert_plain(tape, PROGRAM)
    if len(calls) > at:
        assert "ValueError" in tape.truncated


def _assert_plain(tape, program):
    """Assert that the program did what it does in plain torch."""
    _, output, error = plain(program)
    assert tape.stdout == output
    if error is None:
        assert tape.error is None
    else:
        assert (tape.error.type, tape.error.message) == (type(error).__name__, str(error))


@pytest.mark.parametrize(("owner", "name"), PARTS, ids=lambda p: getattr(p, "__name__", p))
def test_a_fault_leaves_the_programs_own_error_as_it_is(monkeypatch, owner, name):
    program = PROGRAM + "print('before')\ntorch.ones(2) @ torch.ones(3)\n"

    def faulty(*args, **kwargs):
        raise ValueError("a fault")

    monkeypatch.setattr(owner, name, faulty)
    _assert_plain(run.record(program), program)


def test_a_fault_at_a_line_keeps_what_was_recorded_before_it_and_names_the_line(monkeypatch):
    program = "w = param(2.0)\n(w * w).backward()\nprint(w.grad)\nx = w + 1\nprint(x)\n"
    whole = run.record(program)
    keep, calls = SnapshotStore.keep, [0]

    def faulty(*args, **kwargs):
        calls[0] += 1
        if whole.ops[1].op == "add" and len(args[0].log.ops) == 2:
            raise ValueError("a fault")
        return keep(*args, **kwargs)

    monkeypatch.setattr(SnapshotStore, "keep", faulty)
    tape = run.record(program)
    assert calls[0]
    assert tape.stdout == whole.stdout
    assert tape.truncated.startswith("Recording stopped at line 4 ")
    assert [op.op for op in tape.ops] == ["mul"]
    assert len(tape.accumulations) == len(whole.accumulations) == 1
    assert tape.snapshots[tape.leaves[0].grad].array() == 4.0


@pytest.mark.parametrize("name", ["_snapshots", "_value", "_op", "_node", "_call", "name_values"])
def test_a_fault_in_building_the_tape_keeps_output_and_error(monkeypatch, name):
    program = PROGRAM + "torch.ones(2) @ torch.ones(3)\n"

    def faulty(*args, **kwargs):
        raise ValueError("a fault")

    monkeypatch.setattr(freeze, name, faulty)
    tape = run.record(program)
    _assert_plain(tape, program)
    assert "ValueError" in tape.truncated
    assert len(tape.prints) == 3
    assert tape.events[-1].kind == "error"


def test_a_function_that_cannot_be_classified_is_called_as_usual(monkeypatch):
    def faulty(*args, **kwargs):
        raise ValueError("a fault")

    monkeypatch.setattr(function_mode, "classify", faulty)
    monkeypatch.setattr(function_mode, "known_functions", {})
    _assert_plain(run.record(PROGRAM), PROGRAM)


def test_running_out_of_frames_is_the_programs_own_end():
    tape = mirror("def deep(x):\n    return deep(x * 2)\ndeep(torch.ones(1))")
    assert tape.error is not None
    assert tape.error.type == "RecursionError"
