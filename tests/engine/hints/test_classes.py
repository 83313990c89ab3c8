"""Hints for classes that are not made, named wrongly or called as functions."""

import pytest

from gradscribe.engine.hints import classes
from gradscribe.engine.run.run import record
from tests.engine.hints.told import ROW_CHECKS

NET = """class Net(nn.Module):
    def {init}(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.parametrize("check", ROW_CHECKS)
@pytest.mark.parametrize("row", classes.ROWS, ids=lambda row: row.pattern[:40])
def test_every_row(check, row):
    check(row)


def hint_of(source):
    tape = record(source)
    assert tape.error is not None
    return tape.error.hint


@pytest.mark.parametrize("name", ["_init_", "__int__", "init", "__init"])
def test_a_misspelt_init_is_named_with_its_line(name):
    source = NET.format(init=name) + "opt = optim.SGD(Net().parameters(), lr=0.1)"
    hint = hint_of(source)
    assert f"Python never calls {name} on line 2" in hint
    assert "__init__" in hint


def test_a_model_without_layers_is_no_misspelling():
    source = "class Net(nn.Module):\n    pass\nopt = optim.SGD(Net().parameters(), lr=0.1)"
    assert "assign its layers to self" in hint_of(source)


@pytest.mark.parametrize(
    "use", ["net.parameters()", "net.state_dict()", "net.forward(tensor([1.0]))"]
)
def test_a_class_that_is_not_made_is_named(use):
    source = NET.format(init="__init__") + f"net = Net\n{use}"
    if "forward" in use:
        assert "missing 1 required positional argument" in record(source).error.message
        return
    assert "net is the class Net" in hint_of(source)
    assert "on line 7" in hint_of(source)
    assert "net = Net()" in hint_of(source)


def test_another_missing_argument_is_asked_for():
    assert hint_of("nn.Linear(3)") == "Also give it 'out_features'."


@pytest.mark.parametrize(
    ("kind", "instead"),
    [("ReLU", "torch.relu(x)"), ("Sigmoid", "torch.sigmoid(x)"), ("GELU", "nn.GELU()(x)")],
)
def test_a_module_that_is_used_as_a_function_is_shown_the_call(kind, instead):
    source = f"x = torch.ones(2, 3)\nx = nn.{kind}(x)\nnn.Linear(3, 1)(x)"
    hint = hint_of(source)
    assert f"nn.{kind}(x) on line 2 makes a module" in hint
    assert instead in hint


def test_a_module_in_a_variable_is_no_call():
    assert "is a module" in hint_of("act = nn.ReLU()\nnn.Linear(3, 1)(act)")


FUNCTION = """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x * k
    @staticmethod
    def backward(ctx, g):
        return {returned}
x = param([1.0, 2.0])
Scale.apply(x, 2.0).sum().backward()
"""


@pytest.mark.parametrize(
    ("returned", "count"), [("g", "1 gradient,"), ("g, None, g", "3 gradients,")]
)
def test_the_wrong_number_of_gradients_is_counted_against_forwards_arguments(returned, count):
    hint = hint_of(FUNCTION.format(returned=returned))
    assert f"backward on line 7 returns {count}" in hint
    assert "forward takes 2 arguments (x, k)" in hint


def test_the_right_number_of_gradients_is_no_error():
    assert record(FUNCTION.format(returned="g * 2.0, None")).error is None


def test_a_second_derivative_of_a_linear_model_is_constant():
    source = (
        "x = param([1.0, 2.0])\nout = (3 * x).sum()\n"
        "g = torch.autograd.grad(out, x, create_graph=True)[0]\n"
    )
    hint = hint_of(source + "torch.autograd.grad((g * param(1.0)).sum(), x)")
    assert "derivative is constant" in hint
    other = hint_of("x = param(1.0)\ny = param(2.0)\ntorch.autograd.grad(x * 2, y)")
    assert "allow_unused=True" in other
