"""``.grad`` of a computed tensor, which is always None."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.graphs.lost_leaf import lost_leaf_names
from gradscribe.engine.doctor.program_tree import ProgramTree, names, receiver
from gradscribe.engine.doctor.scopes import COMPREHENSIONS, arguments_for, names_bound_in, scope_of
from gradscribe.engine.protocol.tape import Value


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each read of ``.grad`` of a result that took part in a pass."""
    program, lost = evidence.program, set(lost_leaf_names(evidence))
    seen = set[tuple[str, ast.AST | None]]()
    if not evidence.tape.passes:
        return
    for node in program.find(ast.Attribute):
        if node.attr != "grad":
            continue
        read = ast.unparse(node.value)
        variable = read, scope_of(program, read, node)
        if not isinstance(node.ctx, ast.Load) or read in lost or variable in seen:
            continue
        seen.add(variable)
        found = dict[str, Value]()
        fields = [(name, None) for name in _field(node.value)]
        elements = [(element.id, element) for element in _elements(program, node.value)]
        for name, place in [(read, node.value), *fields, *elements]:
            value = _meant(evidence, name, place)
            if value is not None and _is_computed(evidence, value, name):
                found.setdefault(name, value)
        if found:
            yield _case(evidence, node, found)


def _meant(evidence: Evidence, name: str, node: ast.expr | None) -> Value | None:
    """Return the last value of a variable that is read at ``node`` (None: anywhere).

    A variable or parameter of the same name in another function is skipped.
    """
    program = evidence.program
    owner = scope_of(program, name, node) if node is not None else None
    is_given = node is not None and bool(arguments_for(program, node))
    for value in reversed(evidence.named(name)):
        made = program.statement(evidence.place_of(value.id).line)
        if made is None or is_given or not name.isidentifier():
            return value
        if node is not None and scope_of(program, name, made) is not owner:
            continue
        if name in names_bound_in(made):
            return value
    return None


def _case(evidence: Evidence, node: ast.Attribute, found: dict[str, Value]) -> FoundCase:
    program = evidence.program
    (name, value), *others = found.items()
    made = evidence.creator(value.id)
    what = f"{made.op} on line {made.place.line}" if made is not None else "an op"
    too = f" (so {'was' if len(others) == 1 else 'were'} {', '.join(n for n, _ in others)})"
    message = (
        f"{name} was computed by {what}{too if others else ''}, so {ast.unparse(node)} stays "
        f"None: only leaves that require a gradient keep one"
    )
    places = {name: evidence.place_of(value.id) for name, value in found.items()}
    fix = program.text
    for tensor in sorted(places, key=lambda name: places[name].line, reverse=True):
        is_name = tensor.replace("self.", "", 1).isidentifier()
        line = places[tensor].line
        fix = (
            ProgramTree(fix).inserted(line, f"{tensor}.retain_grad()", after=True)
            if is_name
            else ""
        )
    return FoundCase(program.place(node), message, tuple(places.values()), fix)


def _field(read: ast.expr) -> tuple[str, ...]:
    """Return the name inside the module of the attribute that ``net.hidden`` reads."""
    return (f"self.{read.attr}",) if isinstance(read, ast.Attribute) else ()


def _elements(program: ProgramTree, read: ast.expr) -> Iterator[ast.Name]:
    """Yield the variables put into the list or dict that an expression reads from."""
    container = read.value if isinstance(read, ast.Subscript) else _looped(program, read)
    while isinstance(container, ast.Call):
        owner = receiver(container)
        container = owner if owner is not None else (container.args[0] if container.args else None)
    if container is None:
        return
    if isinstance(container, ast.List | ast.Tuple):
        parts = [item.elts if isinstance(item, ast.Tuple) else [item] for item in container.elts]
        yield from (item for part in parts for item in part if isinstance(item, ast.Name))
        return
    name = ast.unparse(container)
    for bound, rows in program.bindings.items():
        for _, value in rows:
            if bound.startswith(f"{name}[") and isinstance(value, ast.Name):
                yield value
            elif bound == name and isinstance(value, ast.List | ast.Tuple):
                yield from (item for item in value.elts if isinstance(item, ast.Name))
            elif bound == name and isinstance(value, ast.Dict):
                yield from (item for item in value.values if isinstance(item, ast.Name))
    for call in program.calls("append"):
        owner = receiver(call)
        if owner is not None and ast.unparse(owner) == name:
            yield from (item for item in call.args if isinstance(item, ast.Name))


def _looped(program: ProgramTree, read: ast.expr) -> ast.expr | None:
    """Return the iterable of the loop or comprehension that binds a variable."""
    if not isinstance(read, ast.Name):
        return None
    for node in program.above(read):
        loops = node.generators if isinstance(node, COMPREHENSIONS) else [node]
        for loop in loops:
            if isinstance(loop, ast.For | ast.comprehension) and read.id in names(loop.target):
                return loop.iter
    return None


def _is_computed(evidence: Evidence, value: Value, name: str) -> bool:
    if value.is_leaf or not value.requires_grad or value.op is None:
        return False
    retained = (c for c in evidence.program.calls("retain_grad"))
    if any(ast.unparse(c.func) == f"{name}.retain_grad" for c in retained):
        return False
    return value.id in evidence.root_dependencies


ENTRY = FindingKind(
    "grad-of-non-leaf",
    "A computed tensor keeps no gradient",
    "Gradients of results are used up on the way back and not stored. Call retain_grad() on the "
    "tensor before backward(), or look at the leaf it was computed from.",
    detect,
    sick=(
        """x = param(3.0)
y = x**2
z = y * 2
z.backward()
print(x.grad, y.grad)  # !
""",
    ),
    healthy=(
        """# retain_grad
x = param(3.0)
y = x**2
y.retain_grad()
z = y * 2
z.backward()
print(x.grad, y.grad)
""",
        """# a hook looks at it
x = param(3.0)
y = x**2
seen = []
y.register_hook(lambda g: seen.append(g.item()))
(y * 2).backward()
print(seen, x.grad)
""",
    ),
    follows=("lost-leaf",),
    spoils_training=False,
)
