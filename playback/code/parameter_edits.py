"""Edits of a program's text for a parameter of a module, named by its path (``model.fc.weight``).

A line goes after the one that makes the module, and after what later freezes or frees parameters,
but before the module is called. Each edit returns the whole program, or an empty string where the
text gives no safe place.
"""

import ast
import re

from gradscribe.playback.code.program_text import Bound, ProgramText, set_by

_PATH = re.compile(r"[^\W\d]\w*(\.[\w-]+)+")


def is_path(name: str) -> bool:
    """Return whether a tensor's name is the path of a module's parameter."""
    return _PATH.fullmatch(name) is not None


def expression(path: str) -> str:
    """Return a path as Python has it: ``net.0.weight`` is ``net[0].weight``."""
    root, _, rest = path.partition(".")
    parts = rest.split(".") if rest else []
    if not all(part.isidentifier() or part.isdecimal() for part in parts):
        return f'{root}.get_parameter("{rest}")'
    return root + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)


def set_requires_grad(source: str, line: int, path: str, is_on: bool) -> str:
    """Let a module's parameter require a gradient, or not any more.

    ``line`` is that of its first use. The path of a module stands for all of its parameters.
    """
    text, root, name = ProgramText(source), path.partition(".")[0], expression(path)
    made = module_line(text, root)
    if made is None:
        return ""
    before_use = _before_use(text, made, root, line)
    setters = [one for one in before_use if _sets(one, root)]
    own = [one for one in setters if set_by(one) == name and text.stands_alone(one)]
    if own and setters == own[-1:]:
        return text.without(own[-1])
    if own and own[-1] is setters[-1]:
        source = text.without(own[-1])
        return set_requires_grad(source, line - 1, path, is_on) if source else ""
    after = setters[-1] if setters else made
    return text.with_line_after(after, f"{name}.requires_grad_({'' if is_on else 'False'})")


def set_dtype(source: str, line: int, path: str, dtype: str) -> str:
    """Convert the whole module of a parameter, as its other parameters have to fit."""
    return _moved(source, line, path, f"torch.{dtype}")


def set_device(source: str, line: int, path: str, device: str) -> str:
    """Move the whole module of a parameter to a device."""
    return _moved(source, line, path, f'"{device}"')


def _moved(source: str, line: int, path: str, wanted: str) -> str:
    text, root = ProgramText(source), path.partition(".")[0]
    made = module_line(text, root)
    if made is None:
        return ""
    is_dtype = wanted.startswith("torch.")
    for statement in _before_use(text, made, root, line):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != f"{root}.to":
            continue
        if len(call.args) == 1 and not call.keywords and _is_dtype(call.args[0]) == is_dtype:
            return text.replaced(call.args[0], wanted)
    return text.with_line_after(made, f"{root}.to({wanted})")


def _is_dtype(node: ast.expr) -> bool:
    return ast.unparse(node).startswith("torch.")


def module_line(text: ProgramText, root: str) -> Bound | None:
    """Return the statement that makes a module: the last before it is called for the first time."""
    found = [one for one in text.assignments(root) if text.stands_alone(one)]
    if len(found) <= 1 or text.tree is None:
        return found[0] if found else None
    called = next((one for one in text.tree.body if _calls(one, root)), None)
    before = [
        one
        for one in text.tree.body
        if one in found and (called is None or one.lineno < called.lineno)
    ]
    last = before[-1] if before else None
    return last if isinstance(last, Bound) else None


def _before_use(text: ProgramText, made: Bound, root: str, line: int) -> list[ast.stmt]:
    """Return the statements between the one that makes a module and the first that uses it."""
    found = []
    for statement in text.block_after(made):
        is_at = statement.lineno <= line <= (statement.end_lineno or 0)
        if _calls(statement, root) or (is_at and not _is_definition(statement)):
            break
        found.append(statement)
    return found


def _is_definition(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _calls(statement: ast.stmt, root: str) -> bool:
    """Return whether a statement calls the module itself when it runs."""
    if _is_definition(statement):
        return False
    calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == root for called in calls)


def _sets(statement: ast.stmt, root: str) -> bool:
    """Return whether a statement changes ``requires_grad`` of something of the module."""
    if _is_definition(statement):
        return False
    nodes = list(ast.walk(statement))
    names_it = any(isinstance(node, ast.Name) and node.id == root for node in nodes)
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return names_it and any(
        node.attr == "requires_grad_"
        or (node.attr == "requires_grad" and isinstance(node.ctx, ast.Store))
        for node in attributes
    )
