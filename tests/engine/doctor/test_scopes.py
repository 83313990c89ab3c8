"""Parameters of functions, followed to the values that callers pass."""

import ast

import pytest

from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.doctor.scopes import (
    arguments_for,
    callers,
    dict_entry,
    enclosing_function,
    literal_number,
    scope_of,
)


def read(program: ProgramTree, name: str, line: int) -> ast.Name:
    found = (n for n in program.nodes if isinstance(n, ast.Name) and n.id == name)
    return next(n for n in found if n.lineno == line)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a, b):\n    a\nf(one, two)", ["one"]),
        ("def f(b, a):\n    a\nf(one, a=two)\nf(1, three)", ["two", "three"]),
        ("def f(a=5):\n    a\nf()", ["5"]),
        ("def f(*, a=5):\n    a\nf(a=6)", ["6", "5"]),
        ("class T:\n def f(self, a): a\nT().f(one)\nf(two)", ["one"]),
        ("class T:\n def __init__(self, a): a\nT(one)", ["one"]),
        ("f = lambda z, a: (\n a)\nf(1, one)", ["one"]),
        ("def f(a):\n    a\nf(*all)", []),
        ("a = 1\na", []),
    ],
)
def test_a_parameter_is_what_the_callers_give(source, expected):
    program = ProgramTree(source)
    assert [ast.unparse(e) for e in arguments_for(program, read(program, "a", 2))] == expected


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("use(0.5)", 0.5),
        ("lr = 0.1\nuse(lr)", 0.1),
        ("cfg = {'lr': 0.2}\nuse(cfg['lr'])", 0.2),
        ("cfg = dict(lr=0.3)\nuse(cfg['lr'])", 0.3),
        ("class A:\n    lr = 0.4\nuse(A.lr)", 0.4),
        ("cfg = Config(lr=0.5)\nuse(cfg.lr)", 0.5),
        ("def f(lr):\n    use(lr)\nf(0.6)", 0.6),
        ("def f(lr=0.7):\n    use(lr)\nf()", 0.7),
        ("class T:\n def __init__(self, lr):\n  self.lr = lr\n  use(self.lr)\nT(0.8)", 0.8),
        ("use(flag)\nflag = True", None),
        ("x = x\nuse(x)", None),
        ("use(compute())", None),
    ],
)
def test_a_number_is_found_where_it_is_written(source, number):
    program = ProgramTree(source)
    found = literal_number(program, program.calls("use")[0].args[0])
    assert (found.value if found is not None else None) == number


def test_the_function_around_a_node_and_its_callers():
    program = ProgramTree("def f(a):\n    return a\nf(1)\nf(2)\nx.f(3)")
    node = read(program, "a", 2)
    function = enclosing_function(program, node)
    assert isinstance(function, ast.FunctionDef)
    assert function.name == "f"
    assert [call.lineno for call in callers(program, node)] == [3, 4]
    assert callers(program, program.tree.body[1]) == []


def test_an_entry_of_something_else_is_none():
    assert dict_entry(None, "a") is None
    assert dict_entry(ast.parse("{1: 2, **more}", mode="eval").body, "a") is None


@pytest.mark.parametrize(
    ("source", "owner"),
    [
        ("a = 1\na", None),
        ("def f(a):\n    a", ast.FunctionDef),
        ("def f(*a, **b):\n    a", ast.FunctionDef),
        ("def f():\n    a\n    for a in []: pass", ast.FunctionDef),
        ("def f():\n    a\n    def g():\n        a = 1", None),
        ("def f():\n    global a; a\n    a = 1", None),
        ("a = 1\ndef f():\n    return lambda: a", None),
        ("f = lambda a: (\n a)", ast.Lambda),
        ("a = 1\n[a for b in range(3)]", None),
        ("a = 1\n[a for a in range(3)]", ast.ListComp),
        ("def f(b):\n    sum(a for a in b)", ast.GeneratorExp),
    ],
)
def test_a_variable_belongs_to_the_innermost_function_that_binds_it(source, owner):
    program = ProgramTree(source)
    reads = [n for n in program.nodes if isinstance(n, ast.Name) and n.id == "a"]
    node = next(n for n in reads if isinstance(n.ctx, ast.Load))
    found = scope_of(program, "a", node)
    assert (type(found) if found is not None else None) == owner
