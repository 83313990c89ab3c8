"""Jacobians of the shape lab, against torch's own."""

import numpy as np
import pytest
import torch
from torch.autograd.functional import jacobian

from gradscribe.engine.inspect.lab import probe
from gradscribe.engine.protocol.check_replies import MAX_DERIVED
from gradscribe.engine.protocol.messages import Probe
from tests.engine.inspect.lab.test_links import SMOOTH


def looked(source):
    return probe(Probe(1, source))


def matrix(probed, source, result=0):
    found = [j for j in probed.jacobians if (j.result, j.input) == (result, source)]
    return np.frombuffer(found[0].data, "<f8").reshape(found[0].shape)


@pytest.mark.parametrize("expression", SMOOTH)
def test_the_jacobian_is_torchs(expression):
    shapes = SMOOTH[expression]
    made = "\n".join(f"{n} = torch.rand{s} + 0.1" for n, s in zip("ab", shapes, strict=True))
    probed = looked(f"{made}\n{expression}")
    given = tuple(torch.from_numpy(one.snapshot.array().copy()) for one in probed.inputs)

    def function(a, b):
        return eval(expression, {"a": a, "b": b, "torch": torch, "F": torch.nn.functional})

    for number, part in enumerate(jacobian(function, given)):
        expected = part.reshape(probed.results[0].snapshot.numel, -1).double().numpy()
        np.testing.assert_allclose(matrix(probed, number), expected, rtol=1e-6)


def test_what_cannot_be_differentiated_has_no_jacobian():
    assert not looked("x = torch.tensor([1, 2])\nx * 2").jacobians
    assert not looked("x = torch.rand(3)\nx.argmax()").jacobians
    assert not looked(f"x = torch.rand({MAX_DERIVED + 1})\nx * 2").jacobians
    assert not looked("x = torch.rand(2)\nx.detach() * 2").jacobians


def test_a_row_holds_the_gradients_that_backward_would_leave():
    source = "x = torch.tensor([0.5, 2.0])\nw = torch.tensor([3.0, -1.0])\n(x * w).tanh()"
    probed = looked(source)
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    result = (x * torch.tensor([3.0, -1.0])).tanh()
    for row in range(2):
        x.grad = None
        result[row].backward(retain_graph=True)
        np.testing.assert_allclose(matrix(probed, 0)[row], x.grad.numpy(), rtol=1e-6)


def test_kinks_and_flat_steps_are_torchs_too():
    assert matrix(looked("x = torch.tensor([-1.0, 0.0, 2.0])\nx.relu()"), 0).tolist() == [
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 1],
    ]
    assert not matrix(looked("x = torch.tensor([1.4, 2.6])\nx.round()"), 0).any()
