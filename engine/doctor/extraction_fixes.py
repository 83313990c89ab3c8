"""Fixes for data extracted from torch: the same expression with tensors."""

import ast

from gradscribe.engine.doctor.cuts import Extraction
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver

_FUNCTIONS = frozenset(
    "exp log sqrt sin cos tan tanh sinh cosh abs mean sum maximum minimum log1p expm1 pow "
    "square dot matmul".split()
)
_CLAMPS = {"maximum": "min", "fmax": "min", "minimum": "max", "fmin": "max"}
_BOUNDED = frozenset(("clip", "hypot", "arctan2"))
"""NumPy functions with several arguments that torch has under the same name."""
_OUTSIDE = ("np", "numpy", "math")
_MAKERS = frozenset("tensor from_numpy as_tensor FloatTensor Tensor".split())


def fix_extraction(program: ProgramTree, taken: Extraction) -> str:
    """Return the program with the tensor in place of the extracted data; empty if unknown."""
    call, owner = taken.call, receiver(taken.call)
    bare = program.source(_plain(taken.owner))
    if (statement := program.statement_of(call)) is not None and _is_rewrapped(program, statement):
        assert isinstance(statement, ast.Assign)
        return _unwrapped(program, statement, call, bare)
    if isinstance(owner, ast.Name) and owner.id in _OUTSIDE:
        fresh = _in_torch(program, call, bare)
        return program.replaced((call, fresh)) if fresh else ""
    target: ast.expr = call
    for node in program.above(call):
        if (
            isinstance(node, ast.Call)
            and called_name(node) in _MAKERS
            and node.args[:1] == [target]
        ):
            target = node
            continue
        if isinstance(node, ast.Call) and _is_outside(node) and node.args[:1] == [target]:
            inner = _in_torch(program, node, bare)
            if not inner:
                return ""
            outer = next(program.above(node), None)
            if isinstance(outer, ast.Call) and called_name(outer) in _MAKERS:
                return program.replaced((outer, inner))
            return program.replaced((node, inner))
        break
    if target is call:
        return _in_expression(program, call, bare)
    return program.replaced((target, bare))


def _in_expression(program: ProgramTree, call: ast.Call, bare: str) -> str:
    """Put the tensor into the arithmetic around it, and drop the conversion to a tensor."""
    whole: ast.expr = call
    for node in program.above(call):
        if isinstance(node, ast.Call) and called_name(node) in _MAKERS and node.args[:1] == [whole]:
            text = program.source(whole).replace(program.source(call), bare, 1)
            alone = isinstance(next(program.above(node), None), ast.Assign)
            return program.replaced((node, text if alone else f"({text})"))
        if not isinstance(node, ast.BinOp | ast.UnaryOp):
            break
        whole = node
    fix = program.replaced((call, bare))
    statement = program.statement_of(call)
    target = statement.target if isinstance(statement, ast.AugAssign) else None
    for node in program.nodes:
        # A sum that is finally converted to a tensor is now a tensor already.
        match node:
            case ast.Assign([ast.Name(id=name)], ast.Call(_, [ast.Name(id=given), *_]) as made):
                is_sum = isinstance(target, ast.Name) and target.id == name == given
                if is_sum and called_name(made) in _MAKERS:
                    return ProgramTree(fix).without(node.lineno)
    return fix


def _in_torch(program: ProgramTree, call: ast.Call, given: str) -> str:
    """Return torch's form of a NumPy or math function; empty if unknown."""
    name = called_name(call)
    if name in _FUNCTIONS and len(call.args) == 1:
        return f"torch.{name}({given})"
    if name in _BOUNDED and 2 <= len(call.args) <= 3 and not call.keywords:
        rest = ", ".join(program.source(arg) for arg in call.args[1:])
        return f"torch.{name}({given}, {rest})"
    if name in _CLAMPS and len(call.args) == 2 and isinstance(call.args[1], ast.Constant):
        return f"torch.clamp({given}, {_CLAMPS[name]}={program.source(call.args[1])})"
    return ""


def _unwrapped(program: ProgramTree, statement: ast.Assign, call: ast.Call, bare: str) -> str:
    """Return the program without the extraction and the later conversion to a tensor."""
    name = ast.unparse(statement.targets[0])
    is_function = isinstance(receiver(call), ast.Name) and _is_outside(call)
    first = _in_torch(program, call, bare) if is_function else bare
    edits: list[tuple[ast.expr, str]] = [(call, first)]
    for node in program.find(ast.Call):
        if called_name(node) not in _MAKERS or not node.args:
            continue
        inner = node.args[0]
        if ast.unparse(inner) == name:
            edits.append((node, name))
            continue
        takes = isinstance(inner, ast.Call) and _is_outside(inner) and inner.args
        if isinstance(inner, ast.Call) and takes and ast.unparse(inner.args[0]) == name:
            edits.append((node, _in_torch(program, inner, name)))
    return program.replaced(*edits) if len(edits) > 1 and all(text for _, text in edits) else ""


def _is_outside(call: ast.Call) -> bool:
    owner = receiver(call)
    return isinstance(owner, ast.Name) and owner.id in _OUTSIDE


def _is_rewrapped(program: ProgramTree, statement: ast.stmt) -> bool:
    """Return whether a later line converts the number to a tensor again: a second cut."""
    if not isinstance(statement, ast.Assign):
        return False
    name = ast.unparse(statement.targets[0])
    takers = (node for node in program.find(ast.Call) if node.args)
    return any(
        ast.unparse(call.args[0]) == name
        for call in takers
        if called_name(call) in _MAKERS or ast.unparse(call.func).startswith(("np.", "math."))
    )


def _plain(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and called_name(node) in ("detach", "cpu"):
        owner = receiver(node)
        if owner is None:
            break
        node = owner
    return node
