"""Places where a leaf whose gradient is needed is cut off from the loss."""

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from gradscribe.engine.doctor.errors import matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.fixes import optimizer_calls
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.scopes import arguments_for, callers
from gradscribe.engine.protocol.tape import Op, Value

Kind = Literal["detach", "data", "no_grad", "nondifferentiable", "other"]

NO_GRADIENT = "does not require grad and does not have a grad_fn"
_DETACHING = frozenset(("detach", "detach_"))


class Cut(NamedTuple):
    """An op whose results no longer require a gradient, and the leaves before it."""

    op: Op
    kind: Kind
    leaves: tuple[Value, ...]
    is_wanted: bool = True
    """False if no optimizer has the leaves and nothing reads their gradients."""


def leaves_without_gradient(evidence: Evidence) -> list[Value]:
    """Return the leaves that got no gradient although an optimizer or the program needs it."""
    hopeless = matching_error(evidence, NO_GRADIENT) is not None
    return [
        leaf
        for tensor, leaf in evidence.leaves.items()
        if tensor not in evidence.received
        and (hopeless or tensor in evidence.optimized or evidence.program.reads_grad(leaf.name))
    ]


def _unread_leaves(evidence: Evidence) -> list[Value]:
    """Return the named leaves without a gradient of a program that neither trains nor reads them.

    They ask for a gradient all the same; with an optimizer its list of parameters decides.
    """
    if evidence.tape.steps or evidence.updated or optimizer_calls(evidence.program):
        return []
    return [
        leaf
        for tensor, leaf in evidence.leaves.items()
        if tensor not in evidence.received and leaf.name and leaf.place.line
    ]


def find_cuts(evidence: Evidence) -> list[Cut]:
    """Return the ops that cut leaves off, the first on each leaf's path to a root."""
    if not evidence.tape.passes:
        return []
    found: dict[int, tuple[Op, list[Value], bool]] = {}
    wanted = leaves_without_gradient(evidence)
    for leaves, is_wanted in ((wanted, True), (_unread_leaves(evidence), False)):
        for leaf in leaves:
            op = _first(evidence, leaf)
            if op is not None:
                _, behind, also = found.setdefault(op.place.line, (op, [], is_wanted))
                if also == is_wanted:
                    behind.append(leaf)
    return [
        Cut(op, _kind(evidence, op), tuple(leaves), is_wanted)
        for op, leaves, is_wanted in found.values()
    ]


def _first(evidence: Evidence, leaf: Value) -> Op | None:
    """Return the first op on a leaf's path after which nothing requires a gradient."""
    own = own_roots(evidence, leaf)
    found = _first_towards(evidence, leaf, evidence.dependencies(own)) if own else None
    return found or _first_towards(evidence, leaf, evidence.root_dependencies)


def own_roots(evidence: Evidence, leaf: Value) -> list[int | None]:
    """Return the roots of the passes that came just before the steps of the leaf's optimizer.

    Where several losses are trained in turn, another's loss may well be cut off from the leaf.
    """
    tape, found = evidence.tape, list[int | None]()
    starts = sorted((at, number) for number, at in evidence.pass_at.items())
    for number, at in evidence.step_at.items():
        held = tape.steps[number].held
        if held < 0 or leaf.tensor not in tape.held[held]:
            continue
        before = bisect_left(starts, (at, -1))
        if before:
            found += tape.passes[starts[before - 1][1]].roots
    return list(dict.fromkeys(found))


def _first_towards(evidence: Evidence, leaf: Value, inside: set[int]) -> Op | None:
    seen = set[int]()
    queue = [v.id for v in evidence.versions[leaf.tensor] if v.id in inside]
    while queue:
        value = queue.pop(0)
        if value in seen:
            continue
        seen.add(value)
        for index in evidence.users.get(value, ()):
            op = evidence.tape.ops[index]
            going_on = [o for o in op.outputs if o in inside]
            if not going_on or (op.inplace and op.inputs[:1] != (value,) and not op.grad_mode):
                continue
            if not any(evidence.values[o].requires_grad for o in op.outputs):
                return op
            queue.extend(going_on)
    return None


def _kind(evidence: Evidence, op: Op) -> Kind:
    if op.op in _DETACHING:
        return "detach"
    if op.op == "data":
        return "data"
    if not op.grad_mode:
        return "no_grad"
    made = evidence.values[op.outputs[0]].dtype
    return "other" if made.startswith(("float", "bfloat", "complex")) else "nondifferentiable"


def leaf_names(leaves: tuple[Value, ...]) -> str:
    """Return the leaves' names as text: at most three, and how many more."""
    called_so = dict.fromkeys(leaf.name for leaf in leaves if leaf.name)
    names = list(called_so) or ["a leaf"]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def cuts_of_kind(evidence: Evidence, kind: Kind) -> Iterator[tuple[Cut, str]]:
    """Yield the cuts of a kind with the common part of their message."""
    for cut in find_cuts(evidence):
        if cut.kind == kind and (cut.is_wanted or kind in ("detach", "data")):
            line = evidence.tape.passes[-1].line
            get = "gets" if len({leaf.name for leaf in cut.leaves}) == 1 else "get"
            message = f"{leaf_names(cut.leaves)} {get} no gradient from backward on line {line}"
            yield cut, message


