"""The shape lab: run a few lines, and link the cells of their input and result tensors."""

import ast
from collections.abc import Sequence
from typing import NamedTuple

from gradscribe.engine.inspect.lab.evaluator import (
    ExpressionEvaluator,
    has_negative_stride,
    named_tensors,
    to_cells,
)
from gradscribe.engine.inspect.lab.jacobians import find_jacobians
from gradscribe.engine.inspect.lab.links import find_links
from gradscribe.engine.protocol.messages import Cells, Probe, Probed, Run
from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.engine.run import errors, run, watchdog
from gradscribe.engine.sandbox.policy import program

TIMEOUT_S = 5.0
FILENAME = "<shape lab>"
BACKWARDS = "An array with a negative stride is shown as a copy: tensors cannot have one."


class _Expression(NamedTuple):
    """The last statement of a lab program, prepared for repeated evaluation."""

    setup: ast.Module
    evaluate: ast.Expression
    names: tuple[str, ...]


def probe(request: Probe) -> Probed:
    """Run a small program and return its tensors, its last expression's result and their links."""
    before: list[Cells] = []
    try:
        return _probe(request, before)
    except BaseException as exc:  # noqa: BLE001 - the program is the user's
        with watchdog.InterruptGuard(run.EXPLAIN_S, is_last=True):
            problem = errors.to_problem(exc, request.source, FILENAME)
        return Probed(request.run_id, tuple(before), problem=problem)


def _probe(request: Probe, before: list[Cells]) -> Probed:
    """Do the work of `probe`; the inputs are added to ``before``, even if it then raises."""
    expression = _parse(request.source, request.policy)
    if isinstance(expression, Problem):
        return Probed(request.run_id, problem=expression)
    asked = Run(request.run_id, request.source, FILENAME, timeout=TIMEOUT_S)
    names = run.initial_names(asked)
    if request.policy:
        names = program.guarded_names(names)
    setup = compile(expression.setup, FILENAME, "exec", dont_inherit=True)
    code = compile(expression.evaluate, FILENAME, "eval", dont_inherit=True)
    # Small tensors, evaluated many times: a second thread would only slow it down.
    with run.unrecorded(threads=1), watchdog.InterruptGuard(TIMEOUT_S):
        exec(setup, names)
        inputs = named_tensors(names, expression.names)
        before += [to_cells(tensor) for tensor in inputs]
        trial = ExpressionEvaluator(names, inputs, lambda scope: eval(code, scope))
        value = trial.evaluate({})
        results, text = trial.results(value)
        if not results:
            return Probed(request.run_id, tuple(before), text=text)
        links, note = find_links(trial, inputs, results)
        matrices = find_jacobians(trial, inputs, results)
    after = tuple(to_cells(tensor) for tensor in results)
    sharing = _sharing(names, (*before, *after))
    if any(map(has_negative_stride, (value, *(names.get(tensor.name) for tensor in inputs)))):
        note = f"{BACKWARDS} {note}".strip()
    return Probed(request.run_id, tuple(before), after, links, matrices, sharing, note)


def _sharing(names: dict[str, object], shown: Sequence[Cells]) -> tuple[Cells, ...]:
    """Return the other named tensors that share memory with those shown."""
    storages = {cells.storage for cells in shown} - {0}
    others = named_tensors(
        names, [name for name in names if name not in {cells.name for cells in shown}]
    )
    return tuple(cells for tensor in others if (cells := to_cells(tensor)).storage in storages)


def _parse(source: str, policy: bool) -> _Expression | Problem:
    tree = program.parse_guarded(source, FILENAME) if policy else ast.parse(source, FILENAME)
    last = tree.body[-1] if tree.body else None
    value = last.value if isinstance(last, ast.Expr | ast.Assign | ast.AnnAssign) else None
    if last is None or value is None:
        text = "The last line has to be an expression, for example a @ b"
        line = getattr(last, "lineno", 0)
        lines = source.splitlines()
        return Problem("Unclear", text, "", errors.line_place(line, lines) if line else Place())
    named = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    named.sort(key=lambda node: (node.lineno, node.col_offset))
    found = dict.fromkeys(node.id for node in named)
    setup = ast.Module(tree.body[:-1], [])
    return _Expression(setup, ast.Expression(value), tuple(found))
