"""Numbers taken out of tensors that enter a computation again, where no gradient follows them."""

import ast
import contextlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.scopes import arguments_for
from gradscribe.engine.protocol.tape import Arg, NumberCut, Op, Place, Tape

METHODS = frozenset(("item", "tolist", "numpy"))
FUNCTIONS = frozenset(("float", "complex"))
MODULES = frozenset(("math", "np", "numpy"))
MAKERS = frozenset(
    "tensor as_tensor from_numpy full full_like FloatTensor DoubleTensor Tensor".split()
)
"""Functions that make a tensor of numbers."""
_THROUGH = ("detach", "cpu", "clone")
_DEPTH = 4
"""Most assignments through which a number is followed."""
MOST_CALLS, MOST_CUTS = 60, 200
"""Limits for programs that are nothing but conversions."""


class NumberSource(NamedTuple):
    """A call that takes numbers out of a tensor: ``y.item()``, ``float(y)``, ``math.exp(y)``."""

    call: ast.Call
    owner: ast.expr
    way: str
    """The call as the canvas and the findings write it: ``item()``."""


class Carrier(NamedTuple):
    """A variable or function through which an extracted number goes on, from a line on."""

    name: str
    line: int
    function: ast.AST | None
    """The function in which it is bound; None for the program itself."""


def extraction_calls(program: ProgramTree) -> Iterator[NumberSource]:
    """Yield the calls of a program that take numbers out of what may be a tensor."""
    for call in program.find(ast.Call):
        owner, name = receiver(call), called_name(call)
        if owner is None:
            if name in FUNCTIONS and len(call.args) == 1 and not call.keywords:
                yield NumberSource(call, call.args[0], f"{name}()")
        elif isinstance(owner, ast.Name) and owner.id in MODULES:
            if call.args:
                yield NumberSource(call, call.args[0], f"{owner.id}.{name}()")
        elif name in METHODS and not call.args:
            yield NumberSource(call, owner, f"{name}()")


def number_cuts(evidence: Evidence) -> tuple[NumberCut, ...]:
    """Return where numbers of tensors with a gradient enter ops and new tensors, in order."""
    return tuple(cut for cut, _ in cuts_with_calls(evidence))


def number_cuts_safely(tape: Tape, source: str) -> tuple[NumberCut, ...]:
    """Do the same for a tape; a program that breaks the search has none."""
    found: tuple[NumberCut, ...] = ()
    # As with the detectors, a program of any kind may break it.
    with contextlib.suppress(Exception):
        found = number_cuts(Evidence(tape, source))
    return found


def cuts_with_calls(evidence: Evidence) -> list[tuple[NumberCut, NumberSource]]:
    """Return the same, each with the call that takes the number out."""
    calls = list(extraction_calls(evidence.program))[:MOST_CALLS]
    if not calls or not any(value.requires_grad for value in evidence.tape.values):
        return []
    entries = _Entries(evidence)
    found: dict[NumberCut, NumberSource] = {}
    for taken in calls:
        tensors = entries.tensors(taken.owner)
        if not tensors:
            continue
        for cut in entries.of(taken, tensors):
            found.setdefault(cut, taken)
            if len(found) >= MOST_CUTS:
                break
    return sorted(found.items(), key=lambda pair: pair[0].value)


