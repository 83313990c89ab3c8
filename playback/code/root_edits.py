"""Edits of the call that starts a backward pass at a tensor which is no scalar."""

import ast
from typing import Literal, NamedTuple

from gradscribe.playback.code.program_text import ProgramText

Reduction = Literal["sum", "mean"]

ERROR = "grad can be implicitly created only for scalar outputs"
"""Torch's message when backward starts at a tensor of several elements without a ``gradient``."""

_FUNCTIONS = {
    "torch.autograd.grad": ("grad_outputs", 2),
    "autograd.grad": ("grad_outputs", 2),
    "grad": ("grad_outputs", 2),
    "torch.autograd.backward": ("grad_tensors", 1),
    "autograd.backward": ("grad_tensors", 1),
}
"""Functions that start a pass: keyword and place of the argument that takes the vector."""


class RootCall(NamedTuple):
    """A call of ``backward`` or ``grad``, its root, and the argument that takes the vector."""

    call: ast.Call
    root: ast.expr
    keyword: str
    argument: ast.expr | None

    @property
    def has_vector(self) -> bool:
        """True if a vector is given."""
        argument = self.argument
        is_none = isinstance(argument, ast.Constant) and argument.value is None
        return argument is not None and not is_none


def _root_call(text: ProgramText, line: int) -> RootCall | None:
    """Return the only call on a line that starts a backward pass at a single tensor."""
    at = [one for one in text.calls() if one.lineno <= line <= (one.end_lineno or 0)]
    found = [made for made in map(_as_root_call, at) if made is not None]
    return found[0] if len(found) == 1 else None


def _as_root_call(call: ast.Call) -> RootCall | None:
    has_star = any(isinstance(one, ast.Starred) for one in call.args)
    if has_star or any(keyword.arg is None for keyword in call.keywords):
        return None
    name = ast.unparse(call.func)
    if name in _FUNCTIONS:
        keyword, place = _FUNCTIONS[name]
        root = call.args[0] if call.args else None
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        keyword, place = "gradient", 0
        root = call.func.value
    else:
        return None
    if root is None or isinstance(root, ast.List | ast.Tuple):
        return None
    named = next((one.value for one in call.keywords if one.arg == keyword), None)
    argument = named or (call.args[place] if len(call.args) > place else None)
    return RootCall(call, root, keyword, argument)


def root_text(source: str, line: int) -> str:
    """Return the expression at which the pass on a line starts; empty if there is no such call."""
    text = ProgramText(source)
    found = _root_call(text, line)
    return text.text_of(found.root) if found is not None else ""


def vector_keyword(source: str, line: int) -> str:
    """Return the keyword of the vector on a line: ``gradient``, ``grad_outputs`` or the like."""
    found = _root_call(ProgramText(source), line)
    return found.keyword if found is not None else ""


def vector_text(source: str, line: int) -> str:
    """Return the vector that the pass on a line starts from; empty if none is given."""
    text = ProgramText(source)
    found = _root_call(text, line)
    argument = found.argument if found is not None and found.has_vector else None
    return text.text_of(argument) if argument is not None else ""


def with_reduction(source: str, line: int, reduction: Reduction) -> str:
    """Return the program in which the pass starts at the sum or the mean of its root."""
    text = ProgramText(source)
    found = _root_call(text, line)
    if found is None or found.has_vector:
        return ""
    method = f".{reduction}()"
    if found.keyword == "gradient" and isinstance(found.call.func, ast.Attribute):
        return text.before_attribute(found.call.func, method)
    return text.converted(found.root, method)


def with_vector(source: str, line: int, vector: str) -> str:
    """Return the program in which the pass starts from a vector, an expression.

    Empty if it is no expression.
    """
    text = ProgramText(source)
    found, vector = _root_call(text, line), vector.strip()
    if found is None or not is_expression(vector):
        return ""
    if found.argument is not None:
        return text.replaced(found.argument, vector)
    return text.with_keyword(found.call, found.keyword, vector)


def is_expression(text: str) -> bool:
    """Return whether a text is an expression on a line of its own."""
    if "\n" in text or "\r" in text or "\f" in text or "#" in text:
        return False
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not isinstance(body, ast.Tuple) or text.startswith("(")
