"""The names of a text, compared with those that Python itself finds in it."""

import ast
import symtable
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.app.document import examples
from gradscribe.playback.completion.caret import call_around, caret_in
from gradscribe.playback.completion.source_names import STARTS, bindings, names_in


def defined(source):
    """The names that Python's own symbol table says are bound, in all scopes."""
    found, tables = set(), [symtable.symtable(source, "x.py", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        if not table.get_name().startswith(("lambda", "<", "genexpr", "listcomp", "dictcomp")):
            found |= {
                one.get_name()
                for one in table.get_symbols()
                if one.is_assigned() or one.is_imported() or one.is_parameter()
            }
    return found - {".0", "__class__"}


PROGRAM = """\
import math, os.path as p
import torch.nn.functional as F
from torch import nn, optim as opt
class Net(nn.Module):
    size = 3
    def __init__(self, wide, *rest, depth: int = 2, **more):
        super().__init__()
        self.fc1 = self.fc2 = nn.Linear(wide, depth)
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = y = self.fc1(x)
        return h
a, (b, c) = 1, (2, 3)
total: float = 0.0
for i, (k, v) in enumerate(pairs):
    total += i
with open("f") as handle, lock as inner:
    pass
try:
    pass
except ValueError as error:
    pass
if (n := 10) > 5:
    pass
first, *others = [1, 2]
x[0] = 3
obj.attribute = 4
"""


def test_a_program_has_the_names_that_python_finds():
    source = names_in(PROGRAM.splitlines())
    assert set(source.kinds) == defined(PROGRAM)
    assert source.members == ("fc1", "fc2")
    assert source.kinds["Net"] == "class"
    assert source.kinds["forward"] == "function"
    assert source.kinds["depth"] == "parameter"
    assert source.paths["p"] == "os.path"
    assert source.paths["opt"] == "torch.optim"
    assert source.lines["total"] == (13,)


@pytest.mark.parametrize("example", examples.load(), ids=lambda one: one.title)
def test_every_example_has_the_names_that_python_finds(example):
    from gradscribe.widgets.editor.completion.masked_text import masked_line
    from gradscribe.widgets.editor.highlight import spans

    state, lines = 0, []
    for line in example.source.split("\n"):
        lines.append(masked_line(line, state))
        state = spans(line, state)[1]
    try:
        ast.parse(example.source)
    except SyntaxError:
        pytest.skip("an example with a mistake")
    found = names_in(lines)
    missing = defined(example.source) - set(found.kinds)
    assert not missing
    comprehended = {
        name.id
        for node in ast.walk(ast.parse(example.source))
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    assert set(found.kinds) - defined(example.source) <= comprehended


def test_a_name_that_is_assigned_again_no_longer_stands_for_a_package():
    assert names_in(["nn = 3"]).paths == {k: v for k, v in STARTS.items() if k != "nn"}


def test_a_comparison_and_a_keyword_argument_define_nothing():
    assert bindings("x == 3") == ()
    assert bindings("f(x, lr=0.1)") == ()
    assert bindings("assert x >= y") == ()


def test_keywords_on_the_lines_of_a_call_are_no_names():
    lines = ["y = f(", "    x,", "    lr=0.1,", ")", "z = 1"]
    assert set(names_in(lines).kinds) == {"y", "z"}


def test_a_bracket_that_is_still_open_hides_no_later_name():
    lines = ["y = f(", "a = 1", "g(", "def h(b):", "    c = 2"]
    assert set(names_in(lines).kinds) == {"y", "a", "h", "b", "c"}


@pytest.mark.parametrize(
    "line", ["a, " * 3000, "lambda" + " " * 9_000 + ".", "(" * 5_000, "for a" * 2_000]
)
def test_a_long_line_takes_no_time(line):
    begun = time.process_time()
    bindings(line)
    caret_in(line)
    call_around(line)
    assert time.process_time() - begun < 1.0


def test_columns_are_those_of_the_names():
    for line in (
        "    loss = x",
        "def helper(a, bc=2):",
        "from torch import nn as n",
        "for i in y:",
    ):
        for binding in bindings(line):
            assert line[binding.column :].startswith(binding.name)


@given(st.text(alphabet='abdefclsimpor =.,():*#"[]1_\n', max_size=80))
def test_half_typed_text_is_no_trouble(text):
    for name in names_in(text.split("\n")).kinds:
        assert name.isidentifier()
