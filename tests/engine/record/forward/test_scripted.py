"""A scripted or traced function is one op, whose nodes are its own."""

import torch

from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run.run import record
from tests.engine.mirror import gradient, plain

SCRIPTED = """import warnings; warnings.simplefilter("ignore")
@torch.jit.script
def scaled(x, n: int):
    for i in range(n):
        x = x * 2 + i
    return x.sum(), x
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
    def forward(self, x):
        return torch.relu(self.layer(x)) / 2
half = torch.jit.script(Half())
traced = torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2))
x = torch.ones(2, requires_grad=True)
total, y = scaled(x, 3)
z = half(y)
w = traced(x)
(total + z.sum() + w.sum()).backward()
print(x.grad)
"""


def test_a_scripted_function_or_module_is_one_op_with_its_nodes():
    tape = record(SCRIPTED)
    assert tape.error is None
    called = [op for op in tape.ops if op.place.line in (16, 17, 18)]
    assert [op.op for op in called] == ["scaled", "Half", "Linear"]
    assert [len(op.outputs) for op in called] == [2, 1, 1]
    assert all(op.nodes for op in called)
    assert all(node.op is not None for node in tape.nodes)
    values = {v.id: v for v in tape.values}
    assert [values[i].name for op in called for i in op.outputs] == ["total", "y", "z", "w"]
    assert called[1].inputs == called[0].outputs[1:]


def test_its_numbers_are_those_without_a_recorder():
    tape = record(SCRIPTED)  # first, for what Python has read of a text scripting needs
    names, output, error = plain(SCRIPTED)
    assert error is None
    assert tape.stdout == output
    assert gradient(tape, "x").tolist() == names["x"].grad.tolist()


def test_one_that_raises_does_so_and_is_what_the_program_failed_in():
    tape = record(
        "f = torch.jit.trace(lambda a, b: a @ b, (torch.ones(2, 2), torch.ones(2, 2)))\n"
        "f(torch.ones(3), torch.ones(2))"
    )
    assert tape.error is not None
    assert tape.error.place.line == 2
    assert tape.fault is not None
    assert len(tape.fault.inputs) == 2


def test_after_the_run_torchs_own_call_is_there_again():
    before = [kind.__call__ for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod)]
    with Recorder("", __file__) as recorder:
        assert torch._C.ScriptFunction.__call__ is not before[0]
    recorder.release()
    after = [kind.__call__ for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod)]
    assert after == before