class _Entries:
    """The ops and leaves of a tape that take numbers, with the expressions they stand at."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.program = evidence.program
        nodes = self.program.nodes
        self._exprs = {self.program.place(n): n for n in nodes if isinstance(n, ast.expr)}
        self._statements = {self.program.place(n): n for n in nodes if isinstance(n, ast.stmt)}

    def tensors(self, owner: ast.expr) -> list[int]:
        """Return the tensors with a gradient whose numbers an expression has, in order of time."""
        places = {self.program.place(owner)}
        while isinstance(owner, ast.Call) and called_name(owner) in _THROUGH:
            inner = receiver(owner)
            if inner is None:
                break
            owner = inner
            places.add(self.program.place(owner))
        values = self.evidence.values
        texts = {ast.unparse(owner), *map(ast.unparse, arguments_for(self.program, owner))}
        named = [v.id for text in texts for v in self.evidence.named(text)]
        made = [out for place in places for out in self._made_at.get(place, ())]
        return sorted({v for v in (*named, *made) if v in values and values[v].requires_grad})

    @cached_property
    def _made_at(self) -> dict[Place, list[int]]:
        """For each place the first results of its ops."""
        found: dict[Place, list[int]] = {}
        for op in self.evidence.tape.ops:
            found.setdefault(op.place, []).extend(op.outputs[:1])
        return found

    def of(self, taken: NumberSource, tensors: list[int]) -> Iterator[NumberCut]:
        """Yield the cuts of an extraction: to each entry the latest tensor before it."""
        carriers = _carriers(self.program, taken.call)
        place = self.program.place(taken.call)
        known: dict[ast.AST, bool] = {}

        def comes(part: ast.AST) -> bool:
            if part not in known:
                known[part] = self._comes_from(part, taken.call, carriers)
            return known[part]

        for op_number, arg_number, part, number in self._numbers:
            before = bisect_left(tensors, number)
            if before and comes(part):
                value = tensors[before - 1]
                yield NumberCut(value, taken.way, place, op=op_number, arg=arg_number)
        for leaf, part in self._leaves:
            before = bisect_left(tensors, leaf)
            if before and comes(part):
                yield NumberCut(tensors[before - 1], taken.way, place, leaf=leaf)

    @cached_property
    def _numbers(self) -> list[tuple[int, int, ast.AST, int]]:
        """Each number given to an op: op, argument, its expression, the op's id."""
        found = []
        for index, op in enumerate(self.evidence.tape.ops):
            for number, arg in enumerate(op.args):
                if arg.value is None and (arg.number is not None or arg.name):
                    part = self._operand(op, number, arg)
                    if part is not None:
                        found.append((index, number, part, op.id))
        return found

    @cached_property
    def _leaves(self) -> list[tuple[int, ast.AST]]:
        """Each tensor made of numbers, with the call that makes it."""
        return [
            (value.id, self._exprs[value.place])
            for value in self.evidence.tape.values
            if value.op is None
            and value.maker.rpartition(".")[2] in MAKERS
            and value.place in self._exprs
        ]

    def _operand(self, op: Op, number: int, arg: Arg) -> ast.AST | None:
        """Return the expression of an op's argument."""
        node: ast.AST | None = self._exprs.get(op.place) or self._statements.get(op.place)
        match node:
            case ast.BinOp():
                is_left = (number == 0) != op.op.startswith(("rsub", "rdiv", "rpow"))
                return node.left if is_left else node.right
            case ast.AugAssign():
                return node.value
            case ast.Call() if arg.keyword:
                return next((k.value for k in node.keywords if k.arg == arg.keyword), None)
            case ast.Call():
                owner = receiver(node)
                is_method = owner is not None and ast.unparse(owner) not in _TORCH
                at = number - is_method
                return node.args[at] if 0 <= at < len(node.args) else None
        return None

    def _comes_from(self, part: ast.AST, call: ast.Call, carriers: list[Carrier]) -> bool:
        """Return whether an expression has the call in it, or what carries its number."""
        names = {carrier.name for carrier in carriers}
        return any(
            inner is call or self._is_carried(inner, carriers) for inner in _numeric(part, names)
        )

    def _is_carried(self, node: ast.AST, carriers: list[Carrier]) -> bool:
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        name = ast.unparse(node)
        for carrier in carriers:
            if carrier.name == name and carrier.function in (None, _function(self.program, node)):
                last = _last_binding_line(self.program, name, node.lineno)
                if carrier.line == last or carrier.line == 0:
                    return True
        return False


_TORCH = ("torch", "F", "nn.functional", "torch.nn.functional", "torch.special")


def _numeric(part: ast.AST, functions: set[str]) -> Iterator[ast.AST]:
    """Yield the expressions of which a number is made, not those inside of other calls."""
    stack = [part]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.Call) or _passes_on(node) or called_name(node) in functions:
            stack.extend(ast.iter_child_nodes(node))
        else:
            stack.append(node.func)  # ``y.numpy().copy()``


def _passes_on(call: ast.Call) -> bool:
    owner, name = receiver(call), called_name(call)
    is_outside = isinstance(owner, ast.Name) and owner.id in MODULES
    return is_outside or name in _PASSING or name in MAKERS


def _function(program: ProgramTree, node: ast.AST) -> ast.AST | None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return next((n for n in program.above(node) if isinstance(n, functions)), None)


def _last_binding_line(program: ProgramTree, name: str, line: int) -> int:
    """Return the line that bound a variable last above a line; sums in place count, too."""
    lines = [at for at, _ in program.bindings.get(name, ())]
    lines += [n.lineno for n in program.find(ast.AugAssign) if ast.unparse(n.target) == name]
    return max((at for at in lines if at < line), default=-1)


def _carriers(program: ProgramTree, call: ast.Call) -> list[Carrier]:
    """Return the variables and functions that have the number of a call, step by step."""
    found: list[Carrier] = []
    sources: list[ast.AST] = [call]
    for _ in range(_DEPTH):
        fresh: list[Carrier] = []
        for source in sources:
            fresh += [c for c in _bound_by(program, source) if c not in found]
        found += fresh
        if not fresh:
            break
        sources = list(_reads(program, fresh))
    return found


def _bound_by(program: ProgramTree, source: ast.AST) -> Iterator[Carrier]:
    """Yield what the statement around an expression binds to it."""
    inner: ast.AST = source
    for node in program.above(source):
        match node:
            case ast.Call() if not _passes_on(node) and inner is not node.func:
                return  # What another function makes of it is not known.
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name | ast.Attribute):
                        yield Carrier(ast.unparse(target), node.lineno, _function(program, node))
                return
            case ast.Return():
                function = _function(program, node)
                if isinstance(function, ast.FunctionDef):
                    yield Carrier(function.name, 0, None)
                return
            case ast.stmt() | ast.Compare() | ast.Subscript():
                return
        inner = node


_PASSING = frozenset("abs min max round sum float complex sqrt exp log".split())


def _reads(program: ProgramTree, carriers: Iterable[Carrier]) -> Iterator[ast.AST]:
    """Yield the expressions that read a carrier."""
    for carrier in carriers:
        for node in program.nodes:
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if ast.unparse(node) != carrier.name:
                continue
            if carrier.line == 0 or (
                _last_binding_line(program, carrier.name, node.lineno) == carrier.line
                and carrier.function in (None, _function(program, node))
            ):
                yield node


def entry_output(evidence: Evidence, cut: NumberCut) -> tuple[int, ...]:
    """Return the values that the number enters."""
    if cut.leaf is not None:
        return (cut.leaf,)
    return evidence.tape.ops[cut.op].outputs if cut.op is not None else ()
