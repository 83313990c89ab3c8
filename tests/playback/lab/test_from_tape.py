"""An op of a tape as lines of its own: they make the same numbers again."""

import time

import pytest
import torch

from gradscribe.engine.inspect import lab
from gradscribe.engine.protocol.messages import Probe
from gradscribe.engine.run import run
from gradscribe.playback.lab.from_tape import program_for

PROGRAMS = [
    "a = param([[1., 2.], [3., 4.]])\nb = tensor([[1., 0.5]])\ny = a * b",
    "a = param([[1., 2.], [3., 4.]])\ny = a @ a",
    "a = tensor([[1., 2.], [3., 4.]])\ny = a.sum(dim=1, keepdim=True)",
    "a = tensor([[1., 2.], [3., 4.]])\ny = a.T",
    "a = tensor([1., 2., 3.])\ny = a.view(3, 1)",
    "a = tensor([1., 2.])\nb = tensor([3., 4.])\ny = torch.cat([a, b])",
    "a = tensor([1., 2.])\nb = tensor([3., 4.])\ny = F.mse_loss(a, b)",
    "net = nn.Linear(2, 3)\ny = net(tensor([[1., -1.]]))",
    "a = tensor([float('nan'), float('inf')])\ny = a + 1",
    "a = tensor([1, 2, 3])\ny = a[1:]",
    "a = torch.arange(24.0).view(2, 3, 4)\ny = a[..., 1:3]",
    "a = torch.arange(24.0).view(2, 3, 4)\ny = a[:, -1, ::2]",
    "a = tensor([1.5, 2.5])\ny = a.to(torch.int64)",
    "np = tensor([1.5, 2.5])\ny = np * 2",
    "torch_ = torch\ntorch = tensor([1.5, 2.5])\ny = torch_.exp(torch)",
    "a = tensor([0.1, 0.2], dtype=torch.float64)\ny = torch.softmax(a, dim=0)",
]


@pytest.mark.parametrize("source", PROGRAMS)
def test_the_lines_make_the_op_again(source):
    tape = run.record(source)
    op = tape.ops[-1]
    made = next(value for value in tape.values if value.id == op.outputs[0])
    probed = lab.probe(Probe(1, program_for(tape, op)))
    assert probed.problem is None, program_for(tape, op)
    expected = torch.from_numpy(tape.snapshots[made.snapshot].array().copy())
    found = torch.from_numpy(probed.results[0].snapshot.array().copy())
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def test_a_nameless_tensor_is_not_called_as_a_variable_of_the_program():
    tape = run.record("a = torch.ones(2, 2)\nc = a + 1\ns = (a @ c).softmax(dim=1)")
    assert program_for(tape, tape.ops[-1]) == (
        "b = torch.tensor([[4.0, 4.0], [4.0, 4.0]])\nb.softmax(dim=1)\n"
    )


def test_a_big_tensor_keeps_its_shape():
    tape = run.record("x = torch.randn(300, 5)\ny = x * 2")
    probed = lab.probe(Probe(1, program_for(tape, tape.ops[-1])))
    assert probed.results[0].snapshot.shape == (300, 5)


@pytest.mark.parametrize(
    "argument",
    [
        "type('N', (int,), {'__repr__': lambda self: 'print(9)'})(0)",
        "(type('N', (int,), {'__repr__': lambda self: 'print(9)'})(0),)",
        "type('N', (int,), {'__repr__': lambda self: '0) or print(9'})(0)",
    ],
)
def test_what_a_program_says_its_arguments_are_is_never_run(argument):
    tape = run.record(f"x = torch.ones(2, 2)\ny = x.sum({argument})")
    made = program_for(tape, tape.ops[-1])
    assert "print" not in made
    assert "..." in made


def test_thousands_of_tensors_have_a_name_each():
    tape = run.record("xs = [param(float(i)) for i in range(3000)]\ny = torch.stack(xs)")
    since = time.thread_time()
    written = program_for(tape, tape.ops[0])
    # Each name asked for among all those before it took three seconds.
    assert time.thread_time() - since < 1.5
    names = [line.partition(" = ")[0] for line in written.splitlines()[:-1]]
    assert len(set(names)) == 3000
    assert names[:17] == [*"abcdefghijklmnop", "a_"]
    assert written.splitlines()[-1] == f"torch.stack([{', '.join(names)}])"
