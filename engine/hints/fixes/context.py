"""A fault of a program as fixes see it, with the edits that they are made of."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from gradscribe.engine.protocol.tape import Place


class FailedProgram(Struct, frozen=True, dict=True):
    """An exception with the program, the place that failed, the visible names and the hint."""

    exc: BaseException
    source: str
    place: Place
    scope: Mapping[str, object]
    hint: str

    @cached_property
    def message(self) -> str:
        """The exception's message."""
        return str(self.exc.msg if isinstance(self.exc, SyntaxError) else self.exc)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the program, without their ends."""
        return self.source.split("\n")

    @property
    def line(self) -> str:
        """The line of the place; empty without one."""
        number = self.place.line
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    @cached_property
    def tree(self) -> ast.Module:
        """The program's tree; empty if it cannot be parsed."""
        try:
            return ast.parse(self.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    @cached_property
    def span(self) -> tuple[int, int]:
        """Start and end of the place in the program, in characters."""
        place = self.place
        start = self.offset(place.line, place.column)
        return start, max(start, self.offset(max(place.end_line, place.line), place.end_column))

    def offset(self, line: int, column: int) -> int:
        """Return the index of a column (characters) of a line (from 1) in the program."""
        return self._starts[min(line, len(self._starts)) - 1] + column

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(text) + 1 for text in self.lines), initial=0))

    def extent(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return start and end of a node in the program, in characters."""
        columns = []
        for line, column in (
            (node.lineno, node.col_offset),
            (node.end_lineno or node.lineno, node.end_col_offset or 0),
        ):
            text = self.lines[line - 1].encode()[:column].decode(errors="ignore")
            columns.append(self.offset(line, len(text)))
        return columns[0], columns[1]

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return a node as it is written."""
        start, end = self.extent(node)
        return self.source[start:end]

    def nodes(self, kind: type[ast.expr] | type[ast.stmt] | type[ast.keyword]) -> Iterator[ast.AST]:
        """Yield the nodes of a kind that lie in the failing place, in order of the source."""
        start, end = self.span
        found = []
        for node in ast.walk(self.tree):
            line = getattr(node, "lineno", 0)
            if isinstance(node, kind) and self.place.line <= line <= self.place.end_line:
                first, last = self.extent(node)
                if start <= first and last <= end:
                    found.append((first, -last, node))
        return (node for _, _, node in sorted(found, key=lambda item: item[:2]))

    def replaced(self, start: int, end: int, text: str) -> str:
        """Return the program with the characters from ``start`` to ``end`` replaced."""
        return self.source[:start] + text + self.source[end:]

    def with_node(self, node: ast.expr | ast.stmt, text: str) -> str:
        """Return the program with a node replaced."""
        return self.replaced(*self.extent(node), text)

    def with_line(self, number: int, text: str) -> str:
        """Return the program with a line (from 1) replaced."""
        return "\n".join([*self.lines[: number - 1], text, *self.lines[number:]])


class ErrorFixRow(Struct, frozen=True):
    """An error and the fixes to try: programs, the likeliest first.

    ``pattern`` is searched in the message, ``hint`` in the hint, of errors of a ``kind``; the
    matches are given to ``fixes``.
    """

    fixes: Callable[[FailedProgram, re.Match[str], re.Match[str]], Iterator[str]]
    pattern: str = ""
    hint: str = ""
    kind: type[BaseException] = BaseException


def code_end(line: str) -> int:
    """Return the column after the last character of code; a comment and blanks are left out."""
    end = len(line)
    quote, at = "", 0
    while at < len(line):
        letter = line[at]
        if quote:
            if letter == "\\":
                at += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter == "#":
            end = at
            break
        at += 1
    return len(line[:end].rstrip())


def indentation(line: str) -> int:
    """Return the number of blanks that a line begins with."""
    return len(line) - len(line.lstrip())
