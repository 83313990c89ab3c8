"""Places in the user's source text, and the names it gives to results.

Frames are stored as (code object, instruction) pairs, which costs 0.2 us; positions and names are
computed once the run is over.
"""

import ast
import functools
import sys
from types import CodeType, FrameType

import torch

from gradscribe.engine.protocol.tape import Place
from gradscribe.engine.record import code_positions
from gradscribe.engine.record.log import CodeLocation
from gradscribe.engine.record.thread_state import ThreadState
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

Span = tuple[int, int, int, int]
"""First line, first byte column, last line, last byte column, as in ``ast``."""

_TORCH = torch.__path__[0]
_OPTIM = _TORCH + "/optim/"
_NN = _TORCH + "/nn/"
_DISTRIBUTED = _TORCH + "/distributed/"
_MESH = "/device_mesh.py"
_PLOTTING = ("-packages/matplotlib/", "-packages/mpl_toolkits/", "-packages/seaborn/")
_GIVEN = ("torch", "nn", "F", "optim", "math", "np")
_FORWARD = frozenset(("forward", "update_bn"))
"""Functions of torch.optim that run a model: an averaged model is a module, too."""
_BUILDERS = frozenset(("__init__", "reset_parameters", "initialize_parameters", "materialize"))


_of_torch: dict[int, str] = {}
"""Kinds of torch's own code objects seen so far, in any run, by ``id()``."""
_torch_codes: list[CodeType] = []


class SyntaxIndex:
    """The expressions of a text and the names they are bound to."""

    def __init__(self, text: str) -> None:
        self.targets: dict[Span, tuple[str, ...]] = {}
        self.expressions: dict[Span, ast.expr] = {}
        self.bound_at: dict[str, Span] = {}
        self.passing: set[str] = set()
        """Targets of loops and comprehensions: each is another thing's name in turn."""
        self.imported = set(_GIVEN)
        """Names of modules and of objects imported from them, not of tensors."""
        self.loops: list[tuple[int, int]] = []
        """First and last line of each ``for`` and ``while`` statement."""
        self.arms: list[tuple[tuple[int, int], ...]] = []
        """First and last line of each arm, for each ``if`` with an ``else`` and each ``match``."""
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self.loops.append((node.lineno, node.end_lineno or node.lineno))
        elif isinstance(node, ast.If) and node.orelse:
            self.arms.append((_lines(node.body), _lines(node.orelse)))
        elif isinstance(node, ast.Match):
            self.arms.append(tuple(_lines(case.body) for case in node.cases))
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self.targets[_span(node)] = (_name(node.target),)
        elif isinstance(node, ast.BinOp | ast.Attribute | ast.Call):
            self.expressions[_span(node)] = node
        elif isinstance(node, ast.For | ast.comprehension):
            inner = ast.walk(node.target)
            self.passing.update(name.id for name in inner if isinstance(name, ast.Name))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.imported |= {n.asname or n.name.partition(".")[0] for n in node.names}

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                for element, part in zip(target.elts, value.elts, strict=True):
                    self._bind(element, part)
            else:
                self.targets[_span(value)] = tuple(_name(element) for element in target.elts)
            return
        self.targets.setdefault(_span(value), (_name(target),))
        self.bound_at[_name(target)] = _span(value)


@functools.lru_cache(maxsize=8)
def _syntax_of(text: str) -> SyntaxIndex:
    """Return the index of a text; a program is often recorded several times."""
    return SyntaxIndex(text)


