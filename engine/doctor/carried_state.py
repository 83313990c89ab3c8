"""State that one iteration of a loop passes to the next together with its graph."""

import ast

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.program_tree import ProgramTree


def detach_between_iterations(evidence: Evidence, line: int, since: int) -> str:
    """Return the program with the carried state detached at the start of each iteration.

    ``line`` is in the loop's body; results from before event ``since`` that the last pass depends
    on are carried. Empty if there is no loop or the state has no name.
    """
    program = evidence.program
    loop = program.loop(line)
    if loop is None:
        return ""
    rows = [_detached(program, name, loop.lineno) for name in _carried(evidence, since)]
    if not rows or "" in rows:
        return ""
    return program.inserted(loop.body[0].lineno, "\n".join(dict.fromkeys(rows)))


def _carried(evidence: Evidence, since: int) -> list[str]:
    """Return the names of results before ``since`` that later ops of the last pass used."""
    inside = evidence.dependencies(evidence.tape.passes[-1].roots)
    found: dict[str, None] = {}
    for number in sorted(inside):
        value = evidence.values[number]
        if value.is_leaf or not value.requires_grad or evidence.position(number) > since:
            continue
        users = [index for index in evidence.users.get(number, ()) if index in evidence.op_at]
        later = [i for i in users if evidence.op_at[i] > since]
        if any(o in inside for i in later for o in evidence.tape.ops[i].outputs):
            found.setdefault(value.name or _assigned(evidence, number))
    return list(found)


def _assigned(evidence: Evidence, value: int) -> str:
    """Return the variable that a result is assigned to; ``h[`` if it is a part of tuple ``h``."""
    op = evidence.creator(value)
    statement = evidence.program.statement(op.place.line) if op is not None else None
    if op is None or not isinstance(statement, ast.Assign):
        return ""
    targets = statement.targets[0]
    if isinstance(targets, ast.Name) and op.outputs == (value,):
        return targets.id
    if not isinstance(targets, ast.Tuple):
        return ""
    flat = [n for n in ast.walk(targets) if isinstance(n, ast.Name)]
    flat.sort(key=lambda n: n.col_offset)
    at = op.outputs.index(value)
    if len(flat) == len(op.outputs):
        return flat[at].id
    return f"{flat[-1].id}[" if at and len(flat) == 2 else ""


def _detached(program: ProgramTree, name: str, line: int) -> str:
    """Return the statement that detaches a variable, or the tuple that a name is part of."""
    owner, is_part, _ = name.partition("[")
    if not owner.isidentifier():
        return ""
    unpacked = f"{owner} = tuple(part.detach() for part in {owner})"
    text = unpacked if is_part else f"{owner} = {owner}.detach()"
    first = program.last_binding(owner, line)
    is_none = isinstance(first, ast.Constant) and first.value is None
    return f"if {owner} is not None:\n    {text}" if is_none else text
