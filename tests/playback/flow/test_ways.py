"""Ways to the loss: their products add up to the gradient that torch has."""

import math
import random
from pathlib import Path

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.flow.ways import LARGEST, ways
from gradscribe.playback.tape.index import index_of

EXAMPLES = sorted(Path(__file__, "../../../../assets/examples").resolve().glob("0[1-4]_*.py"))


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


def test_very_many_uses_are_counted_only():
    lines = ["x = param(0.5)", "a = x", *["a = a + a * 0.5"] * 1000, "a.backward()"]
    found, _ = of("\n".join(lines), "x")
    assert found.count == 2**1000
    assert found.listed == ()


def test_ways_of_tensors_have_no_product():
    found, _ = of("w = torch.ones(3, requires_grad=True)\n(w * w).sum().backward()", "w")
    assert found.count == 2
    assert [way.product for way in found.listed] == [None, None]


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