class Source:
    """The user's source text, and the places of frames in it."""

    def __init__(self, text: str, filename: str) -> None:
        self.filename = filename
        self._text = text
        self._kinds = _of_torch.copy()
        """By ``id()`` of the code: hashing a code object would hash all its constants."""
        self._codes: list[CodeType] = []
        """Those code objects, referenced so that no other can get the same ``id()``."""
        self._positions: dict[int, list[code_positions.Position]] = {}
        self._spans: dict[tuple[int, int], Span | None] = {}
        self._places: dict[Span, Place] = {}

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        # Not splitlines: to Python a form feed ends no line.
        return self._text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @functools.cached_property
    def syntax(self) -> "SyntaxIndex":
        """The parsed text; read once the run is over."""
        return _syntax_of(self._text)

    def locate(
        self, frame: FrameType | None, thread: ThreadState | None = None
    ) -> tuple[CodeLocation, str]:
        """Return the nearest place in the user's text up the stack, and torch's activity there.

        The activity is ``optimizer`` inside an optimizer's own code, ``building`` inside the
        constructor of a torch module or while ranks share one out, ``plotting`` inside Matplotlib,
        else empty. ``thread`` is the calling thread's state: the search ends at its innermost
        module call, whose place is known.
        """
        doing, kinds = "", self._kinds
        inner = thread.calls[-1] if thread is not None and thread.calls else None
        stop = inner.frame if inner is not None else None
        while frame is not None and frame is not stop:
            try:
                kind = kinds[id(frame.f_code)]
            except KeyError:
                kind = self._kind(frame.f_code)
            if kind:
                if kind == "user":
                    return (frame.f_code, frame.f_lasti), doing
                doing = doing or kind
            frame = frame.f_back
        if inner is None or frame is None:
            return None, doing
        return inner.where, doing or inner.activity

    def _kind(self, code: CodeType) -> str:
        file = code.co_filename
        kind = "user" if file == self.filename else _doing(file, code.co_name)
        self._kinds[id(code)] = kind
        if kind != "user" and file.startswith(_TORCH):
            _of_torch[id(code)] = kind
            _torch_codes.append(code)
        self._codes.append(code)
        return kind

    def user_frame(self) -> FrameType | None:
        """Return the nearest frame of the user's text above the caller."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        return frame

    def user_line(self) -> int:
        """Return the line of the program that is running; 0 if none is."""
        frame = self.user_frame()
        return frame.f_lineno if frame is not None else 0

    def span(self, where: CodeLocation) -> Span | None:
        """Return the exact range of the expression that was running at ``where``."""
        if where is None:
            return None
        code, instruction = where
        key = id(code), instruction
        if key not in self._spans:
            self._spans[key] = self._span(code, instruction // 2)
        return self._spans[key]

    def _span(self, code: CodeType, index: int) -> Span | None:
        positions = self._positions.get(id(code))
        if positions is None:
            positions = self._positions[id(code)] = code_positions.positions(code)
            self._codes.append(code)
        if not 0 <= index < len(positions):
            return None
        line, end_line, column, end_column = positions[index]
        # Code can be made by ``compile``, with lines that are not in the text.
        if line is None or not 0 < line <= len(self.lines):
            return None
        if end_line is None or column is None or end_column is None:
            text = self.lines[line - 1].rstrip()
            return line, len(text.encode()) - len(text.lstrip().encode()), line, len(text.encode())
        return line, column, max(line, min(end_line, len(self.lines))), end_column

    def place(self, span: Span | None) -> Place:
        """Return a span in characters instead of UTF-8 bytes; an empty place for None."""
        if span is None:
            return Place()
        place = self._places.get(span)
        if place is None:
            line, start, end_line, end = span
            place = Place(line, self._chars(line, start), end_line, self._chars(end_line, end))
            self._places[span] = place
        return place

    def _chars(self, line: int, column: int) -> int:
        if not 0 < line <= len(self.lines):
            return column
        text = self.lines[line - 1]
        if text.isascii():
            return column
        return len(text.encode()[:column].decode(errors="ignore"))


@functools.lru_cache(4096)
def _doing(file: str, function: str) -> str:
    file = file.replace("\\", "/")
    if file.startswith(_OPTIM):
        return "" if function in _FORWARD else "optimizer"
    if any(part in file for part in _PLOTTING):
        return "plotting"
    if file.startswith(_DISTRIBUTED) and (function == "fully_shard" or file.endswith(_MESH)):
        return "building"
    return "building" if file.startswith(_NN) and function in _BUILDERS else ""


def _span(node: ast.expr | ast.stmt) -> Span:
    line, column = node.lineno, node.col_offset
    return line, column, node.end_lineno or line, node.end_col_offset or column


def _lines(body: list[ast.stmt]) -> tuple[int, int]:
    return body[0].lineno, body[-1].end_lineno or body[-1].lineno


def _name(target: ast.expr) -> str:
    if isinstance(target, ast.Starred):
        target = target.value
    return ast.unparse(target)
