"""Classification of leaves: parameters, data, and those that no optimizer updates."""

import ast

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.fixes import optimizer_calls
from gradscribe.engine.protocol.tape import Value


def is_module_parameter(leaf: Value) -> bool:
    """Return whether a leaf is a parameter of a module, going by its name."""
    return "." in leaf.name


def is_data(evidence: Evidence, tensor: int) -> bool:
    """Return whether a leaf is data: the input of a layer or module, or named like data."""
    leaf = evidence.leaves[tensor]
    if is_module_parameter(leaf):
        return False
    for value in evidence.versions[tensor]:
        for index in evidence.users.get(value.id, ()):
            op = evidence.tape.ops[index]
            if op.op in ("linear", "conv2d", "conv1d") and op.inputs[:1] == (value.id,):
                return True
            if op.call is not None and op.inputs[:1] == (value.id,):
                return True
    return leaf.name.lower().rstrip("s_0123456789") in _DATA or leaf.name.startswith(("X", "x_"))


_DATA = frozenset(
    "x input data batch feature image img sample target label y xb inp inputs_ x_train x_batch "
    "xs train".split()
)


def untrained(evidence: Evidence) -> dict[int, Value]:
    """Return the parameters that got gradients before the last step and never changed."""
    tape = evidence.tape
    if not tape.steps or _stopped_early(evidence):
        return {}
    last, roots = max(evidence.step_at.values()), set(evidence.roots)
    found = {}
    for tensor, leaf in evidence.leaves.items():
        moments = evidence.leaf_events.get(tensor, [])
        adds = [m for m in moments if m.kind == "add" and m.position < last]
        is_root = any(v.id in roots for v in evidence.versions[tensor])
        if (
            adds
            and not is_root
            and tensor not in evidence.optimized
            and not any(m.kind == "update" for m in moments)
        ):
            found[tensor] = leaf
    return found


def _stopped_early(evidence: Evidence) -> bool:
    """Return whether the program failed before each of its optimizers had stepped."""
    made = {line for line, _ in optimizer_calls(evidence.program).values()}
    stepped = {step.held for step in evidence.tape.steps}
    return evidence.tape.error is not None and len(stepped) < len(made)


def rebuild_lines(evidence: Evidence, leaf: Value) -> tuple[int, int]:
    """Return the lines that created an optimizer and later replaced its model; else 0, 0."""
    program = evidence.program
    for made, call in optimizer_calls(program).values():
        models = {n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)}
        for name, rows in program.bindings.items():
            owner = name.split(".")[0].split("[")[0]
            if owner not in models or not leaf.name.startswith(_start(name)):
                continue
            for line, value in rows:
                if line > made and isinstance(value, ast.Call) and not _is_same(value, name):
                    return made, line
    return 0, 0


def _start(target: str) -> str:
    """Return the prefix of parameter names below a target: ``net[0]`` becomes ``net.0``."""
    return target.replace("[", ".").replace("]", "")


def _is_same(value: ast.Call, name: str) -> bool:
    """Return whether a call is like ``model = model.to(device)``, which keeps the parameters."""
    text = ast.unparse(value.func)
    return text in (
        f"{name}.{m}" for m in ("to", "cuda", "cpu", "train", "eval", "float", "double")
    )