def block_without_grad(program: ProgramTree, line: int) -> ast.With | None:
    """Return the with statement around a line that disables gradient recording."""
    statement = program.statement(line)
    for node in [statement, *program.above(statement)] if statement is not None else ():
        if isinstance(node, ast.With) and any(
            word in ast.unparse(item) for item in node.items for word in _OFF
        ):
            return node
    return None


_OFF = ("no_grad", "inference_mode", "set_grad_enabled(False)")


class Extraction(NamedTuple):
    """Extraction of a tensor's data from torch: ``y.item()``, ``y.numpy()``, ``math.exp(y)``."""

    call: ast.Call
    owner: ast.expr
    value: Value
    leaves: tuple[Value, ...]


class ExtractionNames(NamedTuple):
    """Names of methods, functions, and modules of functions that extract a tensor's data."""

    methods: frozenset[str]
    functions: frozenset[str]
    modules: frozenset[str]


def extractions(evidence: Evidence, words: ExtractionNames) -> list[Extraction]:
    """Return the extractions of data that depends on a wanted leaf, on its path to a root."""
    return extractions_of_calls(evidence, _extractions(evidence.program, words))


def extractions_of_calls(
    evidence: Evidence, calls: Iterable[tuple[ast.Call, ast.expr]]
) -> list[Extraction]:
    """Return the same as `extractions`, given the calls and the expressions they read."""
    error = evidence.tape.error
    floating = error is not None and "has no attribute 'backward'" in error.message
    if floating:
        leaves = list(evidence.leaves.values())
    else:
        leaves = leaves_without_gradient(evidence) if evidence.tape.passes else []
    tensors = {leaf.tensor: leaf for leaf in leaves}
    if not tensors:
        return []
    result = []
    for call, owner in calls:
        value, behind = _depends(evidence, owner, tensors)
        if value is not None and behind and (floating or _goes_on(evidence, call)):
            result.append(Extraction(call, owner, value, behind))
    return result


def _extractions(
    program: ProgramTree, words: ExtractionNames
) -> Iterator[tuple[ast.Call, ast.expr]]:
    for node in program.find(ast.Call):
        owner, name = receiver(node), called_name(node)
        if owner is None:
            if name in words.functions and len(node.args) == 1:
                yield node, node.args[0]
        elif isinstance(owner, ast.Name) and owner.id in words.modules and node.args:
            yield node, node.args[0]
        elif name in words.methods and not node.args:
            yield node, owner


def _depends(
    evidence: Evidence, owner: ast.expr, tensors: dict[int, Value]
) -> tuple[Value | None, tuple[Value, ...]]:
    """Return an expression's value and the leaves it depends on, looking through detach."""
    places = {evidence.program.place(owner)}
    while isinstance(owner, ast.Call) and called_name(owner) in ("detach", "cpu", "clone"):
        inner = receiver(owner)
        if inner is None:
            break
        owner = inner
        places.add(evidence.program.place(owner))
    texts = {ast.unparse(owner), *map(ast.unparse, arguments_for(evidence.program, owner))}
    candidates = [v for v in evidence.tape.values if v.name in texts]
    if isinstance(owner, ast.Attribute) and ast.unparse(owner.value) == "self":
        fields = (v for v in evidence.leaves.values() if v.name.endswith(f".{owner.attr}"))
        candidates += fields
    candidates += [
        evidence.values[op.outputs[0]]
        for op in evidence.tape.ops
        if op.place in places and op.outputs
    ]
    for value in candidates[:50]:
        before = {evidence.values[v].tensor for v in evidence.dependencies([value.id])}
        behind = tuple(leaf for tensor, leaf in tensors.items() if tensor in before)
        if behind and value.role != "constant":
            return value, behind
    return None, ()


_DEPTH = 5
"""Maximum number of callers through which a returned number is followed."""


def _goes_on(evidence: Evidence, call: ast.Call, depth: int = 0) -> bool:
    """Return whether the result of a call becomes part of the root of a pass."""
    program = evidence.program
    lines = {evidence.place_of(v).line for v in evidence.root_dependencies}
    statement = program.statement_of(call)
    if statement is None or isinstance(statement, ast.Expr):
        return False
    if isinstance(statement, ast.Return) and depth < _DEPTH:
        outer = callers(program, call)
        if any(_goes_on(evidence, outer_call, depth + 1) for outer_call in outer):
            return True
    if any(
        isinstance(n, ast.Call) and called_name(n) in ("print", "append")
        for n in program.above(call)
    ):
        return False
    if any(line in lines for line in range(statement.lineno, (statement.end_lineno or 0) + 1)):
        return True
    targets = {
        ast.unparse(n)
        for n in ast.walk(statement)
        if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Store)
    }
    for line in lines:
        reading = program.statement(line)
        if reading is not None and any(
            isinstance(n, ast.Name | ast.Attribute)
            and isinstance(n.ctx, ast.Load)
            and ast.unparse(n) in targets
            for n in ast.walk(reading)
        ):
            return True
    return False
