"""Mistakes that tutorials warn of, typed into the window: each is in the list of findings."""

import pytest

pytestmark = pytest.mark.e2e

BEGINNING = """import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.randn(16, 3), torch.randn(16, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
"""
LOOP = """for step in range(6):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
"""

MISTAKES = [
    pytest.param(
        LOOP.replace("mse_loss(net(x), y)", "mse_loss(net(x).squeeze(1), y)"),
        "silent-broadcast",
        id="a column meets a row",
        marks=pytest.mark.checklist(11, 12),
    ),
    pytest.param(
        LOOP.replace("    optimizer.zero_grad()\n", ""),
        "missing-zero-grad",
        id="zero_grad forgotten",
        marks=pytest.mark.checklist(21, 231),
    ),
    pytest.param(
        "a = torch.ones(3, device='meta')\nb = x[0] + a\n",
        "device-mismatch",
        id="tensors on different devices",
        marks=pytest.mark.checklist(90, 119, 203, 228),
    ),
    pytest.param(
        "net.to('meta')\nnet(x)\n",
        "device-mismatch",
        id="model and batch on different devices",
        marks=pytest.mark.checklist(22, 85, 162),
    ),
    pytest.param(
        "net(x.double())\n", "dtype-mismatch", id="another dtype", marks=pytest.mark.checklist(72)
    ),
    pytest.param(
        "w = torch.randn(3, requires_grad=True) * 0.1\n"
        "for step in range(3):\n"
        "    loss = (x @ w).mean()\n"
        "    loss.backward()\n    print(w.grad)\n",
        "lost-leaf",
        id="the leaf is lost",
        marks=pytest.mark.checklist(72),
    ),
    pytest.param(
        "for step in range(4):\n"
        "    optimizer.zero_grad()\n"
        "    loss = nn.functional.mse_loss(net(x), y)\n"
        "    optimizer.step()\n    loss.backward()\n",
        "step-before-backward",
        id="step before backward",
        marks=pytest.mark.checklist(74),
    ),
    pytest.param(
        "for step in range(4):\n"
        "    loss = nn.functional.mse_loss(net(x), y)\n"
        "    loss.backward()\n"
        "    optimizer.zero_grad()\n    optimizer.step()\n",
        "zero-grad-before-step",
        id="cleared before step",
        marks=pytest.mark.checklist(74, 249),
    ),
    pytest.param(
        LOOP.replace("net(x)", "net.forward(x)"),
        "forward-called-directly",
        id="forward",
        marks=pytest.mark.checklist(77),
    ),
    pytest.param(
        "losses = []\n" + LOOP + "    losses.append(loss)\nprint(sum(losses))\n",
        "kept-graphs",
        id="losses kept",
        marks=pytest.mark.checklist(78),
    ),
    pytest.param(
        "net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.05)\n"
        "x_val, y_val = torch.randn(8, 3), torch.randn(8, 1)\n"
        + LOOP
        + "with torch.no_grad():\n    print(nn.functional.mse_loss(net(x_val), y_val))\n",
        "train-in-evaluation",
        id="eval forgotten",
        marks=pytest.mark.checklist(79, 82),
    ),
    pytest.param(
        "x_val, y_val = torch.randn(8, 3), torch.randn(8, 1)\n" + LOOP + "    net.eval()\n"
        "    val_loss = nn.functional.mse_loss(net(x_val), y_val)\n"
        "    print(val_loss.item())\n"
        "    net.train()\n",
        "graph-in-evaluation",
        id="no_grad forgotten",
        marks=pytest.mark.checklist(84, 232),
    ),
    pytest.param(
        "layer = nn.Linear(3, 4)\n"
        "nn.init.ones_(layer.weight)\n"
        "nn.init.zeros_(layer.bias)\n"
        "head = nn.Linear(4, 1)\nnn.init.ones_(head.weight)\n"
        "net = nn.Sequential(layer, nn.Tanh(), head)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.05)\n" + LOOP,
        "symmetric-units",
        id="weights that start equal",
        marks=pytest.mark.checklist(34),
    ),
    pytest.param(
        "x, y = x * 1500, y * 300\n" + LOOP,
        "unscaled-inputs",
        id="large inputs",
        marks=pytest.mark.checklist(48),
    ),
    pytest.param(
        "w = torch.randn(3, 1, requires_grad=True)\n"
        "loss = (x @ w).detach().pow(2).mean()\n"
        "loss.backward()\n",
        "cut-by-detach",
        id="detach",
        marks=pytest.mark.checklist(103, 173, 223),
    ),
    pytest.param(
        "loss = torch.tensor(nn.functional.mse_loss(net(x), y).item(), requires_grad=True)\n"
        "loss.backward()\n"
        "optimizer.step()\n",
        "cut-by-item",
        id="item in the middle",
        marks=pytest.mark.checklist(229),
    ),
    pytest.param(
        "a = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "b = a.exp()\n"
        "b += 1\n"
        "b.sum().backward()\n",
        "inplace-on-saved",
        id="a saved tensor changed in place",
        marks=pytest.mark.checklist(102, 230),
    ),
    pytest.param(
        "w = torch.ones(3, requires_grad=True)\n"
        "loss = (x @ w).sum()\n"
        "loss.backward()\n"
        "w -= 0.1 * w.grad\n",
        "inplace-on-leaf",
        id="an update outside no_grad",
        marks=pytest.mark.checklist(236, 249),
    ),
    pytest.param(
        "w = torch.ones(3, requires_grad=True)\nw.mul_(2)\n",
        "inplace-on-leaf",
        id="mul_ on a leaf",
        marks=pytest.mark.checklist(239),
    ),
    pytest.param(
        "w = torch.tensor([0.2, 0.9], requires_grad=True)\nw.argmax().backward()\n",
        "nondifferentiable-op",
        id="argmax",
        marks=pytest.mark.checklist(240),
    ),
    pytest.param(
        "w = torch.tensor([0.2, 0.9], requires_grad=True)\ny = w.round().sum()\ny.backward()\n",
        "nondifferentiable-op",
        id="round",
        marks=pytest.mark.checklist(240),
    ),
    pytest.param(
        "x.requires_grad_()\n" + LOOP,
        "requires-grad-on-data",
        id="data requires a gradient",
        marks=pytest.mark.checklist(254, 26),
    ),
    pytest.param(
        "w = torch.tensor([2.0, -4.0], requires_grad=True)\ny = w.sqrt().sum()\ny.backward()\n",
        "first-nan",
        id="nan of a negative root",
        marks=pytest.mark.checklist(194),
    ),
    pytest.param(
        "for group in optimizer.param_groups:\n    group['lr'] = 1e-9\n"
        + LOOP.replace("range(6)", "range(30)"),
        "learning-rate-too-small",
        id="the loss does not fall",
        marks=pytest.mark.checklist(246),
    ),
    pytest.param(
        "value = nn.Linear(3, 1)\n"
        "optimizer = torch.optim.SGD(value.parameters(), lr=0.05)\n"
        "for step in range(4):\n"
        "    now, after = torch.randn(8, 3), torch.randn(8, 3)\n"
        "    reward = torch.randn(8, 1)\n"
        "    loss = nn.functional.mse_loss(value(now), reward + 0.9 * value(after))\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n",
        "target-requires-grad",
        id="a target that is computed",
        marks=pytest.mark.checklist(224),
    ),
    pytest.param(
        "a = torch.tensor(2.0, requires_grad=True)\nb = a**2\nb.backward()\nb.backward()\n",
        "backward-twice",
        id="backward twice",
        marks=pytest.mark.checklist(101),
    ),
    pytest.param(
        "logits, labels = torch.randn(4, 3), torch.tensor([0.0, 1.0, 2.0, 1.0])\n"
        "nn.functional.cross_entropy(logits, labels)\n",
        "wrong-target",
        id="labels as floats",
        marks=pytest.mark.checklist(7),
    ),
]


@pytest.mark.parametrize(("source", "finding"), MISTAKES)
def test_the_mistake_is_found_in_the_window(desk, source, finding):
    desk.run(BEGINNING + source)
    assert finding in desk.findings, (desk.findings, desk.problem)


def test_the_loop_without_a_mistake_has_no_finding(desk):
    desk.run(BEGINNING + LOOP)
    assert (desk.findings, desk.problem) == (set(), "")
