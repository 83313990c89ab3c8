"""Fixes and helpers that several findings share."""

import ast
from typing import TypeGuard

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.protocol.tape import Place


def optimizer_names(program: ProgramTree, line: int = 0) -> list[str]:
    """Return the names of the program's optimizers: the receivers of ``step()``.

    Learning rate schedulers are left out; a gradient scaler gets the optimizer as its argument. If
    ``line`` is given, only the steps on that line count.
    """
    calls = [c for c in program.calls("step") if line in (0, c.lineno)]
    owners = [c.args[0] if _scales(c) else receiver(c) for c in calls]
    texts = [ast.unparse(owner) for owner in owners if owner is not None]
    return [text for text in dict.fromkeys(texts) if not _is_schedule(program, text)]


def _scales(call: ast.Call) -> bool:
    owner = receiver(call)
    return owner is not None and "scaler" in ast.unparse(owner).lower() and bool(call.args)


def _is_schedule(program: ProgramTree, name: str) -> bool:
    """Return whether a variable is a scheduler, judged by its constructor or else by its name."""
    made = [ast.unparse(v.func) for _, v in program.bindings.get(name, ()) if _is_call(v)]
    if made:
        return any("lr_scheduler" in text or text.endswith(("LR", "Restarts")) for text in made)
    return "sched" in name.lower() or "plateau" in name.lower()


def _is_call(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call)


def optimizer_calls(program: ProgramTree) -> dict[str, tuple[int, ast.Call]]:
    """Return for each optimizer variable the line and the call that created it."""
    found = {}
    for name, rows in program.bindings.items():
        for line, value in rows:
            if isinstance(value, ast.Call) and called_name(value) in OPTIMIZERS:
                found[name] = line, value
    return found


OPTIMIZERS = frozenset(
    "SGD Adam AdamW Adagrad Adadelta RMSprop Rprop NAdam RAdam Adamax ASGD LBFGS SparseAdam "
    "Adafactor Muon".split()
)


def with_cleared_gradients(
    evidence: Evidence, line: int, tensor: int, step: int, *, after: bool
) -> str:
    """Return the program with gradients cleared before ``line``, which calls backward.

    By ``zero_grad()`` if there is an optimizer, that of the line ``step``; else by ``.grad = None``
    for each leaf that is updated. ``after`` clears after the step instead, which is right if
    several passes accumulate on purpose.
    """
    program = evidence.program
    known = optimizer_names(program, step) or optimizer_names(program)
    owners = [
        name
        for name in known
        if tensor in evidence.optimized and not any(c in name for c in "()[]")
    ]
    if owners and tensor in evidence.stepped:
        text = "\n".join(f"{name}.zero_grad()" for name in owners)
        return program.inserted(step if after else line, text, after=after)
    names = [
        leaf.name
        for t, leaf in evidence.leaves.items()
        if t in evidence.updated and leaf.name.isidentifier()
    ]
    lines = [f"{name}.grad = None" for name in names]
    lines += [f"{name}.zero_grad()" for name in _modules(evidence)]
    return program.inserted(line, "\n".join(dict.fromkeys(lines))) if lines else ""


def _modules(evidence: Evidence) -> list[str]:
    """Return the variables of the modules whose parameters are updated manually."""
    updated = [leaf.name for t, leaf in evidence.leaves.items() if t in evidence.updated]
    owners = dict.fromkeys(name.split(".")[0] for name in updated if "." in name)
    return [owner for owner in owners if owner in evidence.program.bindings]


def parenthesized(program: ProgramTree, node: ast.expr) -> str:
    """Return an expression's text, in parentheses if a method call could not follow it."""
    text = program.source(node)
    simple = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
    return text if isinstance(node, simple) else f"({text})"


def functional(program: ProgramTree) -> str:
    """Return the program's name for ``torch.nn.functional``."""
    imports = [n for n in program.nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {a.asname or a.name for n in imports for a in n.names}
    if "F" in names or not imports:
        return "F"
    return "nn.functional" if "nn" in names else "torch.nn.functional"


def with_argument(program: ProgramTree, node: ast.Call | ast.List, text: str) -> str:
    """Return the program with an argument appended to a call, or an element to a list."""
    source = program.source(node)
    head = source[:-1].rstrip().rstrip(",")
    comma = "" if head.endswith(("(", "[")) else ", "
    return program.replaced((node, f"{head}{comma}{text}{source[-1]}"))


def arguments_without(program: ProgramTree, call: ast.Call, keyword: str) -> str:
    """Return the text of a call's arguments, except that of a keyword."""
    given = [program.source(argument) for argument in call.args]
    given += [f"{k.arg}={program.source(k.value)}" for k in call.keywords if k.arg != keyword]
    return ", ".join(given)


def call_at(program: ProgramTree, place: Place, *wanted: str) -> ast.Call | None:
    """Return the call of one of the functions ``wanted`` at a place, or else on its line."""
    found = [
        call
        for call in program.calls(*wanted)
        if call.lineno <= place.line <= (call.end_lineno or call.lineno)
    ]
    exact = [call for call in found if program.place(call) == place]
    return next(iter(exact or found), None)


def without_requires_grad(evidence: Evidence, fix: str) -> str:
    """Return a fixed program without an assignment to a computed tensor's requires_grad."""
    computed = {v.name for v in evidence.tape.values if v.op is not None and v.name}
    program = ProgramTree(fix)
    for node in program.find(ast.Assign):
        owner, _, attribute = ast.unparse(node.targets[0]).rpartition(".")
        if attribute == "requires_grad" and owner in computed:
            return program.without(node.lineno)
    return fix


def argument_of(call: ast.Call, index: int, keyword: str) -> ast.expr | None:
    """Return an argument by position or keyword."""
    for given in call.keywords:
        if given.arg == keyword:
            return given.value
    return call.args[index] if index < len(call.args) else None


_PLACES = ("torch", "F", "nn.functional", "torch.nn.functional", "torch.special", "self")


def unwrap_call(node: ast.expr, *methods: str) -> ast.expr | None:
    """Return ``x`` of ``x.softmax(1)``, ``torch.softmax(x, 1)`` or ``F.softmax(x)``.

    None if the expression calls none of ``methods``.
    """
    if not isinstance(node, ast.Call) or called_name(node) not in methods:
        return None
    owner = receiver(node)
    if owner is None or ast.unparse(owner) in _PLACES:
        return node.args[0] if node.args else None
    return owner
