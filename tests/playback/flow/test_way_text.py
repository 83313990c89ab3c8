"""Ways in words: counts of any size, odd derivatives, and where torch has the sum."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.flow import way_text
from gradscribe.playback.flow.ways import ways
from gradscribe.playback.tape.index import index_of


def of(source, name="x"):
    index = index_of(record(source))
    return index, ways(index, next(v.id for v in index.tape.values if v.name == name))


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (0, "1 way"),
        (20, "1,048,576 ways"),
        (1000, "about 10^301 ways"),
        (20_000, "about 10^6020 ways"),
    ],
)
def test_any_number_of_ways_has_words(bits, words):
    assert way_text.ways_count(2**bits) == words


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (
            "x = torch.tensor(0.0, requires_grad=True)\n(x.sqrt() * 2).backward()",
            "sqrt, line 2 is infinite",
        ),
        ("x = torch.tensor(1.0, requires_grad=True)\n(x * 2).backward()", ""),
        (
            "x = torch.tensor(2.0, requires_grad=True)\n(x * float('nan')).backward()",
            "mul, line 2 is not a number",
        ),
    ],
)
def test_what_is_not_finite_is_said(rest, words):
    index, found = of(rest)
    said = way_text.oddity(index, found)
    assert said.endswith(words)
    assert bool(said) == bool(words)


def test_a_long_way_is_written_with_its_ends():
    index, found = of("x = param(1.0)\na = x\n" + "a = a * 2\n" * 100 + "a.backward()")
    text = way_text.way(index, found.listed[0], found.seed)
    assert text.count("mul 2") == way_text.LONGEST
    assert "… 94 more …" in text


@pytest.mark.parametrize(
    ("source", "name", "goal"),
    [
        ("x = param(3.0)\n(x * x).backward()", "x", "= x.grad"),
        (
            "x = param(3.0)\n(x * 2).backward()\n(x * x).backward()",
            "x",
            "= what this backward added to x.grad, which was 2",
        ),
        (
            "x = param(3.0)\na = x * 2\n(a * a).backward()",
            "a",
            "= the gradient of a; torch stores it in .grad only after retain_grad()",
        ),
        ("x = param(3.0)\ntorch.autograd.grad(x * x, x)", "x", "= what autograd.grad returned"),
    ],
)
def test_it_says_where_torch_has_the_gradient(source, name, goal):
    _, found = of(source, name)
    assert way_text.goal(found, name) == goal


def test_a_hook_that_changes_a_gradient_is_no_sum():
    _, found = of("x = param(3.0)\nx.register_hook(lambda g: g * 10)\n(x * x).backward()")
    assert (found.total, found.gradient) == (6.0, 60.0)
    assert way_text.is_sum(found) is False
