"""An op of a tape as lines of its own: they make the same numbers again."""

import pytest
import torch

from engine import lab, run
from engine.wire import Probe
from playback.lab.own import lines

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
    "a = tensor([0.1, 0.2], dtype=torch.float64)\ny = torch.softmax(a, dim=0)",
]


@pytest.mark.parametrize("source", PROGRAMS)
def test_the_lines_make_the_op_again(source):
    tape = run.record(source)
    op = tape.ops[-1]
    made = next(value for value in tape.values if value.id == op.outputs[0])
    probed = lab.probe(Probe(1, lines(tape, op)))
    assert probed.problem is None, lines(tape, op)
    expected = torch.from_numpy(tape.snapshots[made.snapshot].array().copy())
    found = torch.from_numpy(probed.results[0].snapshot.array().copy())
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def test_a_big_tensor_keeps_its_shape():
    tape = run.record("x = torch.randn(300, 5)\ny = x * 2")
    probed = lab.probe(Probe(1, lines(tape, tape.ops[-1])))
    assert probed.results[0].snapshot.shape == (300, 5)
