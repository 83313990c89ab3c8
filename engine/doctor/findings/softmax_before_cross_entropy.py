"""Probabilities given to a loss that makes them itself."""

import ast
from collections.abc import Iterator

from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.mends import peeled
from engine.doctor.program import Program
from engine.tape import Op, Place

_MAKERS = ("softmax", "sigmoid")


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield cross-entropies of what softmax or sigmoid made."""
    yield from doubled(evidence, ("cross_entropy", "cross_entropy_loss"), _MAKERS)


def doubled(
    evidence: Evidence, losses: tuple[str, ...], makers: tuple[str, ...]
) -> Iterator[Found]:
    """Yield losses whose input one of ``makers`` made, which the loss applies itself."""
    for op in evidence.tape.ops:
        if op.op not in losses or not op.inputs:
            continue
        source = evidence.unwrapped(op.inputs[0])
        maker = evidence.op_of(source)
        if maker is None or maker.op not in makers:
            continue
        place = maker.place if maker.place.line else op.place
        where = f"line {place.line}" + (f", in {maker.scope}" if maker.scope else "")
        message = (
            f"{op.op} on line {op.place.line} applies {_own(op.op)} itself, and its input already "
            f"went through {maker.op} ({where})"
        )
        snapshot = evidence.snapshot(source)
        array = snapshot.array() if snapshot is not None else None
        if array is not None and array.size:
            message += f": it lies between {array.min():.3g} and {array.max():.3g}"
        yield Found(place, message, (op.place,), _mended(evidence.program, maker, place))


def _own(loss: str) -> str:
    return "log-softmax" if "cross_entropy" in loss and "binary" not in loss else "the sigmoid"


def _mended(program: Program, maker: Op, place: Place) -> str:
    """Take the extra function out: a call of it, or its layer."""
    for node in program.nodes:
        if isinstance(node, ast.Call) and program.place(node) == place:
            inner = peeled(node, maker.op)
            if inner is not None:
                return program.replaced((node, program.source(inner)))
    return _without_layer(program, {"softmax": "Softmax", "sigmoid": "Sigmoid"}[maker.op])


def _without_layer(program: Program, layer: str) -> str:
    """Replace the last such layer by one that does nothing."""
    calls = program.calls(layer)
    if len(calls) != 1:
        return ""
    return program.replaced((calls[0], "nn.Identity()"))


ENTRY = Entry(
    "softmax-before-cross-entropy",
    "Softmax twice",
    "cross_entropy takes raw scores. Squashed into 0 to 1 first, they can never become very "
    "different: the loss cannot get near 0 and gradients are small.",
    detect,
)
