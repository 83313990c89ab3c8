"""Hints for calls: wrong arguments, mistakes in classes, names in the wrong module."""

import ast
import difflib
import inspect
import re
import types

import torch
from torch import nn

from gradscribe.engine.hints import operands
from gradscribe.engine.hints.advice import NO_GRAD, HintContext, near
from gradscribe.engine.hints.classes import module_as_function

_PLACES = (
    ("torch", torch),
    ("nn", nn),
    ("F", nn.functional),
    ("torch.optim", torch.optim),
    ("torch.optim.lr_scheduler", torch.optim.lr_scheduler),
    ("torch.utils.data", torch.utils.data),
    ("torch.linalg", torch.linalg),
)
"""Modules of torch to search for a name that was looked up in another of them."""


def too_many(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a call with too many arguments."""
    classes = _classes(case)
    message = str(case.exc)
    module = re.match(r"(\w+)\.__init__\(\) takes 1 positional argument", message)
    if module is not None and isinstance(getattr(nn, module[1], None), type):
        return module_as_function(module, case)
    for cls in classes:
        for method in _methods(cls):
            first = method.args.args[0].arg if method.args.args else ""
            is_meant = f"{cls.name}.{method.name}()" in message
            if is_meant and first != "self" and not method.decorator_list:
                return (
                    f"The first parameter of a method is the object itself: write def "
                    f"{method.name}(self, ...) on line {method.lineno}."
                )
    if "__init__()" in message:
        for cls in classes:
            slip = _init_slip(cls) if f"{cls.name}.__init__()" in message else ""
            if slip:
                return slip
        tree = operands.parse_expression(case.code)
        called = tree.func if isinstance(tree, ast.Call) else None
        owner = case.scope.get(called.id) if isinstance(called, ast.Name) else None
        if isinstance(called, ast.Name) and isinstance(owner, type) and called.id != owner.__name__:
            return (
                f"{called.id} is the class {owner.__name__} itself: make a model of it first, "
                f"with {owner.__name__}()."
            )
    return "It takes fewer arguments than it is given here; sizes may need brackets around them."


def missing_attribute(match: re.Match[str], case: HintContext) -> str:
    """Hint for an AttributeError: a name in torch, or a similar attribute of the object."""
    word = match[1]
    owner = getattr(case.exc, "obj", None)
    if word == "backward" and hasattr(owner, "param_groups"):
        return "Only a loss has backward(): loss.backward(), and then step() of the optimizer."
    if word == "zero_grad" and isinstance(owner, torch.Tensor):
        return "Optimizers and modules have zero_grad(); of one tensor write x.grad = None."
    if word == "step" and isinstance(owner, nn.Module | torch.Tensor):
        return "Only an optimizer steps: opt = torch.optim.SGD(model.parameters(), lr=0.1)."
    if inspect.isroutine(owner):
        return f"{owner.__name__} is not called yet: write {owner.__name__}()."
    if isinstance(owner, tuple | list) and hasattr(torch.Tensor, word):
        kind = type(owner).__name__
        return (
            f"This is a {kind}, not a tensor: take the tensor out of it, as in out, state = rnn(x)."
        )
    if isinstance(owner, nn.Module) and hasattr(torch.Tensor, word) and not hasattr(owner, word):
        return f"This is the module {type(owner).__name__}, not its output: call it with a tensor."
    if isinstance(owner, nn.Module) and (why := _missing_field(case, owner)):
        return why
    place = _elsewhere(owner, word)
    if place.rpartition(".")[2] == word:
        return f"Did you mean {place}?"
    close = near(word, dir(owner)) if owner is not None else ""
    if close:
        return f"Did you mean .{close}?"
    return (
        f"Did you mean {place}?"
        if place
        else "Check the spelling; this object has no such method or field."
    )


def none_operand(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for arithmetic on None, which is usually a ``.grad``."""
    if "grad" in case.code:
        return _uncalled_backward(case) or NO_GRAD
    return "One side is None. Does a function forget its return, or is a .grad not there yet?"


def none_attribute(match: re.Match[str], case: HintContext) -> str:
    """Hint for an attribute of None, which is usually a ``.grad``."""
    if "grad" in case.code or match[1] in ("zero_", "norm", "data", "clone", "item"):
        return _uncalled_backward(case) or NO_GRAD
    return "What stands before the dot is None. Does a function forget its return?"


def _missing_field(case: HintContext, owner: object) -> str:
    """Return why a module lacks an attribute of its ``__init__``; empty if unknown."""
    classes = (cls for cls in _classes(case) if cls.name == type(owner).__name__)
    return next((slip for cls in classes if (slip := _init_slip(cls))), "")


def _elsewhere(owner: object, word: str) -> str:
    """Return the qualified name in torch of a name that was looked up in the wrong module."""
    if not isinstance(owner, types.ModuleType) or not owner.__name__.startswith("torch"):
        return ""
    for exact in (True, False):
        for name, place in _PLACES:
            names = [
                candidate
                for candidate in vars(place)
                if candidate == word or candidate.lower() == word.lower()
            ]
            good = word if word in names else names[0] if names and not exact else ""
            if good and place is not owner:
                return f"{name}.{good}"
    return ""


def not_iterable(match: re.Match[str], case: HintContext) -> str:
    """Hint for an object that is not iterable, usually a model passed to an optimizer."""
    method = re.search(r"(\w+(?:\.\w+)*\.(?:named_)?parameters)\b(?!\()", case.code)
    if match[1] == "method" and method is not None:
        return f"Call it, with parentheses: {method[1]}()."
    return "If this is a model, give its parameters: model.parameters()."


def one_element(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a conversion of several elements to a number, usually in a list of tensors."""
    if re.match(r"\s*(torch\.)?tensor\(", case.code):
        return "torch.tensor takes numbers: put tensors together with torch.stack or torch.cat."
    return "Only one element becomes a number: use .sum(), .mean(), or pick one."


def no_overload(match: re.Match[str], case: HintContext) -> str:
    """Hint for arguments that match no overload of a function: a misspelt keyword."""
    message = str(case.exc)
    given = re.search(r"got \((.*?)\), but", message, re.DOTALL)
    words = re.findall(r"(\w+)=", given[1]) if given else []
    known = set(re.findall(r"(\w+)(?: = [^,)]*)?[,)]", message.partition("one of")[2]))
    for word in words:
        close = difflib.get_close_matches(word, sorted(known - {word}), n=1, cutoff=0.72)
        if word not in known and close:
            return f"Did you mean {close[0]}=?"
    return f"{match[1]} cannot be called with these arguments: compare with the forms listed."


def wrong_unpacking(match: re.Match[str], case: HintContext) -> str:
    """Hint for unpacking into too many or too few names."""
    few = match[1] == "not enough"
    code = case.code.strip()
    looped = re.search(rf"\bfor\s+\(?{re.escape(code)}\)?\s+in\b", case.source) if code else None
    if looped or code.startswith("for "):
        return (
            f"Each element the loop comes to holds {'fewer' if few else 'more'} things than there "
            "are names before in."
        )
    return "Left and right of = need equally many: count the names and the elements."


def _uncalled_backward(case: HintContext) -> str:
    """Return the hint for a ``loss.backward`` without parentheses; empty if there is none."""
    for node in ast.walk(operands.parse_program(case.source)):
        match node:
            case ast.Expr(ast.Attribute(attr="backward") as bare):
                return (
                    f"Line {node.lineno} names backward without calling it: write "
                    f"{ast.unparse(bare)}()."
                )
    return ""


def _classes(case: HintContext) -> list[ast.ClassDef]:
    tree = operands.parse_program(case.source)
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def _methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    return [node for node in cls.body if isinstance(node, ast.FunctionDef)]


def _init_slip(cls: ast.ClassDef) -> str:
    """Return the hint for a misspelt ``__init__`` of a class; empty if it is not misspelt."""
    methods = _methods(cls)
    if any(method.name == "__init__" for method in methods):
        return ""
    for method in methods:
        if near(method.name.strip("_"), ("init",)) or method.name.strip("_").lower() in _SLIPS:
            return (
                f"{method.name} on line {method.lineno} should be __init__, with two underscores "
                "on each side: Python never calls it."
            )
    return ""


_SLIPS = frozenset(("init", "int", "inti", "ini", "initi"))
