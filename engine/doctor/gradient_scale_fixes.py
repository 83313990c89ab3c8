"""Fixes for gradients that vanish or explode: weight initialization and activations."""

import ast
import re

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.doctor.training import LayerGradient


def reinitialize(
    evidence: Evidence, program: ProgramTree, layers: list[LayerGradient], how: str
) -> str:
    """Return ``program`` with the layers' weights initialized before they are first used.

    ``how`` is a function of `torch.nn.init`: ``xavier_normal_`` or ``kaiming_normal_``. Empty
    if the weights have no variable of their own. ``program`` may differ from the tape's source
    within lines.
    """
    first = layers[0].op
    call = evidence.outermost_call_of(first)
    used = first.place.line
    if call is not None and call.id in evidence.call_at:
        used = evidence.tape.events[evidence.call_at[call.id]].line
    rows: list[tuple[int, str]] = []
    for owner in owners(evidence, layers):
        name = owner.rstrip(".")
        made = program.bindings.get(name)
        if not made:
            return ""
        change = f"{_init(program)}.{how}"
        each = f"for p in {name}.parameters():\n    if p.dim() > 1:\n        {change}(p)"
        rows.append(
            (_before(program, made[-1][0], used), each if owner != name else f"{change}({name})")
        )
    for line, text in sorted(rows, reverse=True):
        program = ProgramTree(program.inserted(line, text) if line else "")
    return program.text if rows else ""


def _before(program: ProgramTree, made: int, used: int) -> int:
    """Return the line of the statement, in the same block, that first uses the result."""
    statement = program.statement(made)
    later = [s for s in program.siblings(statement) if s.lineno > made] if statement else []
    for user in later:
        if user.lineno <= used <= (user.end_lineno or user.lineno):
            return user.lineno
    return later[0].lineno if later else 0


def owners(evidence: Evidence, layers: list[LayerGradient]) -> list[str]:
    """Return the variables of the layers' weights; names of modules end with a dot."""
    found: dict[str, None] = {}
    for layer in layers:
        for value in layer.op.inputs:
            leaf = evidence.leaves.get(evidence.values[value].tensor)
            if leaf is not None and leaf.name and len(leaf.shape) > 1:
                first, is_module, _ = leaf.name.partition(".")
                found.setdefault(first + is_module)
    return list(found)


def _init(program: ProgramTree) -> str:
    bare = re.search(r"\bnn\.", program.text) or "import" not in program.text
    return "nn.init" if bare else "torch.nn.init"


def with_relu(program: ProgramTree, leaky: bool) -> str:
    """Return the program with sigmoids and tanhs replaced by ReLUs, or ReLUs by leaky ReLUs.

    Activations at the end of a `Sequential` (outputs) and in products (gates) stay. Empty if there
    are no others.
    """
    old = ("ReLU",) if leaky else ("Sigmoid", "Tanh")
    new = "LeakyReLU" if leaky else "ReLU"
    functions = ("relu", "relu_") if leaky else ("sigmoid", "tanh")
    edits: list[tuple[ast.expr, str]] = []
    for node in program.nodes:
        if not leaky and _shapes_output(program, node):
            continue
        if isinstance(node, ast.Attribute) and node.attr in old:
            edits.append((node, f"{program.source(node.value)}.{new}"))
        elif isinstance(node, ast.Call) and called_name(node) in functions:
            text = _curve(program, node, leaky)
            if text:
                edits.append((node, text))
    outer = [e for e in edits if not any(_holds(o[0], e[0]) for o in edits)]
    return program.replaced(*outer) if outer else ""


def _shapes_output(program: ProgramTree, node: ast.AST) -> bool:
    around = list(program.above(node))[:2]
    call = node if isinstance(node, ast.Call) else next(iter(around), None)
    ends = any(isinstance(a, ast.Call) and a.args and a.args[-1] is call for a in around)
    return ends or any(isinstance(a, ast.BinOp) and isinstance(a.op, ast.Mult) for a in around)


def _curve(program: ProgramTree, node: ast.Call, leaky: bool) -> str:
    function = node.func
    if not isinstance(function, ast.Attribute):
        return ""
    owner = program.source(function.value)
    is_place = owner in ("torch", "F", "nn.functional", "torch.nn.functional")
    given = program.source(node.args[0]) if is_place and node.args else owner
    if leaky:
        home = owner if owner in ("F", "nn.functional") else "torch.nn.functional"
        return f"{home}.leaky_relu({given})"
    return f"torch.relu({given})"


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    return outer is not inner and any(node is inner for node in ast.walk(outer))
