"""Ways to the loss: their products add up to the gradient that torch has."""

import math
import random
from pathlib import Path

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.flow import way_text
from gradscribe.playback.flow.ways import LARGEST, ways
from gradscribe.playback.tape.index import index_of

EXAMPLES = sorted(
    Path(__file__, "../../../../assets/examples/basics").resolve().glob("0[1-4]_*.py")
)


def of(source, name):
    index = index_of(record(source))
    value = next(v.id for v in index.tape.values if v.name == name)
    return ways(index, value), index


def test_each_way_has_the_local_derivatives_of_torch():
    found, index = of(
        "x = param(2.0)\ny = param(3.0)\nw = x * y + x\nloss = w**2\nloss.backward()", "x"
    )
    told = [[(index.op(s.op).op, s.local) for s in way.steps] for way in found.listed]
    assert told == [[("mul", 3.0), ("add", 1.0), ("pow", 16.0)], [("add", 1.0), ("pow", 16.0)]]
    assert [way.product for way in found.listed] == [48.0, 16.0]
    assert (found.total, found.gradient) == (64.0, 64.0)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_ways_add_up_to_the_gradient_in_the_examples(path):
    tape = record(path.read_text())
    index = index_of(tape)
    checked = 0
    for leaf in tape.leaves:
        if leaf.grad is not None and tape.snapshots[leaf.grad].item() is not None:
            found = ways(index, leaf.value)
            assert found.all_listed
            assert found.total == pytest.approx(tape.snapshots[leaf.grad].item(), rel=1e-5)
            checked += 1
    assert checked


UNARY = (
    "{a}.tanh()",
    "{a}.relu()",
    "{a}**2",
    "-{a}",
    "{a}.sin()",
    "{a} * 0.0",
    "1 - {a}",
    "{a} / 2",
)
BINARY = ("{a} * {b}", "{a} + {b}", "{a} - {b}", "{a} / ({b}**2 + 1)", "2 * {a} - {b}")


def program(seed):
    """A random program of scalars; some shares in it are exactly 0."""
    rng = random.Random(seed)
    names = ["x", "y", "z"]
    lines = [
        f"{n} = param({rng.choice((-2.0, -0.5, 0.0, 0.7, 1.5))}, dtype=torch.float64)"
        for n in names
    ]
    for number in range(rng.randint(3, 8)):
        a, b = rng.choice(names), rng.choice(names)
        form = rng.choice(UNARY + BINARY)
        lines.append(f"v{number} = {form.format(a=a, b=b)}")
        names.append(f"v{number}")
    lines += [f"loss = {names[-1]} + {names[-2]} * {names[-3]}", "loss.backward()"]
    return (
        "\n".join(lines)
        .replace("param(", "torch.tensor(")
        .replace("64)", "64, requires_grad=True)")
    )


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_ways_add_up_to_the_gradient_in_random_programs(start):
    zeros = 0
    for seed in range(start, start + 20):
        source = program(seed)
        scope = {"torch": torch}
        exec(source, scope)
        index = index_of(record(source))
        for name in "xyz":
            grad = scope[name].grad
            value = next(v.id for v in index.tape.values if v.name == name)
            found = ways(index, value)
            if grad is None:
                assert found.count == 0
            elif found.all_listed:
                assert found.total == pytest.approx(grad.item(), rel=1e-9, abs=1e-12), source
                zeros += any(way.product == 0 for way in found.listed)
    assert zeros


def test_a_million_ways_are_counted_and_the_largest_listed():
    lines = ["x = param(0.5)", "a = x", *["a = a + a * 0.5"] * 20, "a.backward()"]
    found, _ = of("\n".join(lines), "x")
    assert found.count == 2**20
    assert len(found.listed) == LARGEST
    assert found.listed[0].product == 1.0
    assert all(way.product == 0.5 for way in found.listed[1:])
    assert found.total is None
    assert found.gradient == pytest.approx(1.5**20)


