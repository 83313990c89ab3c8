"""Fixes for ops that created NaN or infinity: bounds on their inputs."""

import ast

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.fixes import parenthesized, unwrap_call
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
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
