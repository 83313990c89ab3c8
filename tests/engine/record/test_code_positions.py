"""Places of instructions without columns in the code objects, as in Python 3.10."""

import ast
import sys
from pathlib import Path

import pytest

from gradscribe.engine.record import code_positions
from gradscribe.engine.record.loops.sites import compile_with_sites

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.rglob("*.py") if path.parent.name != "broken")


def parts(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from parts(constant)


def computing(code):
    """Return the indexes of the instructions that calls and operators end in."""
    names = [(index, name) for index, name in code_positions._operations(code)]
    return [index for index, name in names if name.startswith(("CALL", "BINARY", "INPLACE"))]


def found(text):
    """Return the texts of the expressions that a program's instructions compute."""
    tree, lines = ast.parse(text), text.split("\n")
    code = compile(tree, "<program>", "exec")
    known = dict(code_positions.tree_positions(code, tree))
    texts = []
    for part in parts(code):
        for index in computing(part):
            line, end_line, column, end_column = known[part][index]
            assert line == end_line
            texts.append(lines[line - 1].encode()[column:end_column].decode())
    return texts


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no columns to compare with")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_they_are_those_that_newer_pythons_have(script):
    text = script.read_text("utf-8")
    tree = ast.parse(text)
    code = compile(text, "<program>", "exec", dont_inherit=True)
    compared = 0
    for part, places in code_positions.tree_positions(code, tree):
        real = list(part.co_positions())
        for index in computing(part):
            assert places[index] == real[index]
            compared += 1
    assert compared


def test_calls_in_each_other_on_one_line_are_told_apart():
    texts = found("y = f(g(é := 1) + h.k(2)[3], 'ü' * 2).m(a @ b)")
    assert {
        "g(é := 1)",
        "h.k(2)",
        "h.k(2)[3]",
        "g(é := 1) + h.k(2)[3]",
        "a @ b",
        "f(g(é := 1) + h.k(2)[3], 'ü' * 2)",
        "f(g(é := 1) + h.k(2)[3], 'ü' * 2).m(a @ b)",
    } <= set(texts)


def test_functions_and_comprehensions_have_their_own():
    assert {"f(i)", "g(x)"} <= set(found("a = [f(i) for i in n]\ndef h(x):\n    return g(x)"))


def test_calls_into_the_recorder_change_no_place():
    text = "for i in range(3):\n    y = f(g(i))\n"
    tree = ast.parse(text)
    code, _ = compile_with_sites(tree, "<program>", text)
    known = {id(part): places for part, places in code_positions.tree_positions(code, tree)}
    places = [known[id(code)][index] for index in computing(code)]
    assert {(2, 2, 8, 15), (2, 2, 10, 14)} <= set(places)


def test_a_program_that_was_not_compiled_here_has_its_lines():
    code = compile("\nx = 1", "<somewhere>", "exec")
    assert {line for line, *_ in code_positions._lines_alone(code)} - {None, 0, 1} == {2}
