"""A second backward through a graph that the first one freed."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.carried_state import detach_between_iterations
from gradscribe.engine.doctor.errors import failed_node, matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.graphs.gan_detach import undetached
from gradscribe.engine.doctor.program_tree import ProgramTree, names, receiver
from gradscribe.engine.doctor.scopes import enclosing_function
from gradscribe.engine.protocol.tape import Node, Op, Place


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the second call, with the first call and the op whose saved tensors were freed."""
    error = matching_error(evidence, "backward through the graph a second time")
    if error is None or undetached(evidence) is not None:
        return
    node = failed_node(evidence)
    op = evidence.tape.ops[node.op] if node is not None and node.op is not None else None
    earlier = _freeing(evidence, node)
    program = evidence.program
    place = program.line(error.place.line)
    related = [op.place] if op is not None else []
    message = "This backward needs a graph that an earlier one has freed"
    if earlier is not None:
        line = evidence.tape.passes[earlier].line
        related.insert(0, evidence.pass_place(earlier))
        if line != error.place.line:
            message = f"The backward on line {line} freed the graph that this one needs"
        else:
            message = f"This backward ran before, and freed the graph it needs: pass {earlier + 1}"
    if op is not None:
        message += f". What {op.op} on line {op.place.line} had saved is gone"
    yield FoundCase(place, message, tuple(related), _fix(evidence, earlier, op, place))


def _freeing(evidence: Evidence, node: Node | None) -> int | None:
    """Return the earlier pass that ran the node and did not keep its graph."""
    if node is None:
        return None
    runs = [e.run for e in evidence.tape.executions if e.node == node.id]
    freed = [run for run in runs if not evidence.tape.passes[run].retain_graph]
    return freed[0] if freed else None


def _fix(evidence: Evidence, earlier: int | None, op: Op | None, place: Place) -> str:
    """Keep the graph in the earlier pass; in a loop, rebuild it in each iteration."""
    program = evidence.program
    if earlier is None:
        return ""
    line = evidence.tape.passes[earlier].line
    again = _in_function(evidence, place) if line == place.line else ""
    if again:
        return again
    loop = program.loop(place.line)
    if line == place.line and loop is not None and op is not None:
        made = program.statement(op.place.line)
        if made is not None and not program.loop(op.place.line) and made.lineno < loop.lineno:
            moved = _moved(evidence, op, loop.body[0].lineno)
            return moved if moved and not _is_read_by(loop, made) else _retain(program, line)
        alone = _last_term(program, place, loop)
        if alone:
            return alone
        since = evidence.pass_at[earlier]
        return detach_between_iterations(evidence, line, since) or _retain(program, line)
    return _retain(program, line)


def _last_term(program: ProgramTree, place: Place, loop: ast.For | ast.While) -> str:
    """Differentiate the last term of a running sum in place of the sum."""
    for call in program.calls("backward"):
        total = receiver(call)
        if call.lineno != place.line or not isinstance(total, ast.Name):
            continue
        for statement in loop.body:
            match statement:
                case ast.AugAssign(ast.Name(id=name), ast.Add(), ast.Name(id=last) as added):
                    if name == total.id:
                        return program.replaced((total, last), (added, f"{last}.item()"))
    return ""


def _in_function(evidence: Evidence, place: Place) -> str:
    """Compute the root again inside the function, such as a closure, that calls backward."""
    program, root = evidence.program, evidence.tape.passes[-1].roots[:1]
    statement = program.statement(place.line)
    function = enclosing_function(program, statement) if statement is not None else None
    if not root or root[0] is None or not isinstance(function, ast.FunctionDef):
        return ""
    made = program.statement(evidence.place_of(root[0]).line)
    if not isinstance(made, ast.Assign) or enclosing_function(program, made) is not None:
        return ""
    return program.inserted(place.line, program.source(made))


def _is_read_by(loop: ast.For | ast.While, made: ast.stmt) -> bool:
    """Return whether a loop iterates over something created before it, such as a list of losses."""
    head = loop.iter if isinstance(loop, ast.For) else loop.test
    return bool(names(head) - {"range", "enumerate"}) and made.lineno < loop.lineno


def _retain(program: ProgramTree, line: int) -> str:
    """Add ``retain_graph=True`` to the backward call on a line."""
    calls = [c for c in program.calls("backward") if c.lineno == line and receiver(c) is not None]
    if not calls:
        return ""
    call = calls[0]
    text = program.source(call)
    inside = "retain_graph=True)" if text.endswith("()") else ", retain_graph=True)"
    return program.replaced((call, text[:-1] + inside))


def _moved(evidence: Evidence, op: Op, first: int) -> str:
    """Move the lines that build the graph to the start of the loop's body."""
    program, tape = evidence.program, evidence.tape
    roots = [r for r in tape.passes[-1].roots if r is not None]
    inside = evidence.dependencies(roots)
    lines = {
        o.place.line
        for o in tape.ops
        if o.outputs and o.outputs[0] in inside and o.node is not None and o.place.line < first
    }
    statements = {s.lineno: s for line in lines if (s := program.statement(line)) is not None}
    texts = [program.source(statements[n]) for n in sorted(statements)]
    if not texts or program.loop(op.place.line) or any("\n" in text for text in texts):
        return ""
    moved = program.inserted(first, "\n".join(texts))
    for line in sorted(statements, reverse=True):
        # Each of these lines is above the loop, so its number is still the same.
        left = ProgramTree(moved).without(line)
        reads = [n for n in program.find(ast.Name) if line < n.lineno < first]
        target = statements[line]
        names = {ast.unparse(t) for t in target.targets} if isinstance(target, ast.Assign) else {""}
        used = any(n.id in names and n.lineno not in statements for n in reads)
        moved = moved if used or not left else left
    return moved


ENTRY = FindingKind(
    "backward-twice",
    "The graph has been freed",
    "backward frees what the ops saved as it goes. Run the forward lines again for a second "
    "gradient, or keep the graph with retain_graph=True where one graph is really needed twice.",
    detect,
    sick=(
        """x = param(2.0)
y = x**2
z = y.exp()
z.backward()
z.backward()  # !
""",
    ),
    healthy=(
        """# the graph is kept
x = param(2.0)
y = x**3
y.backward(retain_graph=True)
y.backward()
print(x.grad)
""",
        """# second derivative
x = param(2.0)
y = x**3
(first,) = torch.autograd.grad(y, x, create_graph=True)
(second,) = torch.autograd.grad(first, x)
print(first, second)
""",
    ),
)
