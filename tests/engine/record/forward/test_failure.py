"""The failing call of a program, or its failing backward node, is on the tape."""

import pytest

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run.run import execute, record

CUSTOM = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x @ x
    @staticmethod
    def backward(ctx, g):
        return g
x = param([[1.0, 2.0, 3.0]])
y = Twice.apply(x)
"""


@pytest.mark.parametrize(
    ("text", "op", "shapes", "line"),
    [
        ("a = torch.ones(2, 3)\nb = param(torch.ones(4, 5))\nc = a @ b", "matmul",
         [(2, 3), (4, 5)], 3),
        ("p = param(torch.ones(1, 2))\nF.cross_entropy(p, torch.tensor([5]))", "cross_entropy",
         [(1, 2), (1,)], 2),
        ("x = param([1.0, 2.0])\nx.add_(1)", "add_", [(2,)], 2),
        ("x = param([1.0, 2.0])\ny = torch.cat([x, torch.ones(2, 2)])", "cat",
         [(2,), (2, 2)], 2),
        ("x = torch.ones(3)\nx[5]", "getitem", [(3,)], 2),
        (CUSTOM, "Twice", [(1, 3)], 10),
    ],
)  # fmt: skip
def test_the_call_that_raised_is_kept_with_what_it_was_given(text, op, shapes, line):
    tape = record(text)
    values = {value.id: value for value in tape.values}
    fault = tape.fault
    assert fault is not None
    assert fault.op == op
    assert [values[number].shape for number in fault.inputs] == shapes
    assert (fault.place.line, fault.outputs, fault.nodes) == (line, (), ())
    assert all(one.op != op for one in tape.ops)
    assert not any(check_tape.find_flaws(tape))


def test_a_call_inside_a_module_tells_which():
    tape = record(
        "net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 1))\nnet(torch.ones(2, 3))"
    )
    assert tape.fault is not None
    assert (tape.fault.op, tape.fault.scope) == ("linear", "net.2")
    assert tape.calls[tape.fault.call].name == "net.2"


@pytest.mark.parametrize(
    "text",
    [
        "x = param([1.0])\nx * 2",
        "x = param([1.0])\ntry:\n    x @ torch.ones(3)\nexcept RuntimeError:\n    pass\n",
        "x = param([1.0])\ntry:\n    x @ torch.ones(3)\nexcept RuntimeError:\n    pass\n1 / 0",
        (
            "x = param([1.0])\ntry:\n    x @ torch.ones(3)\nexcept RuntimeError as e:\n"
            "    raise ValueError('mine') from e"
        ),
        "x = torch.ones(3)\nx + 'a'",
        "torch.randn(2, -1)",
        "x = torch.ones(3)\nif x:\n    pass",
    ],
)
def test_an_error_that_is_caught_or_comes_from_no_op_leaves_none(text):
    tape = record(text)
    assert tape.fault is None
    assert tape.stuck is None


def test_a_backward_node_that_raised_is_kept():
    tape = record("a = param([1.0, 2.0])\nb = a.exp()\nb.add_(1)\nb.sum().backward()")
    names = {node.id: node.name for node in tape.nodes}
    assert names[tape.stuck] == "ExpBackward0"
    assert tape.fault is None
    assert not any(check_tape.find_flaws(tape))


def test_it_is_the_right_one_though_numbers_were_given_up_during_the_pass():
    text = (
        "class Bad(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return x * 1\n"
        "    @staticmethod\n    def backward(ctx, g):\n        raise ValueError('no')\n"
        "x = param(torch.zeros(200, 200))\ny = Bad.apply(x * 2)\n"
        "for _ in range(8):\n    y = y.sin()\ny.sum().backward()"
    )
    tape = execute(Run(1, text, memory=400_000))
    assert tape.dropped > 8, "some should be given up while the pass runs"
    names = {node.id: node.name for node in tape.nodes}
    assert names[tape.stuck] == "BadBackward"
    assert "BadBackward" in tape.error.hint


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x = param([1.0, 2.0])\ny = x * 3\ny.backward()", "y"),
        ("x = torch.ones(2)\ny = (x * 3).sum()\ny.backward()", "y"),
        ("x = torch.ones(2)\nx.backward()", "x"),
        ("x = param([1.0, 2.0])\ny = x * 3\ntorch.autograd.grad(y, x)", "y"),
    ],
)
def test_a_value_that_backward_cannot_begin_at_is_kept(text, name):
    tape = record(text)
    names = {value.id: value.name for value in tape.values}
    assert names[tape.stuck] == name
    assert tape.fault is None
    assert not any(check_tape.find_flaws(tape))


def test_fewer_gradients_than_tensors_are_the_programs_error_and_not_ours():
    tape = record("x = param(1.0)\ny = x * 3\nz = x + 1\ntorch.autograd.backward([y, z], [None])")
    assert "gradient" in tape.error.message
    assert tape.stuck in {node.id for node in tape.nodes}
    assert not any(check_tape.find_flaws(tape))


def test_the_next_run_knows_nothing_of_it():
    record("torch.ones(2) @ torch.ones(3)")
    assert record("x = param(1.0)\nx.backward()").fault is None
