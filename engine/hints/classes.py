"""Hints for errors of classes: not made, named wrongly, called as functions, with a backward."""

import ast
import difflib
import re
from collections.abc import Iterator

import torch
from torch import nn

from gradscribe.engine.hints import loops
from gradscribe.engine.hints.advice import HintContext, HintRow

_INIT = "__init__"


def _tree(case: HintContext) -> ast.Module:
    """Return the program; it ran, so that it can be parsed."""
    return ast.parse(case.source)


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (part for part in node.body if isinstance(part, ast.FunctionDef))


def _misspelt_init(case: HintContext) -> str:
    """Return a hint for a method that was meant to be ``__init__``; empty if there is none."""
    for node in ast.walk(_tree(case)):
        if not isinstance(node, ast.ClassDef) or any(m.name == _INIT for m in _methods(node)):
            continue
        for method in _methods(node):
            bare = method.name.strip("_").lower()
            if difflib.SequenceMatcher(None, bare, "init").ratio() >= 0.75 and any(
                isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
                for n in ast.walk(method)
            ):
                return (
                    f"Python never calls {method.name} on line {method.lineno}: the method that "
                    f"makes the layers of {node.name} is {_INIT}, with two underscores on each "
                    "side."
                )
    return ""


def _empty_parameters(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    return (
        _misspelt_init(case)
        or loops.taken(case)
        or _plain_tensor(case)
        or ("The model has no parameters: assign its layers to self in __init__.")
    )


def _plain_tensor(case: HintContext) -> str:
    """Return a hint for a tensor in a module without parameters; empty if there is none."""
    for node in ast.walk(_tree(case)):
        if isinstance(node, ast.ClassDef) and "Module" in " ".join(map(ast.unparse, node.bases)):
            for part in ast.walk(node):
                if not isinstance(part, ast.Assign) or not isinstance(part.value, ast.Call):
                    continue
                target = ast.unparse(part.targets[0])
                if target.startswith("self.") and _FACTORY.match(ast.unparse(part.value.func)):
                    return (
                        f"{target} on line {part.lineno} is a plain tensor, which parameters() "
                        f"does not list: wrap it in nn.Parameter(...)."
                    )
    return ""


_FACTORY = re.compile(r"torch\.(randn|rand|zeros|ones|tensor|full|empty)$")


def _missing_argument(match: re.Match[str], case: HintContext) -> str:
    """Hint for a missing argument: of a method that was called on a class, its object."""
    if match[2].startswith("'self'"):
        name = case.code.split(".")[0].strip()
        found = case.scope.get(name)
        if isinstance(found, type):
            made = _assigned_class(case, name)
            where = f" on line {made}" if made else ""
            return (
                f"{name} is the class {found.__name__}, not a model: make one{where} with "
                f"parentheses, {name} = {found.__name__}()."
            )
    return f"Also give it {match[2]}."


def _assigned_class(case: HintContext, name: str) -> int:
    """Return the line on which a variable was given a class; 0 if it is the class's own name."""
    for node in ast.walk(_tree(case)):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name | ast.Attribute)
            and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        ):
            return node.lineno
    return 0


def module_as_function(match: re.Match[str], case: HintContext) -> str:
    """Hint for ``nn.ReLU(x)``, which makes a module instead of calling it."""
    kind = match[1]
    if not isinstance(getattr(nn, kind, None), type):
        return f"Give it a tensor here, not a {kind}."
    for node in ast.walk(_tree(case)):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).rpartition(".")[2] == kind
            and node.args
            and not isinstance(node.args[0], ast.Constant)
        ):
            made = ast.unparse(node.func)
            inside = ", ".join(map(ast.unparse, node.args))
            short = next(
                (f" or torch.{f}({inside})" for f in (kind.lower(),) if hasattr(torch, f)), ""
            )
            return (
                f"{made}({inside}) on line {node.lineno} makes a module and does not call it: "
                f"write {made}()({inside}){short}."
            )
    return f"{kind} is a module: call it with the tensor, module(x)."


def _gradient_count(match: re.Match[str], case: HintContext) -> str:
    """Hint for a custom Function whose backward returns another number of gradients."""
    kind, expected, got = match[1].removesuffix("Backward"), int(match[2]), int(match[3])
    forward, line = [], 0
    for node in ast.walk(_tree(case)):
        if isinstance(node, ast.ClassDef) and node.name == kind:
            for method in _methods(node):
                if method.name == "forward":
                    forward = [a.arg for a in method.args.args]
                    forward = forward[1:] if len(forward) == expected + 1 else forward
                if method.name == "backward":
                    returned = [n for n in ast.walk(method) if isinstance(n, ast.Return)]
                    line = returned[-1].lineno if returned else method.lineno
    names = f" ({', '.join(forward)})" if forward else ""
    where = f" on line {line}" if line else ""
    return (
        f"backward{where} returns {got} gradient{'s' * (got != 1)}, forward takes {expected} "
        f"argument{'s' * (expected != 1)}{names}: return one for each, or None."
    )


ROWS = (
    HintRow(
        "empty parameter list",
        _empty_parameters,
        "optimizer got an empty parameter list",
        ValueError,
    ),
    HintRow(
        r"missing (\d+) required positional arguments?: (.+)",
        _missing_argument,
        "Linear.__init__() missing 1 required positional argument: 'out_features'",
        TypeError,
    ),
    HintRow(
        r"must be Tensor, not ([A-Z]\w+)$",
        module_as_function,
        "linear(): argument 'input' (position 1) must be Tensor, not ReLU",
        TypeError,
    ),
    HintRow(
        r"function (\w+) returned an incorrect number of gradients \(expected (\d+), got (\d+)\)",
        _gradient_count,
        "function ScaleBackward returned an incorrect number of gradients (expected 2, got 1)",
    ),
)
