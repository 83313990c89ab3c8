"""A program's computation as a function: the same number and gradients as the program's own."""

import pytest
import torch

from gradscribe.engine.inspect.costs.replay import replay_of
from gradscribe.engine.inspect.sharing import NotComparable
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run import run

SUITE = {
    "an expression": """
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = ((w * 3).exp() / 10).sum()
""",
    "writes in place": """
x = torch.ones(3)
x += 1
x[0] = 5
w = torch.tensor(2.0, requires_grad=True)
y = x * w
y *= 2
y[1] = w
loss = y.view(1, 3).T.sum()
""",
    "a module and normalized data": """
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
x = torch.randn(16, 4)
x = (x - x.mean(0)) / x.std(0)
loss = torch.nn.functional.mse_loss(net(x), torch.ones(16, 1))
""",
    "no_grad and several results": """
w = (torch.arange(3.0) + 1).requires_grad_()
with torch.no_grad():
    most = (w * 2).max()
a, b = torch.stack([w, w.detach()]).unbind(0)
loss = (a * b - most).pow(2).mean()
""",
    "batch normalization": """
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8))
loss = (net(torch.randn(16, 4)) ** 3).mean()
""",
    "a loop of steps": """
w = torch.tensor([1.0, 2.0], requires_grad=True)
for n in range(3):
    loss = (w**2).sum()
    w.data -= 0.1 * torch.autograd.grad(loss, w)[0]
loss = (w**2).sum()
""",
}


def first_pass(source):
    """Return what plain torch gives at the first pass: its number, and all gradients."""
    names = {"torch": torch}
    seen = []
    real = torch.autograd.grad

    def noting(outputs, inputs, *args, **kwargs):
        found = real(outputs, inputs, *args, **kwargs)
        seen.append((outputs.detach(), [found[0]]))
        return found

    torch.autograd.grad = noting
    try:
        exec(source, names)
    finally:
        torch.autograd.grad = real
    if seen:
        return seen[0]
    leaves = [
        v for v in names.values() if isinstance(v, torch.Tensor) and v.is_leaf and v.requires_grad
    ]
    if "net" in names:
        leaves = list(names["net"].parameters())
    return names["loss"].detach(), list(real(names["loss"], leaves))


@pytest.mark.parametrize("source", SUITE.values(), ids=SUITE)
def test_the_calls_alone_give_the_program_s_number_and_gradients_again_and_again(source):
    torch.manual_seed(0)
    number, gradients = first_pass(source)
    run.execute(Run(1, source + "loss.backward()\n"))
    with replay_of(run.last_run, 0) as replay:
        for _ in range(3):
            root = replay.run()
            assert torch.equal(root.detach(), number)
            found = torch.autograd.grad(root, replay.leaves)
            assert len(found) == len(gradients)
            for own in found:
                assert any(own.shape == g.shape and torch.equal(own, g) for g in gradients)
        bare = replay.run(graph=False)
        assert torch.equal(bare, number)
        assert not bare.requires_grad


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print(1)", "no backward pass"),
        ("w = param([1.0, 2.0])\n(w * 2).backward(torch.ones(2))", "single number"),
        ("w = param(1.0)\nloss = w * 2\nraise ValueError('mine')\nloss.backward()", "no backward"),
    ],
)
def test_what_cannot_be_repeated_is_said(source, reason):
    run.execute(Run(1, source))
    with pytest.raises(NotComparable, match=reason), replay_of(run.last_run, 0):
        pass
