"""Syntax tree of the program for the doctor: statements, names, and edits for fixes."""

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

from gradscribe.engine.protocol.tape import Place

N = TypeVar("N", bound=ast.expr | ast.stmt)


class ProgramTree:
    """A program's syntax tree with queries; empty if it does not parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        try:
            self.tree = ast.parse("\n".join(self.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.tree = ast.Module([], [])

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, outer before inner."""
        return list(ast.walk(self.tree))

    def find(self, kind: type[N], place: Place | None = None) -> Iterator[N]:
        """Yield the nodes of a type, outer before inner; only those at ``place`` if it is given."""
        for node in self.nodes:
            if isinstance(node, kind) and place in (None, self.place(node)):
                yield node

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, the innermost first."""
        while (parent := self._parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, line: int) -> ast.stmt | None:
        """Return the innermost statement that covers a line."""
        return self._statements.get(line)

    @cached_property
    def _statements(self) -> dict[int, ast.stmt]:
        found: dict[int, ast.stmt] = {}
        for node in self.find(ast.stmt):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = node
        return found

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """Return the innermost statement around a node, or the node if it is a statement."""
        if isinstance(node, ast.stmt):
            return node
        return next((n for n in self.above(node) if isinstance(n, ast.stmt)), None)

    def loop(self, line: int) -> ast.For | ast.While | None:
        """Return the innermost loop whose body covers a line."""
        statement = self.statement(line)
        if statement is None:
            return None
        for node in [statement, *self.above(statement)]:
            if isinstance(node, ast.For | ast.While) and line >= node.body[0].lineno:
                return node
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                return None
        return None

    def calls(self, *called: str) -> list[ast.Call]:
        """Return the calls of functions or methods by name, each name's in the text's order."""
        return [call for name in called for call in self._calls.get(name, ())]

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for node in self.find(ast.Call):
            found.setdefault(called_name(node), []).append(node)
        for calls in found.values():
            calls.sort(key=lambda c: (c.lineno, c.col_offset))
        return found

    @cached_property
    def bindings(self) -> dict[str, list[tuple[int, ast.expr]]]:
        """For each variable the lines and expressions it is assigned from, in order."""
        found: dict[str, list[tuple[int, ast.expr]]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name, value in _pairs(target, node.value):
                        found.setdefault(name, []).append((node.lineno, value))
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                found.setdefault(ast.unparse(node.target), []).append((node.lineno, node.value))
        for rows in found.values():
            rows.sort(key=lambda row: row[0])
        return found

    def last_binding(self, name: str, line: int) -> ast.expr | None:
        """Return the expression a variable was last assigned from above ``line``."""
        rows = [value for at, value in self.bindings.get(name, []) if at < line]
        return rows[-1] if rows else None

    def reads_grad(self, name: str) -> bool:
        """Return whether the program reads ``name.grad``, or calls `autograd.grad` with it."""
        return name in self._grad_reads

    @cached_property
    def _grad_reads(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                if isinstance(node.ctx, ast.Load):
                    found.setdefault(ast.unparse(node.value), node.lineno)
            elif isinstance(node, ast.Call) and called_name(node) == "grad":
                for name in {name for a in node.args for name in names(a)}:
                    found.setdefault(name, node.lineno)
        return found

    def grad_read_at(self, name: str) -> int:
        """Return the first line that reads ``name.grad``; 0 if none does."""
        return self._grad_reads.get(name, 0)

    # Places and edits

    def place(self, node: ast.expr | ast.stmt) -> Place:
        """Return the place of a node, with columns in characters."""
        end = node.end_lineno or node.lineno
        return Place(
            node.lineno,
            self._characters(node.lineno, node.col_offset),
            end,
            self._characters(end, node.end_col_offset or 0),
        )

    def line(self, line: int) -> Place:
        """Return the range of a line's text, without its indentation."""
        if not 0 < line <= len(self.lines):
            return Place()
        statement = self.statement(line)
        if statement is not None and statement.lineno == line == statement.end_lineno:
            return self.place(statement)
        text = self.lines[line - 1]
        return Place(line, len(text) - len(text.lstrip()), line, max(len(text.rstrip()), 1))

    def source(self, node: ast.expr | ast.stmt) -> str:
        """Return a node's source text."""
        return ast.get_source_segment("\n".join(self.lines), node) or ast.unparse(node)

    def _characters(self, line: int, column: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if text.isascii():
            return column
        return len(text.encode()[:column].decode(errors="ignore"))

    def replaced(self, *edits: tuple[Place | ast.expr | ast.stmt, str]) -> str:
        """Return the program with the text of places replaced; they must not overlap."""
        places = [(p if isinstance(p, Place) else self.place(p), text) for p, text in edits]
        lines = list(self.lines)
        for place, text in sorted(places, key=lambda e: (e[0].line, e[0].column), reverse=True):
            if not place.line:
                return ""
            head = lines[place.line - 1][: place.column]
            tail = lines[place.end_line - 1][place.end_column :]
            lines[place.line - 1 : place.end_line] = (head + text + tail).split("\n")
        return "\n".join(lines)

    def inserted(self, before: int, text: str, *, after: bool = False) -> str:
        """Return the program with lines inserted before (or after) the statement on a line.

        They get the statement's indentation. Empty if no statement begins the line. Nothing is
        inserted after a statement that follows a semicolon, as the right place is not known.
        """
        statement = self.statement(before)
        if statement is None:
            return ""
        if not after:
            line = statement.lineno
            statement = next(other for other in self.siblings(statement) if other.lineno == line)
        indent = self.indent(statement)
        at = (statement.end_lineno or statement.lineno) if after else statement.lineno - 1
        if self._shares_line(statement):
            return ""
        fresh = [indent + line for line in text.split("\n")]
        return "\n".join([*self.lines[:at], *fresh, *self.lines[at:]])

    def indent(self, statement: ast.stmt) -> str:
        """Return a statement's indentation."""
        text = self.lines[statement.lineno - 1]
        return text[: len(text) - len(text.lstrip())]

    def _shares_line(self, statement: ast.stmt) -> bool:
        head = self.lines[statement.lineno - 1][: self.place(statement).column]
        return bool(head.strip())

    def without(self, line: int) -> str:
        """Return the program without the statement on a line."""
        statement = self.statement(line)
        if statement is None or self._shares_line(statement):
            return ""
        siblings = self.siblings(statement)
        start, end = statement.lineno - 1, statement.end_lineno or statement.lineno
        rest = [] if len(siblings) > 1 else [self.indent(statement) + "pass"]
        return "\n".join([*self.lines[:start], *rest, *self.lines[end:]])

    def siblings(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements of a statement's block, itself included."""
        for _, field in ast.iter_fields(self._parents.get(statement, self.tree)):
            if isinstance(field, list) and statement in field:
                return field
        return [statement]

    def wrapped(self, first: int, last: int, header: str) -> str:
        """Return the program with whole lines indented below a new header line."""
        statement = self.statement(first)
        if statement is None or self._shares_line(statement):
            return ""
        indent = self.indent(statement)
        body = ["    " + line if line.strip() else line for line in self.lines[first - 1 : last]]
        head, tail = self.lines[: first - 1], self.lines[last:]
        return "\n".join([*head, indent + header, *body, *tail])

    def dedented(self, block: ast.With) -> str:
        """Return the program with a with statement replaced by its dedented body."""
        if self._shares_line(block) or block.body[0].lineno == block.lineno:
            return ""
        first, last = block.body[0].lineno - 1, block.end_lineno or block.lineno
        width = block.body[0].col_offset - block.col_offset
        body = [line[width:] if line[:width].isspace() else line for line in self.lines[first:last]]
        return "\n".join([*self.lines[: block.lineno - 1], *body, *self.lines[last:]])


def called_name(call: ast.Call) -> str:
    """Return the last name of the called expression: ``backward`` of ``loss.backward()``."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def receiver(call: ast.Call) -> ast.expr | None:
    """Return the object expression of a method call; None for other calls."""
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def names(node: ast.AST) -> set[str]:
    """Return all variable names in a node."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple | ast.List):
        several = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        for index, element in enumerate(target.elts):
            yield from _pairs(element, value.elts[index] if several else value)  # type: ignore[attr-defined]
    else:
        yield ast.unparse(target), value
