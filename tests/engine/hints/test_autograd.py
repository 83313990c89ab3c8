"""The hints for backward and for in-place changes fit what torch really says."""

import pytest
import torch

from gradscribe.engine.hints import autograd
from tests.engine.hints.told import ROW_CHECKS, told

X = "x = torch.ones(2, requires_grad=True)\n"


@pytest.mark.parametrize("check", ROW_CHECKS)
@pytest.mark.parametrize("row", autograd.ROWS, ids=lambda row: row.pattern[:40])
def test_every_row(check, row):
    check(row)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("(x * 2).backward()", "backward(gradient=...)"),
        ("y = (x * x).sum()\ny.backward()\ny.backward()", "retain_graph=True"),
        ("y = x.exp()\ny.add_(1)\ny.sum().backward()", "Exp saved this tensor"),
        ("x.add_(1)", "torch.no_grad()"),
        ("x += 1", "torch.no_grad()"),
        ("x[0] = 1", "torch.no_grad()"),
        ("torch.ones(1).backward()", "requires_grad=True"),
        ("x.numpy()", ".detach().numpy()"),
        ("torch.tensor([1, 2], requires_grad=True)", "2.0 instead of 2"),
        ("y = x * 2\ny.requires_grad = False", ".detach()"),
        ("import copy\ncopy.deepcopy(x * 2)", ".detach().clone()"),
        ("(x * 2).backward(torch.ones(3))", "shape"),
        ("z = torch.ones(1, requires_grad=True)\ntorch.autograd.grad(x.sum(), z)", "allow_unused"),
        ("torch.func.vmap(torch.mul)(x, torch.ones(5))", "they have [2, 5]: give in_dims None"),
        ("torch.func.vmap(lambda a: a.item())(x)", "leave .item() out"),
        ("torch.func.vmap(lambda a: a if a > 0 else -a)(x)", "torch.where"),
        ("torch.func.grad(lambda a: a * 2)(x)", "jacrev"),
        (
            "with torch.inference_mode():\n    y = torch.ones(2)\n(y * x).sum().backward()",
            "no_grad()",
        ),
    ],
)
def test_torchs_own_error_gets_its_hint(source, words):
    assert words in told(X + source, torch=torch)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("(g,) = torch.autograd.grad((x**3).sum(), x)\ng.sum().backward()", True),
        ("g = torch.autograd.grad((x**3).sum(), x)[0]\ntorch.autograd.grad(g.sum(), x)", True),
        ("(x**2).sum().backward()\np = x.grad.norm()\np.backward()", True),
        ("torch.autograd.grad(x.detach().sum(), x)", False),
        ("y = x.detach() * 2\ny.sum().backward()", False),
    ],
)
def test_a_gradient_without_a_graph_is_told_from_other_cuts(source, says):
    hint = told("import torch\nx = torch.ones(2, requires_grad=True)\n" + source)
    assert ("create_graph=True" in hint) == says
    assert ("detach()" in hint) != says
