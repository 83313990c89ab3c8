"""Mended programs for numbers that left torch: the same expression with tensors."""

import ast

from engine.doctor.cuts import Taken
from engine.doctor.program import Program, called, receiver

_FUNCTIONS = frozenset(
    "exp log sqrt sin cos tan tanh sinh cosh abs mean sum maximum minimum log1p expm1 pow "
    "square dot matmul".split()
)
_MAKERS = frozenset("tensor from_numpy as_tensor FloatTensor Tensor".split())


def rebuilt(program: Program, taken: Taken) -> str:
    """Return the program with a tensor where its numbers had been taken out; empty if unknown."""
    call, owner = taken.call, receiver(taken.call)
    if (statement := program.statement_of(call)) is not None and _is_rewrapped(program, statement):
        return ""
    bare = program.source(_plain(taken.owner))
    if isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "math"):
        if called(call) not in _FUNCTIONS or len(call.args) != 1:
            return ""
        return program.replaced((call, f"torch.{called(call)}({bare})"))
    target: ast.expr = call
    for node in program.above(call):
        if isinstance(node, ast.Call) and called(node) in _MAKERS and node.args[:1] == [target]:
            target = node
            continue
        if isinstance(node, ast.Call) and _is_function(node) and node.args[:1] == [target]:
            inner = f"torch.{called(node)}({bare})"
            outer = next(program.above(node), None)
            if isinstance(outer, ast.Call) and called(outer) in _MAKERS:
                return program.replaced((outer, inner))
            return program.replaced((node, inner))
        break
    return program.replaced((target, bare))


def _is_rewrapped(program: Program, statement: ast.stmt) -> bool:
    """Whether a later line makes a tensor of the number again, and so cuts a second time."""
    if not isinstance(statement, ast.Assign):
        return False
    name = ast.unparse(statement.targets[0])
    takers = (node for node in program.nodes if isinstance(node, ast.Call) and node.args)
    return any(
        ast.unparse(call.args[0]) == name
        for call in takers
        if called(call) in _MAKERS or ast.unparse(call.func).startswith(("np.", "math."))
    )


def _is_function(node: ast.Call) -> bool:
    owner = receiver(node)
    known = isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "math")
    return known and called(node) in _FUNCTIONS and len(node.args) == 1


def _plain(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and called(node) in ("detach", "cpu"):
        owner = receiver(node)
        if owner is None:
            break
        node = owner
    return node
