"""Fixes for ops without a gradient: smooth replacements."""

import ast

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.fixes import functional, parenthesized, unwrap_call
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.protocol.tape import Op

_STEPS = frozenset("round floor ceil trunc fix".split())
_SIGNS = frozenset("sign sgn".split())
_CASTS = frozenset("int long short bool".split())


def fix_gradient(evidence: Evidence, op: Op) -> str:
    """Return the program with a differentiable replacement for ``op``; empty if unknown.

    A comparison becomes a sigmoid, a sign tanh, rounding a straight-through estimator (Bengio et
    al. 2013), a cast is left out, and a loss that counts hits of an argmax becomes cross-entropy.
    """
    program = evidence.program
    found = program.find(ast.expr, op.place)
    node = next((n for n in found if isinstance(n, ast.Call | ast.Compare)), None)
    if isinstance(node, ast.Compare):
        return _compared(evidence, op, node)
    if node is None:
        return ""
    name = called_name(node).rstrip("_")
    inner = unwrap_call(node, called_name(node))
    if inner is None:
        return ""
    if name == "argmax":
        return _chosen(evidence, op, node, inner)
    if name in _SIGNS:
        return program.replaced((node, f"torch.tanh({program.source(inner)})"))
    if name in _STEPS:
        return _straight_through(program, node, inner)
    if name in _CASTS and receiver(node) is inner:
        return program.replaced((node, program.source(inner)))
    return ""


def _compared(evidence: Evidence, op: Op, node: ast.Compare) -> str:
    program = evidence.program
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE):
        return ""
    low, high = node.comparators[0], node.left
    if isinstance(node.ops[0], ast.Lt | ast.LtE):
        low, high = high, low
    made = evidence.creator(evidence.before_pass_through(op.inputs[0]))
    if made is not None and made.op in ("sigmoid", "softmax") and high is node.left:
        # The probability itself is the smooth form of "above 0.5".
        return program.replaced((node, parenthesized(program, high)))
    text = program.source(high)
    if not (isinstance(low, ast.Constant) and low.value == 0):
        text += f" - {parenthesized(program, low)}"
    return program.replaced((node, f"torch.sigmoid({text})"))


def _straight_through(program: ProgramTree, node: ast.Call, inner: ast.expr) -> str:
    """Round in forward, and pass the gradient through unchanged (straight-through)."""
    statement = program.statement_of(node)
    plain = program.source(inner)
    if _is_repeatable(inner):
        plain = parenthesized(program, inner)
        return program.replaced((node, f"({plain} + ({program.source(node)} - {plain}).detach())"))
    if not isinstance(statement, ast.Assign) or statement.value is not node:
        return ""
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return ""
    name = target.id
    text = f"{name} = {name} + (torch.{called_name(node)}({name}) - {name}).detach()"
    again = ProgramTree(program.replaced((node, plain)))
    return again.inserted(statement.lineno, text, after=True)


def _is_repeatable(node: ast.expr) -> bool:
    """Return whether an expression may be repeated: no call that costs or changes something."""
    return not any(isinstance(n, ast.Call | ast.NamedExpr | ast.Await) for n in ast.walk(node))


def why_no_fix(op: Op) -> str:
    """Return the reason why an op without a gradient has no fix; empty if unknown."""
    if op.op in ("argmax", "argmin", "topk", "argsort"):
        return (
            f"{op.op} chooses, and a choice has no slope: compute the loss from the scores "
            f"themselves, weigh by their softmax, or learn from rewards"
        )
    if op.op in ("multinomial", "bernoulli", "poisson"):
        return (
            f"{op.op} draws, and a draw has no slope: use rsample() of a distribution, "
            f"gumbel_softmax, or the log-probability of what was drawn"
        )
    return ""


def _chosen(evidence: Evidence, op: Op, node: ast.Call, scores: ast.expr) -> str:
    """Replace a loss that counts hits of the largest score by the cross-entropy of the scores."""
    program = evidence.program
    if not evidence.roots or not op.outputs:
        return ""
    last = program.statement(evidence.place_of(evidence.roots[-1]).line)
    target = _met(evidence, op.outputs[0])
    if not isinstance(last, ast.Assign) or not target:
        return ""
    chosen = program.statement_of(node)
    loss = f"{functional(program)}.cross_entropy"
    if chosen is last or isinstance(scores, ast.Name):
        text = f"{loss}({program.source(scores)}, {target})"
        return program.replaced((last.value, text))
    if isinstance(chosen, ast.Assign) and chosen.value is node:
        name = program.source(chosen.targets[0])
        edits = (node, program.source(scores)), (last.value, f"{loss}({name}, {target})")
        return program.replaced(*edits)
    return ""


def _met(evidence: Evidence, choice: int) -> str:
    """Return the name of the class indices that a choice is compared with."""
    stack, seen = [choice], set[int]()
    while stack:
        value = stack.pop(0)
        if value in seen:
            continue
        seen.add(value)
        for index in evidence.users.get(value, ()):
            op = evidence.tape.ops[index]
            others = [i for i in op.inputs if i not in seen]
            for other in others:
                plain = evidence.values[evidence.before_pass_through(other)]
                if plain.dtype == "int64" and plain.name.isidentifier() and len(plain.shape) == 1:
                    return plain.name
            stack.extend(op.outputs)
    return ""
