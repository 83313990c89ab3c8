"""A nudge changes one number of a tensor, unseen by autograd, and says where it cannot."""

import pytest
import torch

from gradscribe.engine.record.values.nudges import Nudge


def test_one_element_is_set_and_its_number_before_is_noted():
    t = torch.arange(6.0).reshape(2, 3)
    nudge = Nudge(0, 4, 9.5)
    nudge.apply(t)
    assert t.tolist() == [[0, 1, 2], [3, 9.5, 5]]
    assert (nudge.before, nudge.was_applied, nudge.problem) == (4, True, "")


def test_a_transposed_tensor_is_counted_by_its_own_rows():
    t = torch.arange(6.0).reshape(3, 2).t()
    expected = t.clone()
    expected[0, 1] = -1.0
    Nudge(0, 1, -1.0).apply(t)
    assert torch.equal(t, expected)


def test_autograd_sees_no_write():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    version, node = y._version, y.grad_fn
    Nudge(0, 0, 7.0).apply(y)
    assert (y._version, y.grad_fn) == (version, node)
    y.sum().backward()
    assert x.grad[0] == 7


@pytest.mark.parametrize("of", [lambda y: y[0], lambda y: y.t()[:, 0], lambda y: y.expand(3, 2, 2)])
def test_in_memory_of_its_own_a_view_leaves_its_base_alone(of):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    z = of(y)
    expected = z.detach().clone()
    expected.view(-1)[1] = 8.0
    Nudge(0, 1, 8.0, own_memory=True).apply(z)
    assert torch.equal(z.detach(), expected)
    assert torch.equal(y, x)
    z.sum().backward()
    assert torch.equal(x.grad, torch.autograd.grad(of(x * 1).sum(), x)[0])


def test_elements_that_share_memory_are_refused():
    nudge = Nudge(0, 1, 8.0)
    t = torch.ones(1).expand(3)
    nudge.apply(t)
    assert "share" in nudge.problem
    assert t.tolist() == [1, 1, 1]


def test_memory_that_cannot_be_written_is_a_problem_and_no_exception():
    nudge = Nudge(0, 0, 8.0)
    nudge.apply(torch.eye(2).to_sparse())
    assert nudge.problem
