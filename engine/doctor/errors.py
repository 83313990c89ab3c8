"""Evidence in a program's error: the kind of error, and the tensors and modules involved."""

import ast
import re

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.program_tree import called_name, receiver
from gradscribe.engine.doctor.scopes import dict_entry
from gradscribe.engine.protocol.tape import Node, Problem, Value


def matching_error(evidence: Evidence, *patterns: str) -> Problem | None:
    """Return the program's error if its message matches any of ``patterns``."""
    error = evidence.tape.error
    if error is None or not any(re.search(p, error.message) for p in patterns):
        return None
    return error


def value_of_expression(evidence: Evidence, node: ast.expr) -> Value | None:
    """Return the last value of a variable, or of the op at the place of an expression."""
    found = evidence.latest(ast.unparse(node))
    if found is not None:
        return found
    place = evidence.program.place(node)
    for op in reversed(evidence.tape.ops):
        if op.place == place and op.outputs:
            return evidence.values[op.outputs[0]]
    return next((v for v in evidence.tape.values if v.op is None and v.place == place), None)


def tensors_at(evidence: Evidence, line: int) -> list[tuple[ast.expr, Value]]:
    """Return the tensor variables and attributes read on a line, with their last values."""
    found: dict[str, tuple[ast.expr, Value]] = {}
    statement = evidence.program.statement(line)
    if statement is None:
        return []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if not node.lineno <= line <= (node.end_lineno or line):
                continue
            value = evidence.latest(ast.unparse(node))
            if value is not None:
                found.setdefault(ast.unparse(node), (node, value))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            table = evidence.program.last_binding(ast.unparse(node.value), node.lineno)
            item = dict_entry(table, node.slice.value)
            value = value_of_expression(evidence, item) if item is not None else None
            if value is not None:
                found.setdefault(ast.unparse(node), (node, value))
    return list(found.values())


def parameters_of(evidence: Evidence, module: str) -> list[Value]:
    """Return the parameters of the module in a variable, by their names."""
    start = module + "."
    return [v for v in evidence.leaves.values() if v.name.startswith(start)]


def modules_at(evidence: Evidence, line: int) -> list[tuple[ast.Call, list[Value]]]:
    """Return the calls of modules on a line, each with the module's parameters."""
    statement = evidence.program.statement(line)
    found = []
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and not called_name(node).startswith("_"):
            owner = receiver(node) if called_name(node) == "forward" else node.func
            parameters = parameters_of(evidence, ast.unparse(owner)) if owner is not None else []
            if parameters:
                found.append((node, parameters))
    return found


def failed_node(evidence: Evidence) -> Node | None:
    """Return the backward node that the last pass failed in: it was reached and did not run."""
    tape = evidence.tape
    if not tape.passes or tape.error is None:
        return None
    number = len(tape.passes) - 1
    ran = {e.node for e in tape.executions if e.run == number}
    reached = {edge.target for edge in tape.edges if edge.run == number}
    nodes = {n.id: n for n in tape.nodes}
    waiting = [nodes[i] for i in reached if i in nodes and i not in ran]
    return max(waiting, key=lambda n: n.id, default=None)