def test_the_largest_of_very_many_ways_are_listed():
    lines = ["x = param(0.5)", "a = x", *["a = a + a * 0.5"] * 1000, "a.backward()"]
    found, _ = of("\n".join(lines), "x")
    assert found.count == 2**1000
    assert [way.product for way in found.listed] == [1.0] + [0.5] * 4


TENSORS = {
    "twice the same": "w = leaf(3)\n(w * w).sum().backward()",
    "broadcast": "w = leaf(1, 3)\nb = leaf(4, 1)\n((w + b) * w).sin().sum().backward()",
    "scalar of tensors": "w = leaf()\nx = torch.arange(4.0)\n((w * x).exp() + w).sum().backward()",
    "view": "w = leaf(2, 3)\nv = w.view(6)\n(v.sum() * w.T.pow(2).mean()).backward()",
    "in place": "w = leaf(3)\na = w * 2\na.add_(w).mul_(3)\na.pow(2).sum().backward()",
    "layer": "w = leaf(5, 2)\n((torch.ones(4, 2) @ w.T).relu() ** 2 + w.sum()).mean().backward()",
    "parts": "w = leaf(4, 2)\na, b = w.chunk(2)\n((a * b).sum() + (w * 3).mean()).backward()",
}


@pytest.mark.parametrize("source", TENSORS.values(), ids=TENSORS)
def test_what_comes_back_along_the_uses_of_a_tensor_adds_up_to_the_gradient(source):
    source = source.replace("leaf(", "torch.randn(").replace("randn()", "randn(())")
    first, rest = source.split("\n", 1)
    source = f"torch.manual_seed(3)\n{first}.requires_grad_()\n{rest}"
    scope = {"torch": torch}
    exec(source, scope)
    found, _ = of(source, "w")
    assert found.difference is not None
    assert found.difference < 1e-6
    assert found.gradient == pytest.approx(float(scope["w"].grad.norm()), rel=1e-5)
    assert all(way.share is not None for way in found.listed)


def test_the_share_of_each_way_is_its_own_vector_jacobian_product():
    source = "w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
    source += "((w * 2).sin() + w.exp()).sum().backward()"
    found, index = of(source, "w")
    w = torch.tensor([1.0, 2.0, 3.0])
    alone = {"mul": (2 * (2 * w).cos()).norm(), "exp": w.exp().norm()}
    shares = {index.op(way.steps[0].op).op: way.share for way in found.listed}
    assert shares == {op: pytest.approx(float(norm), rel=1e-6) for op, norm in alone.items()}
    assert [way.count for way in found.listed] == [1, 1]


def test_ways_that_begin_with_the_same_use_share_what_came_back_there():
    source = (
        "w = torch.ones(3, requires_grad=True)\na = w * 2\n(a.sin() + a.cos() + w).sum().backward()"
    )
    found, _ = of(source, "w")
    assert (found.count, [way.count for way in found.listed]) == (3, [2, 1])
    assert found.all_listed


def test_the_same_scalar_twice_is_two_ways():
    found, _ = of("x = param(3.0)\ny = x * x\ny.backward()", "x")
    assert [way.product for way in found.listed] == [3.0, 3.0]
    assert found.total == 6.0


def test_an_open_local_derivative_leaves_the_product_open():
    # What arrives at v is 1 - 1 = 0, of which torch sends 0 back, along both ways.
    source = (
        "class Twice(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
        "x = torch.tensor(3.0, requires_grad=True)\nv = Twice.apply(x)\n"
        "(v * 1 - v * 1).backward()"
    )
    found, _ = of(source, "x")
    assert found.count == 2
    assert found.gradient == 0.0
    assert [way.product for way in found.listed] in ([2.0, -2.0], [None, None])


POLES = {
    "sqrt": ("y = torch.sqrt(x) * x + x", "sqrt", math.inf),
    "a quotient": ("y = (2.0 / x) * 0.0 + x", "rdiv", -math.inf),
    "log": ("y = x.log() * 0.0 + 3 * x", "log", math.inf),
}


