"""Fixes for ops that created NaN or infinity: bounds on their inputs."""

import ast

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.fixes import parenthesized, unwrap_call
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.rewrites import cross_entropy
from gradscribe.engine.doctor.snapshot_stats import has_inf, has_nan
from gradscribe.engine.protocol.tape import Op

_BOUNDS = {
    **dict.fromkeys(("log", "log2", "log10"), "clamp_min(1e-9)"),
    **dict.fromkeys(("sqrt", "rsqrt"), "clamp_min(1e-12)"),
    "log1p": "clamp_min(-1 + 1e-6)",
    **dict.fromkeys("acos arccos asin arcsin atanh arctanh".split(), "clamp(-1 + 1e-6, 1 - 1e-6)"),
}


def fix_nan(evidence: Evidence, op: Op) -> str:
    """Return the program with a bound on the input of ``op``; empty if unknown."""
    program = evidence.program
    better = cross_entropy.with_binary_cross_entropy(evidence, op) or _bounded_once(evidence, op)
    if better:
        return better
    for node in program.find(ast.expr, op.place):
        if isinstance(node, ast.Call):
            return _bounded(program, node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            root = unwrap_call(node.right, "sqrt")
            if root is not None:  # the bound goes inside: a root has no finite slope at 0
                return program.replaced((root, f"({program.source(root)} + 1e-12)"))
            return program.replaced((node.right, f"({program.source(node.right)} + 1e-8)"))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return program.replaced(
                (node.left, f"{parenthesized(program, node.left)}.clamp_min(1e-12)")
            )
    return ""


def _bounded_once(evidence: Evidence, op: Op) -> str:
    """Return the program with a bound on the variable that several failing ops of a line share."""
    failing = [
        other
        for other in evidence.tape.ops[evidence.tape.ops.index(op) :]
        if other.place.line == op.place.line and other.phase == "forward"
    ]
    bounded = [value for other in failing if (value := _divisor(evidence, other)) is not None]
    value = _divisor(evidence, op)
    made = evidence.creator(value) if value is not None and bounded.count(value) > 1 else None
    if value is None or made is None:
        return ""
    program, name = evidence.program, evidence.values[value].name
    statement = program.statement(made.place.line)
    if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) != name:
        return ""
    if not name.isidentifier():
        return ""
    return program.inserted(statement.lineno, f"{name} = {name}.clamp_min(1e-6)", after=True)


def _divisor(evidence: Evidence, op: Op) -> int | None:
    """Return the input at whose zeros an op's result is not finite, if there are any."""
    index = {"log": 0, "log2": 0, "log10": 0, "rsqrt": 0, "reciprocal": 0, "div": 1}.get(op.op)
    if index is None or len(op.inputs) <= index:
        return None
    snapshot = evidence.snapshot(op.inputs[index])
    made = evidence.snapshot(op.outputs[0]) if op.outputs else None
    if snapshot is None or made is None or has_nan(snapshot) or has_inf(snapshot):
        return None
    return op.inputs[index] if has_nan(made) or has_inf(made) else None


def _bounded(program: ProgramTree, node: ast.Call) -> str:
    name = called_name(node).rstrip("_")
    inner = unwrap_call(node, called_name(node))
    if inner is None:
        return ""
    if name in _BOUNDS:
        return program.replaced((inner, f"{parenthesized(program, inner)}.{_BOUNDS[name]}"))
    if name in ("std", "var") and not any(k.arg == "unbiased" for k in node.keywords):
        text = program.source(node)[:-1]
        comma = "" if text.endswith("(") else ", "
        return program.replaced((node, f"({text}{comma}unbiased=False) + 1e-8)"))
    if name == "div" and len(node.args) == 1 and receiver(node) is inner:
        return program.replaced((node.args[0], f"{program.source(node.args[0])} + 1e-8"))
    return _softmax(program, node, inner) if name == "exp" else ""


def _softmax(program: ProgramTree, node: ast.Call, inner: ast.expr) -> str:
    """Replace ``x.exp() / x.exp().sum(1)`` by the equivalent softmax."""
    for above in program.above(node):
        if not isinstance(above, ast.BinOp) or not isinstance(above.op, ast.Div):
            continue
        total = above.right
        if not isinstance(total, ast.Call) or called_name(total) != "sum":
            return ""
        summed = unwrap_call(total, "sum")
        if above.left is not node or summed is None or ast.unparse(summed) != ast.unparse(node):
            return ""
        rest = total.args if receiver(total) is summed else total.args[1:]
        by_keyword = [k.value for k in total.keywords if k.arg in ("dim", "axis")]
        dims = [*rest, *by_keyword]
        dim = program.source(dims[0]) if dims else "0"
        return program.replaced((above, f"torch.softmax({program.source(inner)}, dim={dim})"))
    return ""
