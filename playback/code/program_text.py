"""A program's text with its syntax tree, for edits that leave everything else as it is."""

import ast
from collections.abc import Iterator

Bound = ast.Assign | ast.AnnAssign
"""A statement that gives a name a value."""

_SETTERS = ("requires_grad", "requires_grad_")


class ProgramText:
    """A program as bytes, since columns of the syntax tree count bytes, with its tree.

    Its edits return the whole program, or an empty string if it would not be a program any more.
    """

    def __init__(self, source: str) -> None:
        self._rows = source.encode(errors="replace").splitlines(keepends=True)
        is_plain = "\r" not in source and "\f" not in source
        try:
            self.tree = ast.parse(source) if is_plain else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.tree = None

    # Statements

    def assignments(self, name: str) -> list[Bound]:
        """Return the statements ``name = ...`` and ``name: kind = ...``, from above to below."""
        if self.tree is None or not name.isidentifier():
            return []
        found = [n for n in ast.walk(self.tree) if isinstance(n, Bound) and _assigned(n) == name]
        return sorted(found, key=lambda node: node.lineno)

    def assignment(self, line: int, name: str) -> Bound | None:
        """Return the statement ``name = ...`` on a line that has no other statement."""
        for node in self.assignments(name):
            if node.lineno <= line <= (node.end_lineno or 0):
                return node if self.stands_alone(node) else None
        return None

    def binding(self, line: int, name: str) -> ast.stmt | None:
        """Return the statement on a line that gives a name a value, alone or with others."""
        if self.tree is None or not name.isidentifier():
            return None
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                continue
            is_here = node.lineno <= line <= (node.end_lineno or 0)
            if is_here and name in _stored(node):
                return node if self.stands_alone(node) else None
        return None

    def block_after(self, made: ast.stmt) -> list[ast.stmt]:
        """Return the statements that follow another in its block."""
        assert self.tree is not None
        for node in ast.walk(self.tree):
            for part in ("body", "orelse", "finalbody"):
                block = getattr(node, part, None)
                if isinstance(block, list) and made in block:
                    return block[block.index(made) + 1 :]
        return []

    def call_after(self, made: ast.stmt, name: str, method: str) -> ast.stmt | None:
        """Return the statement ``name.method(...)`` that follows right after another."""
        following = next(iter(self.block_after(made)), None)
        call = following.value if isinstance(following, ast.Expr) else None
        if following is None or not isinstance(call, ast.Call):
            return None
        is_it = ast.unparse(call.func) == f"{name}.{method}"
        return following if is_it and self.stands_alone(following) else None

    def stands_alone(self, node: ast.stmt) -> bool:
        """Return whether a statement shares its lines with no other."""
        before = self._rows[node.lineno - 1][: node.col_offset]
        after = self._rows[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :]
        return not before.strip() and (not after.strip() or after.strip().startswith(b"#"))

    def calls(self) -> Iterator[ast.Call]:
        """Yield every call of the program."""
        if self.tree is not None:
            yield from (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))

    def text_of(self, node: ast.expr) -> str:
        """Return the text of an expression."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        rows = self._rows[start : end + 1]
        rows[-1] = rows[-1][: node.end_col_offset]
        rows[0] = rows[0][node.col_offset :]
        return b"".join(rows).decode(errors="replace")

    # Edits

    def with_line_after(self, made: ast.stmt, line: str) -> str:
        """Return the program with a line after a statement, at its indentation."""
        end = made.end_lineno or made.lineno
        indent = self._rows[made.lineno - 1][: made.col_offset]
        rows = list(self._rows)
        if not rows[end - 1].endswith(b"\n"):
            rows[end - 1] += b"\n"
            return self._checked([*rows[:end], indent + line.encode()])
        return self._checked([*rows[:end], indent + line.encode() + b"\n", *rows[end:]])

    def without(self, statement: ast.stmt) -> str:
        """Return the program without a statement that stands alone."""
        start, end = statement.lineno - 1, statement.end_lineno or statement.lineno
        return self._checked([*self._rows[:start], *self._rows[end:]])

    def with_keyword(self, call: ast.Call, name: str, value: str) -> str:
        """Return the program in which a call has a keyword."""
        present = next((one for one in call.keywords if one.arg == name), None)
        if present is not None:
            return self.replaced(present.value, value)
        given = [*call.args, *(one.value for one in call.keywords)]
        text = f"{name}={value}"
        if not given:
            return self.inserted(call.end_lineno or 0, (call.end_col_offset or 1) - 1, text)
        last = max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
        return self.inserted(last.end_lineno or 0, last.end_col_offset or 0, f", {text}")

    def converted(self, made: ast.expr, method: str) -> str:
        """Return the program in which a call is made on the result of an expression."""
        simple = isinstance(made, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
        end = made.end_lineno or made.lineno, made.end_col_offset or 0
        if simple:
            return self.inserted(*end, method)
        rows = list(self._rows)
        _insert(rows, *end, f"){method}")
        _insert(rows, made.lineno, made.col_offset, "(")
        return self._checked(rows)

    def before_attribute(self, node: ast.Attribute, text: str) -> str:
        """Return the program with a text before the point of an attribute."""
        line = node.end_lineno or node.lineno
        row = self._rows[line - 1][: (node.end_col_offset or 0) - len(node.attr.encode())]
        point = row.rfind(b".")
        return self.inserted(line, point, text) if point >= 0 else ""

    def replaced(self, old: ast.expr, new: str) -> str:
        """Return the program with another expression."""
        start, end = old.lineno - 1, (old.end_lineno or old.lineno) - 1
        first, last = self._rows[start], self._rows[end]
        row = first[: old.col_offset] + new.encode() + last[old.end_col_offset :]
        return self._checked([*self._rows[:start], row, *self._rows[end + 1 :]])

    def inserted(self, line: int, column: int, text: str) -> str:
        """Return the program with a text at a line and a column in bytes."""
        rows = list(self._rows)
        _insert(rows, line, column, text)
        return self._checked(rows)

    def _checked(self, rows: list[bytes]) -> str:
        """Return the program if it is one, and another than before."""
        source = b"".join(rows).decode(errors="replace")
        try:
            made = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
        assert self.tree is not None
        return source if ast.dump(made) != ast.dump(self.tree) else ""


def _insert(rows: list[bytes], line: int, column: int, text: str) -> None:
    row = rows[line - 1]
    rows[line - 1] = row[:column] + text.encode() + row[column:]


def _assigned(node: Bound) -> str:
    """Return the name that a statement alone gives a value; empty if there is none."""
    target: ast.expr | None
    if isinstance(node, ast.AnnAssign):
        target = node.target if node.value is not None else None
    else:
        target = node.targets[0] if len(node.targets) == 1 else None
    return target.id if isinstance(target, ast.Name) else ""


def _stored(node: ast.stmt) -> set[str]:
    return {
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }


def set_by(statement: ast.stmt) -> str:
    """Return the tensor whose ``requires_grad`` a statement sets, if that is all it does."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        target: ast.expr = statement.value.func
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        return ""
    if not isinstance(target, ast.Attribute) or target.attr not in _SETTERS:
        return ""
    # In the quotes that edits write.
    return ast.unparse(target.value).replace("'", '"')
