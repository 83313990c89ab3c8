"""Edits of a program's text that change a property of one of its tensors.

Each takes the line on which the tensor was made and its name, and returns the whole edited program,
or an empty string where the text gives no safe place for the edit.
"""

import ast

from gradscribe.playback.code.program_text import ProgramText, set_by

FACTORIES = frozenset(
    "tensor zeros ones rand randn full empty eye arange linspace logspace zeros_like ones_like"
    " rand_like randn_like full_like empty_like".split()
)
"""Functions of torch that take dtype, device and requires_grad."""


def set_requires_grad(source: str, line: int, name: str, is_on: bool) -> str:
    """Let a leaf require a gradient, or not any more."""
    text = ProgramText(source)
    made = text.binding(line, name)
    if made is None:
        return ""
    own = [one for one in text.block_after(made) if set_by(one) == name]
    if own:
        return text.without(own[0]) if text.stands_alone(own[0]) and len(own) == 1 else ""
    alone = text.assignment(line, name)
    call = _factory(alone.value) if alone is not None else None
    if call is not None:
        has_it = any(keyword.arg == "requires_grad" for keyword in call.keywords)
        return text.with_keyword(call, "requires_grad", str(is_on)) if is_on or has_it else ""
    return text.with_line_after(made, f"{name}.requires_grad_({'' if is_on else 'False'})")


def set_retain_grad(source: str, line: int, name: str, is_on: bool) -> str:
    """Let a result retain its gradient in ``.grad``, or not any more."""
    text = ProgramText(source)
    made = text.binding(line, name)
    own = text.call_after(made, name, "retain_grad") if made is not None else None
    if made is None or (own is not None) == is_on:
        return ""
    return text.without(own) if own is not None else text.with_line_after(made, _retain(name))


def retains_grad(source: str, line: int, name: str) -> bool:
    """Return whether the line after a tensor's own lets it retain its gradient."""
    text = ProgramText(source)
    made = text.binding(line, name)
    return made is not None and text.call_after(made, name, "retain_grad") is not None


def set_dtype(source: str, line: int, name: str, dtype: str, is_trained: bool = False) -> str:
    """Make a tensor with another dtype, as ``float64``; a result is converted.

    ``is_trained``: it is a leaf that requires a gradient, and stays one.
    """
    return _set_property(source, line, name, ("dtype", f"torch.{dtype}"), is_trained)


def set_device(source: str, line: int, name: str, device: str, is_trained: bool = False) -> str:
    """Make a tensor on another device, as ``cuda:0``; a result is moved there."""
    return _set_property(source, line, name, ("device", f'"{device}"'), is_trained)


def _set_property(
    source: str, line: int, name: str, wanted: tuple[str, str], is_trained: bool
) -> str:
    text = ProgramText(source)
    keyword, value = wanted
    made = text.assignment(line, name)
    if made is None or made.value is None:
        return ""
    expression = made.value
    if (inner := _in_parameter(expression)) is not None:
        # A parameter that is converted is no parameter any more: what it is made of is converted.
        expression, is_trained = inner, False
    call = _factory(expression) or (_param(expression) if keyword == "dtype" else None)
    if call is not None:
        return text.with_keyword(call, keyword, value)
    leaf = ".detach().requires_grad_()" if is_trained else ""
    return text.converted(expression, f".to({value}){leaf}")


def _retain(name: str) -> str:
    return f"{name}.retain_grad()"


def _factory(made: ast.expr | None) -> ast.Call | None:
    """Return the call if an expression calls one of torch's factories."""
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return None
    is_torch = isinstance(made.func.value, ast.Name) and made.func.value.id == "torch"
    has_rest = any(keyword.arg is None for keyword in made.keywords)
    return made if is_torch and made.func.attr in FACTORIES and not has_rest else None


def _param(made: ast.expr) -> ast.Call | None:
    """Return the call if an expression calls the app's own ``param``, which takes a dtype."""
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name):
        return None
    return made if made.func.id == "param" else None


def _in_parameter(made: ast.expr) -> ast.expr | None:
    """Return the tensor that an expression makes an ``nn.Parameter`` of."""
    if not isinstance(made, ast.Call) or len(made.args) != 1:
        return None
    name = ast.unparse(made.func).rpartition(".")[2]
    return made.args[0] if name == "Parameter" else None