@pytest.mark.parametrize(("lines", "op", "local"), POLES.values(), ids=POLES)
def test_at_a_pole_the_local_derivative_is_infinite_and_the_sum_is_torchs_nan(lines, op, local):
    source = f"x = torch.tensor(0.0, requires_grad=True)\n{lines}\ny.backward()\n"
    scope = {"torch": torch}
    exec(source, scope)
    assert scope["x"].grad.isnan()
    found, index = of(source, "x")
    steps = [step for way in found.listed for step in way.steps if index.op(step.op).op == op]
    assert [step.local for step in steps] == [local]
    assert math.isnan(found.total)
    assert math.isnan(found.gradient)
    assert way_text.is_sum(found) is True
    assert "is infinite" in way_text.oddity(index, found)


def test_a_local_derivative_that_is_infinite_is_found():
    found, _ = of("x = torch.tensor(0.0, requires_grad=True)\n(x.sqrt() * 2).backward()", "x")
    assert found.gradient == math.inf
    assert found.listed[0].product == math.inf


def test_an_earlier_gradient_is_told_apart():
    found, _ = of("x = param(3.0)\n(x * 2).backward()\n(x * x).backward()", "x")
    assert (found.destination, found.before, found.gradient) == ("added", 2.0, 6.0)
    found, _ = of("x = param(3.0)\na = x * 2\na.backward()", "a")
    assert found.destination == "unstored"
    found, _ = of("x = param(3.0)\ntorch.autograd.grad(x * x, x)", "x")
    assert (found.destination, found.gradient) == ("returned", 6.0)


def test_a_seed_is_a_factor():
    found, _ = of("x = param(3.0)\ny = x * x\ny.backward(torch.tensor(10.0))", "x")
    assert (found.total, found.gradient, found.seed) == (60.0, 60.0, 10.0)


def test_the_last_pass_counts():
    found, _ = of("x = param(3.0)\n(x * 2).backward()\n(x * x).backward()", "x")
    assert (found.total, found.gradient, found.count) == (6.0, 6.0, 2)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("x = param(1.0)\ny = x * 2", "x"),
        ("x = param(1.0)\ny = x.detach() * param(2.0)\ny.backward()", "x"),
    ],
)
def test_without_a_gradient_there_is_no_way(source, name):
    found, _ = of(source, name)
    assert (found.count, found.listed) == (0, ())


def test_the_loss_itself_has_one_way_of_no_step():
    found, _ = of("x = param(1.0)\nloss = x * 2\nloss.backward()", "loss")
    assert (found.count, found.total, found.listed[0].steps) == (1, 1.0, ())
    assert not math.isnan(found.gradient)


LOOP = """
w = param(3.0)
optimizer = torch.optim.SGD([w], 0.1)
for step in range(3):
    loss = w * w + w
    loss.backward()
    {update}
"""


@pytest.mark.parametrize(
    "update",
    [
        "optimizer.step(); optimizer.zero_grad()",
        "w.data -= 0.1 * w.grad; w.grad = None",
        "with torch.no_grad(): w -= 0.1 * w.grad; w.grad = None",
        "w.data.sub_(0.1 * w.grad); w.grad.zero_()",
    ],
)
def test_each_version_of_an_updated_parameter_has_the_ways_of_its_last_pass(update):
    own = {"param": lambda x: torch.tensor(x, requires_grad=True), "torch": torch}
    noting = LOOP.format(update=f"values.append(w.item())\n    {update}")
    exec(noting, own | {"values": (v := [])})
    index = index_of(record(LOOP.format(update=update)))
    versions = [value.id for value in index.tape.values if value.name == "w"]
    assert len(versions) > 1
    for version in versions:
        found = ways(index, version)
        assert found.count == 3
        assert found.total == pytest.approx(2 * v[-1] + 1)
        assert found.gradient == pytest.approx(2 * v[-1] + 1)
