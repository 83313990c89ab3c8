"""Fixes of classes and calls: ``__init__``, ``self``, parentheses, parameters, loaders."""

import ast
import re
from collections.abc import Callable, Iterator

from gradscribe.engine.hints.fixes.context import ErrorFixRow, FailedProgram

_Match = re.Match[str]
_Fixes = Callable[[FailedProgram, _Match, _Match], Iterator[str]]


def _call_base(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    """Insert ``super().__init__()`` into the ``__init__`` that failed."""
    for cls in ast.walk(fault.tree):
        if not isinstance(cls, ast.ClassDef):
            continue
        for method in cls.body:
            is_init = isinstance(method, ast.FunctionDef) and method.name == "__init__"
            if not is_init or not method.lineno <= fault.place.line <= (method.end_lineno or 0):
                continue
            assert isinstance(method, ast.FunctionDef)
            first = method.body[0]
            is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if is_text and len(method.body) > 1:
                first = method.body[1]
            line = " " * first.col_offset + "super().__init__()"
            at = first.lineno - 1
            yield "\n".join([*fault.lines[:at], line, *fault.lines[at:]])


def _rename_method(new: str) -> _Fixes:
    def rename(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
        name = hint[1]
        number = int(hint[2]) if hint.re.groups > 1 else _line_of(fault, name)
        pattern = rf"\bdef\s+{re.escape(name)}\b"
        yield fault.with_line(number, re.sub(pattern, f"def {new}", fault.lines[number - 1]))

    return rename


def _line_of(fault: FailedProgram, method: str) -> int:
    found = [n for n in ast.walk(fault.tree) if isinstance(n, ast.FunctionDef) and n.name == method]
    return found[0].lineno


def _add_self(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    number, name = int(hint[2]), re.escape(hint[1])
    line = fault.lines[number - 1]
    yield fault.with_line(number, re.sub(rf"(\bdef\s+{name}\s*\()(?=\s*\))", r"\1self", line))
    yield fault.with_line(number, re.sub(rf"(\bdef\s+{name}\s*\()", r"\1self, ", line))


def _call_on_line(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    """Add the parentheses that the hint writes to an expression on its line."""
    number, text = int(hint[1]), hint[2]
    for node in ast.walk(fault.tree):
        if isinstance(node, ast.expr) and node.lineno == number and ast.unparse(node) == text:
            yield fault.replaced(fault.extent(node)[1], fault.extent(node)[1], "()")


def _call_here(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    for node in ast.walk(fault.tree):
        is_near = isinstance(node, ast.Attribute) and node.lineno == fault.place.line
        if is_near and ast.unparse(node) == hint[1]:
            assert isinstance(node, ast.Attribute)
            yield fault.replaced(fault.extent(node)[1], fault.extent(node)[1], "()")


def _make_one(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    """Add parentheses to the class that is assigned on a line."""
    for node in ast.walk(fault.tree):
        if isinstance(node, ast.Assign) and node.lineno == int(hint[1]):
            end = fault.extent(node.value)[1]
            yield fault.replaced(end, end, "()")


def _make_and_call(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    """Turn ``nn.ReLU(x)`` into ``nn.ReLU()(x)``."""
    for node in ast.walk(fault.tree):
        is_there = isinstance(node, ast.Call) and node.lineno == int(hint[2])
        if isinstance(node, ast.Call) and is_there and ast.unparse(node.func) == hint[1]:
            end = fault.extent(node.func)[1]
            yield fault.replaced(end, end, "()")


def _wrap_parameter(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    name = "nn.Parameter" if "nn" in fault.scope else "torch.nn.Parameter"
    for node in ast.walk(fault.tree):
        is_there = isinstance(node, ast.Assign) and node.lineno == int(hint[2])
        if isinstance(node, ast.Assign) and is_there and ast.unparse(node.targets[0]) == hint[1]:
            yield fault.with_node(node.value, f"{name}({fault.text(node.value)})")


def _drop_last(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    for node in ast.walk(fault.tree):
        is_loader = isinstance(node, ast.Call) and "DataLoader" in ast.unparse(node.func)
        if is_loader and isinstance(node, ast.Call) and node.lineno == int(hint[1]):
            for word in node.keywords:
                if word.arg == "drop_last":
                    yield fault.with_node(word.value, "True")
                    return
            end = fault.extent(node)[1] - 1
            yield fault.replaced(end, end, ", drop_last=True")


def _no_workers(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    for node in ast.walk(fault.tree):
        if isinstance(node, ast.keyword) and node.arg == "num_workers":
            yield fault.with_node(node.value, "0")


ROWS = (
    ErrorFixRow(_call_base, "before Module.__init__", "", AttributeError),
    ErrorFixRow(
        _rename_method("__init__"), "", r"never calls (\w+) on line (\d+): the method that"
    ),
    ErrorFixRow(_rename_method("__init__"), "", r"(\w+) on line (\d+) should be __init__"),
    ErrorFixRow(_rename_method("forward"), "", r"rename the method (\w+) to forward"),
    ErrorFixRow(_add_self, "", r"write def (\w+)\(self, \.\.\.\) on line (\d+)", TypeError),
    ErrorFixRow(
        _call_on_line, "", r"Line (\d+) names backward without calling it: write (.+)\(\)\."
    ),
    ErrorFixRow(_call_here, "", r"^Call it, with parentheses: ([\w.]+)\(\)\.", TypeError),
    ErrorFixRow(_make_one, "", r"make one on line (\d+) with parentheses", TypeError),
    ErrorFixRow(
        _make_and_call, "", r"^([\w.]+)\(.*\) on line (\d+) makes a module and does not call"
    ),
    ErrorFixRow(_wrap_parameter, "", r"(self\.\w+) on line (\d+) is a plain tensor"),
    ErrorFixRow(_drop_last, "", r"give the DataLoader on line (\d+) drop_last=True"),
    ErrorFixRow(_no_workers, "", "use num_workers=0"),
)
