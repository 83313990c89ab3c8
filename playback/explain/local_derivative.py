"""Local derivatives, as labels of wires in backward: ``× (1−o²) = 0.500``."""

import math
from functools import partial

from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.explain import naming
from gradscribe.playback.explain.rule import CallNumbers, Slope
from gradscribe.playback.tape import operands
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting

_EPS = {"float64": 2e-16, "float32": 1.2e-7, "float16": 1e-3, "bfloat16": 8e-3}
_LONGEST = 16
"""Most letters of a slope's formula in a label; above, only its number is shown."""
_TINY = 1e-100
_ROUNDINGS = 32
"""Allowed difference between torch's kernels and this module's arithmetic, in machine epsilons."""


def operand_of(index: Index, node: int, slot: int) -> int | None:
    """Return the index of the operand to which a backward edge leads; None if unknown."""
    number = index.node_ops.get(node)
    if number is None:
        return None
    return edges_of(index, number).get((node, slot))


def edges_of(index: Index, number: int) -> dict[tuple[int, int], int]:
    """Return `operands.edges` of an op, cached."""
    return index.cached(
        f"edges of {number}", lambda index: operands.operand_edges(index, index.op(number))
    )


def slope_at(index: Index, node: int, slot: int) -> tuple[Op, Slope, CallNumbers] | None:
    """Return op, slope and numbers for an edge of a scalar elementwise op; None for other ops."""
    operand = operand_of(index, node, slot)
    number = index.node_ops.get(node)
    if operand is None or number is None:
        return None
    op = index.op(number)
    rule = naming.rule_of(index, op)
    edges = edges_of(index, number)
    if rule is None or operand >= len(rule.slopes) or list(edges.values()).count(operand) != 1:
        return None
    numbers = naming.scalar_numbers(index, op)
    return None if numbers is None else (op, rule.slopes[operand], numbers)


def local_derivative(index: Index, edge: int) -> float | None:
    """Return the local derivative of an edge, if received gradient × derivative = sent gradient."""
    sent = index.tape.edges[edge]
    if sent.execution is None:
        return None
    execution = index.tape.executions[sent.execution]
    found = slope_at(index, execution.node, sent.slot)
    if found is None:
        return None
    op, slope, numbers = found
    # A composite op (2.5 / x is a reciprocal and a product) receives at the node of its result.
    main = index.execution_in_pass(op.node, execution.run)
    if main is None or len(main.received) != 1:
        return None
    upstream = naming.scalar(index, main.received[0])
    share = naming.scalar(index, sent.gradient)
    if upstream is None or share is None:
        return None
    value = _value(slope, numbers)
    if value is None:
        return None
    if not math.isfinite(upstream * value):
        product = value * upstream
        is_same = product == share or (math.isnan(product) and math.isnan(share))
        return value if is_same else None
    eps = _EPS.get(index.values[op.outputs[0]].dtype, 0.0) * _ROUNDINGS
    allowed = eps * abs(upstream) * max(1.0, abs(value))
    # In this form the comparison is False for NaN.
    return value if abs(value * upstream - share) <= allowed else None


def _value(slope: Slope, numbers: CallNumbers) -> float | None:
    """Return a slope at the numbers of a call, infinite at a pole; None if it has none there."""
    try:
        return float(slope.value(numbers))
    except ZeroDivisionError:
        # Its sign is that next to the pole.
        inputs = tuple(map(_nudged_off_zero, numbers.inputs))
        near = CallNumbers(inputs, _nudged_off_zero(numbers.output), numbers.options)
        try:
            return math.copysign(math.inf, float(slope.value(near)))
        except (ArithmeticError, ValueError, IndexError, TypeError):
            return None
    except (ArithmeticError, ValueError, IndexError, TypeError):
        return None


def _nudged_off_zero(number: float) -> float:
    return math.copysign(_TINY, number) if number == 0 else number


def slope_label(index: Index, edge: int) -> str:
    """Return the label of an edge; "" if its local derivative is not known or does not fit."""
    return index.cached(f"factor of {edge}", partial(_factor, edge))


def _factor(edge: int, index: Index) -> str:
    value = local_derivative(index, edge)
    sent = index.tape.edges[edge]
    if value is None or sent.execution is None:
        return ""
    gradient = index.snapshot(sent.gradient)
    if gradient is not None and gradient.is_hidden:
        return ""  # the user is to find it
    found = slope_at(index, index.tape.executions[sent.execution].node, sent.slot)
    assert found is not None
    op, slope, numbers = found
    if not math.isfinite(value):
        return f"× {formatting.number(value)}"
    number = formatting.number(value, 3)
    number = formatting.trim_zeros(value) if "e" in number else number
    if value == int(value) and abs(value) < 1e6:
        number = formatting.number(int(value))
    names = naming.template_names(index, op)
    template = slope.written(numbers)
    if not template or not names.has_all_names(template):
        return f"× {number}"
    written = naming.parenthesize_slope(names.fill(template))
    if len(written) > _LONGEST:
        return f"× {number}"
    bare = written[1:-1] if written.startswith("(") and written.endswith(")") else written
    return f"× {bare}" if _is_number(bare) else f"× {written} = {number}"


def _is_number(written: str) -> bool:
    try:
        float(written.replace(formatting.MINUS, "-"))
    except ValueError:
        return written == "½"
    return True
