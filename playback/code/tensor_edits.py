"""Edits of a program's text that change a property of one of its tensors.

Each takes the line on which the tensor was made and its name, and returns the whole edited program,
or an empty string where the text gives no safe place for the edit.
"""

import ast

FACTORIES = frozenset(
    "tensor zeros ones rand randn full empty eye arange linspace logspace zeros_like ones_like"
    " rand_like randn_like full_like empty_like".split()
)
"""Functions of torch that take dtype, device and requires_grad."""


def set_requires_grad(source: str, line: int, name: str, is_on: bool) -> str:
    """Let a leaf require a gradient, or not any more."""
    text = _Text(source)
    made = text.assignment(line, name)
    if made is None:
        return ""
    call = _factory(made.value)
    if text.call_after(made, name, "requires_grad_") is not None:
        return text.without_line_after(made) if not is_on else ""
    if call is not None:
        return text.with_keyword(call, "requires_grad", "True" if is_on else "")
    return text.with_line_after(made, f"{name}.requires_grad_({'' if is_on else 'False'})")


def set_retain_grad(source: str, line: int, name: str, is_on: bool) -> str:
    """Let a result retain its gradient in ``.grad``, or not any more."""
    text = _Text(source)
    made = text.assignment(line, name)
    if made is None:
        return ""
    if (text.call_after(made, name, "retain_grad") is not None) == is_on:
        return ""
    if is_on:
        return text.with_line_after(made, f"{name}.retain_grad()")
    return text.without_line_after(made)


def retains_grad(source: str, line: int, name: str) -> bool:
    """Return whether the line after a tensor's own lets it retain its gradient."""
    text = _Text(source)
    made = text.assignment(line, name)
    return made is not None and text.call_after(made, name, "retain_grad") is not None


def set_dtype(source: str, line: int, name: str, dtype: str) -> str:
    """Make a tensor with another dtype, as ``float64``; a result is converted."""
    return _set_property(source, line, name, "dtype", f"torch.{dtype}")


def set_device(source: str, line: int, name: str, device: str) -> str:
    """Make a tensor on another device, as ``cuda:0``; a result is moved there."""
    return _set_property(source, line, name, "device", f'"{device}"')


def _set_property(source: str, line: int, name: str, keyword: str, value: str) -> str:
    text = _Text(source)
    made = text.assignment(line, name)
    if made is None:
        return ""
    call = _factory(made.value)
    if call is not None:
        return text.with_keyword(call, keyword, value)
    return text.converted(made.value, f".to({value})")


def _factory(made: ast.expr) -> ast.Call | None:
    """Return the call if an expression calls one of torch's factories."""
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return None
    is_torch = isinstance(made.func.value, ast.Name) and made.func.value.id == "torch"
    has_rest = any(keyword.arg is None for keyword in made.keywords)
    return made if is_torch and made.func.attr in FACTORIES and not has_rest else None


class _Text:
    """A program as bytes, since columns of the syntax tree count bytes, with its tree."""

    def __init__(self, source: str) -> None:
        self._rows = source.encode().splitlines(keepends=True)
        self._plain = "\r" not in source and "\f" not in source
        try:
            self._tree: ast.Module | None = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = None

    def assignment(self, line: int, name: str) -> ast.Assign | None:
        """Return the statement ``name = ...`` on a line that has no other statement."""
        if self._tree is None or not self._plain or not name.isidentifier():
            return None
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            target = node.targets[0]
            is_named = isinstance(target, ast.Name) and target.id == name
            if is_named and node.lineno <= line <= (node.end_lineno or 0):
                return node if self._stands_alone(node) else None
        return None

    def call_after(self, made: ast.Assign, name: str, method: str) -> ast.Expr | None:
        """Return the statement ``name.method(...)`` that follows right after another."""
        following = self._following(made)
        call = following.value if isinstance(following, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        owner = call.func.value
        is_it = isinstance(owner, ast.Name) and owner.id == name and call.func.attr == method
        alone = isinstance(following, ast.Expr) and self._stands_alone(following)
        return following if is_it and alone and isinstance(following, ast.Expr) else None

    def with_line_after(self, made: ast.stmt, line: str) -> str:
        """Return the program with a line after a statement, at its indentation."""
        end = made.end_lineno or made.lineno
        indent = self._rows[made.lineno - 1][: made.col_offset]
        rows = list(self._rows)
        if not rows[end - 1].endswith(b"\n"):
            rows[end - 1] += b"\n"
            return self._checked([*rows[:end], indent + line.encode()])
        return self._checked([*rows[:end], indent + line.encode() + b"\n", *rows[end:]])

    def without_line_after(self, made: ast.stmt) -> str:
        """Return the program without the statement that follows another."""
        following = self._following(made)
        if following is None:
            return ""
        start, end = following.lineno - 1, following.end_lineno or following.lineno
        return self._checked([*self._rows[:start], *self._rows[end:]])

    def with_keyword(self, call: ast.Call, name: str, value: str) -> str:
        """Return the program in which a call has a keyword; an empty value makes it False."""
        wanted = value or "False"
        present = next((one for one in call.keywords if one.arg == name), None)
        if present is not None:
            return self._replaced(present.value, wanted)
        if not value:
            return ""
        given = [*call.args, *(one.value for one in call.keywords)]
        text = f"{name}={wanted}"
        if not given:
            return self._inserted(call.end_lineno or 0, (call.end_col_offset or 1) - 1, text)
        last = max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
        return self._inserted(last.end_lineno or 0, last.end_col_offset or 0, f", {text}")

    def converted(self, made: ast.expr, method: str) -> str:
        """Return the program in which a call is made on the result of an expression."""
        simple = isinstance(made, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
        end = made.end_lineno or made.lineno, made.end_col_offset or 0
        if simple:
            return self._inserted(*end, method)
        rows = list(self._rows)
        _insert(rows, *end, f"){method}")
        _insert(rows, made.lineno, made.col_offset, "(")
        return self._checked(rows)

    def _following(self, made: ast.stmt) -> ast.stmt | None:
        assert self._tree is not None
        for node in ast.walk(self._tree):
            for block in (getattr(node, part, None) for part in ("body", "orelse", "finalbody")):
                if isinstance(block, list) and made in block:
                    at = block.index(made) + 1
                    return block[at] if at < len(block) else None
        return None

    def _stands_alone(self, node: ast.stmt) -> bool:
        before = self._rows[node.lineno - 1][: node.col_offset]
        after = self._rows[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :]
        return not before.strip() and (not after.strip() or after.strip().startswith(b"#"))

    def _replaced(self, old: ast.expr, new: str) -> str:
        if old.lineno != old.end_lineno:
            return ""
        rows = list(self._rows)
        row = rows[old.lineno - 1]
        rows[old.lineno - 1] = row[: old.col_offset] + new.encode() + row[old.end_col_offset :]
        return self._checked(rows)

    def _inserted(self, line: int, column: int, text: str) -> str:
        rows = list(self._rows)
        _insert(rows, line, column, text)
        return self._checked(rows)

    def _checked(self, rows: list[bytes]) -> str:
        """Return the program if it is one, and another than before."""
        source = b"".join(rows).decode()
        try:
            made = ast.parse(source)
        except (SyntaxError, ValueError):
            return ""
        assert self._tree is not None
        return source if ast.dump(made) != ast.dump(self._tree) else ""


def _insert(rows: list[bytes], line: int, column: int, text: str) -> None:
    row = rows[line - 1]
    rows[line - 1] = row[:column] + text.encode() + row[column:]
