"""Binary cross-entropy written out with logarithms, and torch's own in its place."""

import ast
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.fixes import functional, unwrap_call
from gradscribe.engine.doctor.program_tree import called_name
from gradscribe.engine.protocol.tape import Op


class _Term(NamedTuple):
    """A product of a factor and a logarithm, with its sign."""

    sign: int
    factor: str
    inside: ast.expr
    factor_node: ast.expr
    product: ast.expr


def with_binary_cross_entropy(evidence: Evidence, op: Op) -> str:
    """Return the program with torch's binary cross-entropy for one written out around ``op``.

    ``y * log(p) + (1 - y) * log(1 - p)`` is not finite where p is 0 or 1; torch bounds both
    logarithms. Empty if the op is not part of such a sum of tensors of one shape.
    """
    program = evidence.program
    for node in program.find(ast.expr, op.place):
        for above in (node, *program.above(node)):
            if isinstance(above, ast.stmt):
                break
            if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Add | ast.Sub):
                found = _replacement(evidence, above)
                if found:
                    return found
    return ""


def _replacement(evidence: Evidence, node: ast.BinOp) -> str:
    terms = _terms(node, 1)
    if len(terms) != 2 or terms[0].sign != terms[1].sign:
        return ""
    for first, second in (terms, terms[::-1]):
        wanted = f"1 - {_closed(first.inside)}", f"1 - {first.factor}"
        if (ast.unparse(second.inside), second.factor) != wanted:
            continue
        if not _is_same_shape(evidence, first):
            return ""
        return _written(evidence, node, first)
    return ""


def _closed(node: ast.expr) -> str:
    text = ast.unparse(node)
    return f"({text})" if isinstance(node, ast.BinOp | ast.UnaryOp) else text


def _terms(node: ast.expr, sign: int) -> list[_Term]:
    """Return the products of a sum; fewer than there are summands if one is something else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _terms(node.operand, -sign)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right = -sign if isinstance(node.op, ast.Sub) else sign
        return [*_terms(node.left, sign), *_terms(node.right, right)]
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return []
    for factor, other in ((node.left, node.right), (node.right, node.left)):
        inside = unwrap_call(other, "log")
        if inside is None:
            continue
        if isinstance(factor, ast.UnaryOp) and isinstance(factor.op, ast.USub):
            factor, sign = factor.operand, -sign
        return [_Term(sign, ast.unparse(factor), inside, factor, node)]
    return []


def _is_same_shape(evidence: Evidence, term: _Term) -> bool:
    place = evidence.program.place(term.product)
    for op in evidence.tape.ops:
        if op.place == place and op.op == "mul" and len(op.inputs) == 2:
            one, other = (evidence.values[i] for i in op.inputs)
            return (one.shape, one.dtype) == (other.shape, other.dtype)
    return False


def _written(evidence: Evidence, node: ast.BinOp, term: _Term) -> str:
    program = evidence.program
    inside, target = program.source(term.inside), program.source(term.factor_node)
    call = f"{functional(program)}.binary_cross_entropy({inside}, {target}"
    sign, reduction = term.sign, ""
    outer: ast.expr = node
    for above in program.above(node):
        if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.USub):
            sign, outer = -sign, above
        elif isinstance(above, ast.Attribute) and above.attr in ("mean", "sum"):
            continue
        elif not reduction and isinstance(above, ast.Call) and called_name(above) in _REDUCED:
            if unwrap_call(above, *_REDUCED) is not outer or len(above.args) > 1 or above.keywords:
                break
            if isinstance(above.func, ast.Attribute) and above.func.value is outer and above.args:
                break
            reduction, outer = called_name(above), above
        else:
            break
    if not reduction:
        call += ', reduction="none"'
    elif reduction == "sum":
        call += ', reduction="sum"'
    return program.replaced((outer, f"{'' if sign < 0 else '-'}{call})"))


_REDUCED = ("mean", "sum")
