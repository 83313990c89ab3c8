"""A wrong gradient is traced to the link of the chain that gives its numbers."""

import pytest
import torch

from gradscribe.engine.inspect.by_hand import hand_check
from gradscribe.engine.protocol.messages import HandCheck, HandName
from gradscribe.engine.run import run

CHAIN = """
x = torch.tensor([[1., 2.], [4., 5.], [0.5, -1.]])
W = param([[.1, .2], [.3, -.4]])
b = param([0.1, 0.2])
z = x @ W + b
h = torch.tanh(z)
loss = (h ** 2).mean()
loss.backward()
"""
USES = "x = param(3.0)\ny = x * x + 2 * x\nloss = y + x ** 3\nloss.backward()\n"


def slips(source, code, value, number=0):
    tape = run.record(source)
    ids = {v.name: v.id for v in tape.values if v.name}
    names = tuple(HandName(name, at) for name, at in ids.items())
    answer = hand_check(HandCheck(0, number, code, names, ids[value]))
    assert answer.problem is None
    assert answer.rows[0].verdict in ("differs", "shape")
    return [(slip.kind, tape.ops[slip.op].op if slip.op >= 0 else "") for slip in answer.slips]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x.T @ (2 * h / 6)", ("factor", "tanh")),
        ("x.T @ (2 * h * (1 - h ** 2))", ("factor", "mean")),
        ("x.T @ (h / 6 * (1 - h ** 2))", ("rule", "pow")),
        ("x.T @ (2 * h / 6 * (1 - h))", ("rule", "tanh")),
        ("x.T @ (2 * h / 6 * (1 - z ** 2))", ("rule", "tanh")),
        ("x.T @ (1 - h ** 2)", ("upstream", "tanh")),
        ("(x.T @ (2 * h / 6 * (1 - h ** 2))).T", ("transposed", "")),
        ("-x.T @ (2 * h / 6 * (1 - h ** 2))", ("sign", "")),
        ("W", ("itself", "")),
        ("(x.T @ (2 * h / 6 * (1 - h ** 2))).sum()", ("total", "")),
    ],
)
def test_the_link_is_named(code, found):
    assert slips(CHAIN, code, "W") == [found]


def test_a_broadcast_that_is_not_summed_is_named():
    assert slips(CHAIN, "2 * h / 6 * (1 - h ** 2)", "b") == [("unsummed", "add")]


def test_a_square_matrix_that_is_not_transposed_is_named():
    source = "x = param([[1., 2.], [3., 4.]])\nW = param([[.5, 2.], [-1., 3.]])\n"
    source += "loss = ((x @ W) ** 2).sum()\nloss.backward()\n"
    assert slips(source, "x @ (2 * (x @ W))", "W") == [("transposed", "matmul")]
    assert slips(source, "2 * (x @ W) @ W", "x") == [("transposed", "matmul")]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("8", ("use", "pow")),  # 2x + 2, without 3x²
        ("33", ("use", "mul")),  # 2x + 3x², without the 2 of 2x
        ("29", ("use", "mul")),  # 2 + 3x², without both factors of x·x
        ("27", ("only", "pow")),  # 3x² alone
    ],
)
def test_a_forgotten_use_is_named(typed, found):
    assert slips(USES, typed, "x") == [found]


@pytest.mark.parametrize(
    ("expression", "code", "found"),
    [
        ("w * x", "w", ("operand", "mul")),
        ("w - x * w", "1 + x", ("sign", "")),
        ("x / w", "-x / w", ("rule", "div")),
        ("w.exp() * x", "w * x", ("rule", "exp")),
        ("w.sigmoid()", "w.sigmoid()", ("rule", "sigmoid")),
        ("w.log()", "w", ("rule", "log")),
        ("w.sqrt()", "1 / w.sqrt()", ("rule", "sqrt")),
        ("w.sin()", "-w.cos()", ("rule", "sin")),
        ("w.cos()", "w.sin()", ("rule", "cos")),
        ("F.mse_loss(w, x)", "w - x", ("rule", "mse_loss")),
    ],
)
def test_rules_remembered_wrongly_are_named(expression, code, found):
    source = f"w = param(0.7)\nx = torch.tensor(1.9)\nloss = {expression}\nloss.backward()\n"
    if expression == "w - x * w":
        assert found[0] in {kind for kind, _ in slips(source, code, "w")}
    else:
        assert found in slips(source, code, "w")


def test_the_softmax_alone_is_named():
    source = "z = param([[1., 2., 0.5], [0., 1., 3.]])\nt = torch.tensor([1, 0])\n"
    source += "loss = F.cross_entropy(z, t)\nloss.backward()\n"
    assert slips(source, "z.softmax(1) / 2", "z") == [("rule", "cross_entropy")]
    assert slips(source, "z.softmax(1) - F.one_hot(t, 3)", "z") == [("rule", "cross_entropy")]


def test_numbers_that_fit_several_links_name_them_all():
    # x is 2, and so is the exponent.
    source = "x = param(2.0)\nw = param(3.0)\nloss = (w * x - 5) ** 2\nloss.backward()\n"
    assert slips(source, "2", "w") == [("factor", "mul"), ("rule", "pow")]


def test_numbers_without_a_single_wrong_link_name_none():
    assert slips(USES, "1234.5", "x") == []
    assert slips(CHAIN, "torch.zeros(7, 9)", "W") == []


def test_the_search_leaves_the_gradient_as_it_is():
    tape = run.record(CHAIN)
    ids = {v.name: v.id for v in tape.values if v.name}
    names = tuple(HandName(name, at) for name, at in ids.items())
    first = hand_check(HandCheck(0, 0, "W * 0 + 1", names, ids["W"]))
    second = hand_check(HandCheck(0, 0, "W * 0 + 1", names, ids["W"]))
    assert first == second
    scope = run.initial_names(run.Run(0, ""))
    exec(CHAIN, scope)
    assert first.rows[0].true == scope["W"].grad[0, 0].item()


def test_hooks_of_the_program_do_not_end_the_search():
    source = "w = param(2.0)\ny = w * 3\ny.register_hook(lambda g: g * 10)\n"
    source += "loss = y ** 2\nloss.backward()"
    scope = {"param": run.param}
    exec(source, scope)
    assert scope["w"].grad == 2 * 6 * 10 * 3
    assert slips(source, "2 * y * 3", "w") is not None


def test_a_long_chain_ends_in_time():
    source = "w = param(1.1)\ny = w\nfor _ in range(300):\n    y = torch.sin(y) + 0.1\ny.backward()"
    assert slips(source, "123.0", "w") == []


def test_a_tensor_that_was_changed_in_place_is_compared_by_its_version():
    source = "w = param(2.0)\ny = w * 3\ny += 1\nloss = y ** 2\nloss.backward()\n"
    scope = {"param": run.param}
    exec(source, scope)
    assert scope["w"].grad == 42
    assert slips(source, "14", "w") != []
    assert torch.is_grad_enabled()
