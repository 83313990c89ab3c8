"""Hints for iterators used up, loops without rounds and a last batch of one."""

import pytest

from gradscribe.engine.hints import loops
from gradscribe.engine.run import run
from tests.engine.hints.told import ROW_CHECKS


@pytest.mark.parametrize("check", ROW_CHECKS)
@pytest.mark.parametrize("row", loops.ROWS, ids=lambda row: f"{row.kind.__name__} {row.pattern}")
def test_every_row(check, row):
    check(row)


def hint(source):
    """Return the hint of a program that fails."""
    tape = run.record(source)
    assert tape.error is not None
    return tape.error.hint


@pytest.mark.parametrize("made", ["zip(range(4), range(4))", "enumerate([5, 6])", "once()"])
@pytest.mark.parametrize("in_function", [False, True])
def test_a_second_loop_over_an_iterator_is_named(made, in_function):
    body = "for a, b in pairs:\n    pass\nfor a, b in pairs:\n    last = a + b\nprint(last)\n"
    if in_function:
        body = "def f(pairs):\n" + "".join(f"    {row}\n" for row in body.splitlines()) + "f(pairs)"
    source = f"def once():\n    yield 1, 2\npairs = {made}\n{body}"
    said = hint(source)
    loop = 7 if in_function else 6
    assert f"The loop on line {loop} had no rounds, so last got no value" in said
    assert "pairs on line 3 gives its items once, and they are used up" in said
    assert f"make a list of it: pairs = list({made})." in said


def test_a_loop_over_nothing_is_named():
    said = hint("rows = []\nfor row in rows:\n    total = row\nprint(total)")
    assert said == "The loop on line 2 had no rounds, so total got no value: rows is empty."
    assert "line 1" in hint("for row in range(0):\n    total = row\nprint(total)")


def test_a_name_that_a_line_gives_a_value_is_not_about_loops():
    said = hint("def f():\n    print(q)\n    q = 1\nfor i in range(2):\n    f()")
    assert (
        said
        == "The function gives q a value of its own, but only later: pass it in as an argument."
    )
    assert "Did you mean total?" in hint("for i in range(2):\n    total = i\nprint(totl)")


def test_next_past_the_end_names_where_the_iterator_was_made():
    source = (
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "loader = DataLoader(TensorDataset(torch.ones(6, 1)), batch_size=2)\n"
        "batches = iter(loader)\n"
        "for step in range(5):\n"
        "    (x,) = next(batches)\n"
    )
    said = hint(source)
    assert "batches gives its 3 items once" in said
    assert "line 3: batches = iter(loader)" in said
    assert "anew" in hint("next(iter([]))")


BATCHES = """
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.randn({count}, 3)), batch_size=8{more})
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
def train(batches):
    for (x,) in batches:
        net(x)
"""


def test_a_last_batch_of_one_names_its_loader_and_the_sizes():
    said = hint(BATCHES.format(count=25, more="") + "train(loader)")
    assert "The last batch of batches is a single sample (25 = 3 x 8 + 1)" in said
    assert "DataLoader on line 3 drop_last=True" in said
    said = hint(BATCHES.format(count=25, more="") + "for (x,) in loader:\n    net(x)")
    assert "(25 = 3 x 8 + 1)" in said
    assert "DataLoader on line 3 drop_last=True" in said
    assert "left over" in hint(
        BATCHES.format(count=8, more="") + "for x in torch.ones(9, 3).split(4):\n    net(x)"
    )


@pytest.mark.parametrize("more", ["", ", drop_last=True"])
def test_a_single_sample_of_its_own_is_not_blamed_on_a_loader(more):
    source = BATCHES.format(count=25, more=more) + "net(torch.ones(1, 3))"
    assert hint(source) == (
        "Batch normalisation needs two samples or more in training; call .eval() for one."
    )


def test_parameters_that_a_line_has_counted_are_no_missing_layers():
    said = hint(
        "net = nn.Linear(3, 1)\nparams = net.parameters()\n"
        "print(sum(p.numel() for p in params))\nopt = optim.SGD(params, lr=0.1)"
    )
    assert said == (
        "params on line 2 gives its items once, and line 3 has taken them: make a list of it there."
    )


def test_a_plain_tensor_in_a_module_without_parameters_is_named():
    said = hint(
        "class Line(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = torch.randn(1, requires_grad=True)\n"
        "opt = optim.SGD(Line().parameters(), lr=0.1)"
    )
    assert "self.w on line 4 is a plain tensor" in said
    assert "nn.Parameter" in said
