"""Calls into the recorder, compiled into a program at each round of its loops.

A trace function would cost the program a fifth of its time, a call in the loop's body a millionth
of a second a round. The call is a constant of the code object, so that the program sees no name.
"""

import ast
from types import CodeType
from typing import Protocol

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_MARK = "\0gradscribe loop "
_UNWATCHED = ("forward", "__call__")
"""Functions that torch may compile or export, and that hold no training loop."""
_COMPILERS = ("torch.compile", "torch.export", "make_fx", "dynamo", "torch.jit")
"""Names through which torch may read the code of any function of the program."""


class LoopWatcher(Protocol):
    """Interface of `recorder.LoopRecorder` to the loops of a program."""

    def on_round(self, site: "LoopSite") -> None:
        """Note that a round of a loop begins."""

    def on_end(self, site: "LoopSite") -> None:
        """Note that a loop has ended."""


class LoopSite:
    """A loop of the program's text; its compiled body calls `begin`."""

    __slots__ = (
        "entries",
        "first",
        "has_passes",
        "has_steps_inside",
        "iterated",
        "last",
        "passes",
        "rounds",
        "starts",
        "watcher",
    )

    def __init__(self, first: int, last: int, iterated: ast.expr | None = None) -> None:
        self.first, self.last = first, last
        """Its lines."""
        self.iterated = iterated
        """Iterated expression of a ``for`` statement; None for ``while``."""
        self.watcher: LoopWatcher | None = None
        self.rounds = 0
        """Number of rounds that began, in all its runs."""
        self.entries = 0
        """Number of times that it was entered."""
        self.starts: list[tuple[int, int]] = []
        """(round, first event) of the rounds that recorded events."""
        self.passes = 0
        """Number of backward passes when its last round began."""
        self.has_passes = False
        """True once a backward pass ran in a round of it."""
        self.has_steps_inside = False
        """True if the rounds of a loop inside it are the program's steps."""

    def begin(self) -> None:
        """Begin a round; called by the program."""
        watcher = self.watcher
        if watcher is not None:
            watcher.on_round(self)

    def end(self) -> None:
        """End the loop; called by the program."""
        watcher = self.watcher
        if watcher is not None:
            watcher.on_end(self)


def compile_with_sites(
    tree: ast.Module, filename: str, text: str
) -> tuple[CodeType, list[LoopSite]]:
    """Compile a program whose loops call their sites; ``tree`` is changed.

    Raises:
        SyntaxError: Python allows fewer nested blocks than the calls need.
    """
    marker = _Marker(all(word not in text for word in _COMPILERS))
    tree = ast.fix_missing_locations(marker.visit(tree))
    code = compile(tree, filename, "exec", dont_inherit=True)
    sites = {f"{_MARK}{number}": site for number, site in enumerate(marker.sites)}
    return (_with_sites(code, sites) if sites else code), marker.sites


def _with_sites(code: CodeType, sites: dict[str, LoopSite]) -> CodeType:
    """Return the code with its marks replaced by the sites."""
    constants = tuple(
        _with_sites(c, sites)
        if isinstance(c, CodeType)
        else sites.get(c, c)
        if type(c) is str
        else c
        for c in code.co_consts
    )
    return code.replace(co_consts=constants)


class _Marker(ast.NodeTransformer):
    """Puts calls into the loops of a tree."""

    def __init__(self, in_functions: bool) -> None:
        self._in_functions = in_functions
        self.sites: list[LoopSite] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not self._in_functions or node.name in _UNWATCHED or node.decorator_list:
            return node
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._marked(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._marked(node)

    def _marked(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        if not any(isinstance(n, ast.Call | ast.Subscript) for s in node.body for n in ast.walk(s)):
            # A loop over plain numbers, which a call would slow down.
            return node
        mark = f"{_MARK}{len(self.sites)}"
        iterated = node.iter if isinstance(node, ast.For) else None
        self.sites.append(LoopSite(node.lineno, node.end_lineno or node.lineno, iterated))
        node.body.insert(0, _call(node, mark, "begin"))
        return ast.copy_location(ast.Try([node], [], [], [_call(node, mark, "end")]), node)


def _call(loop: ast.For | ast.While, mark: str, method: str) -> ast.stmt:
    call = ast.Call(ast.Attribute(ast.Constant(mark), method, ast.Load()), [], [])
    statement = ast.Expr(call)
    for node in ast.walk(statement):
        if isinstance(node, ast.expr | ast.stmt):
            node.lineno = node.end_lineno = loop.lineno
            node.col_offset, node.end_col_offset = loop.col_offset, loop.col_offset
    return statement
