"""A Function is rebuilt from its text, and only if that text merely computes."""

import ast

import pytest
import torch

from gradscribe.engine.run.custom_functions.isolated_function import (
    NotIsolated,
    custom_functions,
    isolated_function,
)

SQUARE = """
{head}
class Square({base}):
    @staticmethod
    def forward(ctx, x{more}):
        ctx.save_for_backward(x)
        return {value}

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g
"""


def tree(value="x * x", head="import torch", base="torch.autograd.Function", more=""):
    return ast.parse(SQUARE.format(value=value, head=head, base=base, more=more))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"head": "from torch.autograd import Function", "base": "Function"},
        {"head": "from torch import autograd", "base": "autograd.Function"},
        {"head": "import torch as t, numpy as np", "base": "torch.autograd.Function"},
        {"value": "torch.exp(2 * x.abs().log())"},
        {"value": "power(x, TWO)", "head": "TWO = 2\ndef power(x, n):\n    return x ** n"},
        {"value": "torch.from_numpy(np.square(x.detach().numpy()))", "head": "import numpy as np"},
        {"value": "torch.stack([a * a for a in x])"},
        {"value": "x.pow(math.sqrt(4.0))", "head": "import math"},
    ],
    ids=str,
)
def test_a_copy_computes_what_the_class_computes(given):
    base = given.get("base", "torch.autograd.Function")
    known = custom_functions(tree(**given))
    assert list(known) == ["Square"], base
    function = isolated_function(tree(**given), "Square")
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    out = function.apply(x)
    torch.testing.assert_close(out, torch.tensor([1.0, 9.0], dtype=torch.float64))
    out.sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())


@pytest.mark.parametrize(
    "value",
    [
        "open('x')",
        "eval('x')",
        "x.__class__",
        "x._backward_hooks",
        "getattr(x, 'data')",
        "globals()",
        "torch.save(x, 'y')",
        "torch.load('y')",
        "torch.from_file('y')",
        "torch.manual_seed(1)",
        "torch.hub.load('a', 'b')",
        "torch.ops.aten.mul(x, x)",
        "np.save('y', 1)",
        "np.load('y')",
        "x.numpy().tofile('y')",
        "x.share_memory_()",
        "x.register_hook(print)",
        "(lambda: x)()",
        "state",
        "os.getcwd()",
        "[y for y in ().__class__.__mro__]",
        "(yield x)",
        "x.storage()",
        "Square.__bases__",
        "f'{x.__init__}'",
    ],
)
def test_everything_else_is_refused(value):
    head = "import os, torch\nimport numpy as np\nstate = []\nstate = [1]"
    with pytest.raises(NotIsolated):
        isolated_function(tree(value, head), "Square")


@pytest.mark.parametrize(
    "head",
    [
        "x = 1\nclass Square:\n    pass",
        "import torch\nclass Square(torch.autograd.Function):\n    pass",
    ],
)
def test_a_name_of_two_classes_is_no_known_function(head):
    assert custom_functions(tree(head=head)) == {}


@pytest.mark.parametrize("base", ["Other", "torch.autograd.Function, Other", "make()", "nn.Module"])
def test_other_classes_are_no_functions(base):
    assert custom_functions(tree(base=base)) == {}


def test_a_library_of_the_program_s_own_is_not_imported():
    with pytest.raises(NotIsolated):
        isolated_function(tree("mine.f(x)", "import mine"), "Square")
    with pytest.raises(NotIsolated):
        isolated_function(tree("torch.f(x)", "import mine as torch"), "Square")
