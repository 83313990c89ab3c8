"""Whether an answer that arrives is one that the engine can give, which may not be ours any more.

Of tapes `engine.sound` tells. What is bounded here the engine keeps to: it takes the bounds from
here.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from engine import sound
from engine.setup import Setup
from engine.tape import Problem, Tape
from engine.training import Altered, Begun, Catalogue, Happened, TrainReply, WentBack
from engine.training.answers import Array

if TYPE_CHECKING:
    from engine.standing import At
    from engine.wire import (
        Cells,
        Checked,
        Gradchecked,
        Jacobian,
        JacobianPair,
        Links,
        Probed,
        Ready,
    )

MOST_SHOWN = 1 << 14
"""Elements of a tensor that travel to the shape lab."""
MOST_TENSORS = 12
"""Tensors that go in there, as many that come out, and as many that share their memory."""
MOST_LINKED, MOST_REACHED = 256, 4096
"""Cells of all that goes in, and of all that comes out, for links to be looked for."""
MOST_DERIVED = 64
"""Cells of a tensor, and of a result, for every derivative to be worked out."""
MOST_COMPARED = 64
"""So many elements of an input of a Function, and of an output, are compared."""
MOST_WHOLE = 6
"""Jacobians of a Function of up to so many rows and columns are told whole."""
MOST_PAIRS = 256
"""Pairs of an input and an output of a Function whose Jacobians are told."""
MOST_LISTED = 1 << 15
"""Parts of one list in what is told of training: parameters, curves, columns, classes."""
MOST_LINES = 1_000
"""Lines of a step, which is a few dozen, one after the other."""
MOST_CHANGED = 100
"""What one event of a step changed, a line each; the engine tells of fewer."""
MOST_ENTRIES, MOST_OPTIONS = 1_000, 200
"""What can be chosen, and options of each."""
MOST_DEVICES = 256
MOST_PEEKED = 1 << 24
"""Elements that are sent of a tensor at most, whatever is asked for."""
MOST_TEXT, MOST_PARTS = 1 << 20, 1 << 20
"""Characters of one text in a setup, a module say, and numbers and texts in all of it."""


def ready(answer: "Ready") -> Iterator[str]:
    """Yield what cannot be of an engine that takes requests."""
    if max(len(answer.devices), len(answer.kept)) > MOST_DEVICES:
        yield "devices without an end"
    yield from _endless((answer.torch, answer.python, *answer.devices, *answer.kept))


def of_training(answer: TrainReply) -> Iterator[str]:
    """Yield what is without an end of what is told of training."""
    fields = [getattr(answer, name) for name in answer.__struct_fields__]
    lists = [one for one in fields if isinstance(one, tuple | dict)]
    within = (some for one in lists if isinstance(one, tuple) for some in one)
    if any(len(one) > MOST_LISTED for one in chain(lists, within) if isinstance(one, tuple | dict)):
        yield "a list without an end"
    if shortened(answer) is not answer:
        yield "a text without an end"
    for one in fields:
        if isinstance(one, Problem):
            yield from problem(one)
        elif isinstance(one, Setup) and not _is_setup(one):
            yield "a setup without an end"
    match answer:
        case Begun(lines=lines) | Altered(lines=lines) | WentBack(lines=lines):
            if len(lines) > MOST_LINES:
                yield "lines without an end"
        case Happened(changed=changed) if len(changed) > MOST_CHANGED:
            yield "changes without an end"
        case Catalogue(entries=entries):
            if len(entries) > MOST_ENTRIES:
                yield "entries without an end"
            if any(len(one.options) > MOST_OPTIONS for one in entries):
                yield "options without an end"


def shortened(answer: TrainReply) -> TrainReply:
    """Return an answer with its texts cut to what is taken; itself where none is longer.

    Setups, which come from the window, and tapes, which `engine.sound` looks at, stay as they are.
    """
    return cast("TrainReply", _cut(answer, sound.MOST_WORDS))


_LONG = ("lines", "message", "hint", "trace")
"""What in an answer, and in a problem, is no name but words."""


def _cut(thing: object, most: int) -> object:
    """Return a part of an answer, what is listed in it being names."""
    if isinstance(thing, str):
        return thing if len(thing) <= most else thing[: most - 1] + "…"
    if isinstance(thing, tuple | list):
        if not thing or isinstance(thing[0], int | float):
            return thing
        made = [_cut(one, most) for one in thing]
        return thing if all(map(is_, made, thing)) else type(thing)(made)
    if isinstance(thing, dict):
        keys, values = _cut(tuple(thing), most), _cut(tuple(thing.values()), most)
        named = dict(zip(cast("tuple[str]", keys), cast("tuple[object]", values), strict=True))
        return thing if all(map(is_, chain(*named.items()), chain(*thing.items()))) else named
    if not isinstance(thing, Struct) or isinstance(thing, Setup | Tape | Array):
        return thing
    changed = {}
    for name in thing.__struct_fields__:
        one = getattr(thing, name)
        if isinstance(one, str | tuple | list | dict | Struct):
            words = name in _LONG or (isinstance(one, str) and most == sound.MOST_WORDS)
            part = _cut(one, sound.MOST_WORDS if words else sound.MOST_NAME)
            if part is not one:
                changed[name] = part
    return replace(thing, **changed) if changed else thing


def _is_setup(setup: Setup) -> bool:
    """Whether a setup has no more in it than what the catalogue takes."""
    waiting: list[object] = [asdict(setup)]
    parts = 0
    while waiting:
        one = waiting.pop()
        parts += 1
        if isinstance(one, str) and len(one) > MOST_TEXT:
            return False
        if isinstance(one, Struct):
            one = asdict(one)
        if isinstance(one, dict):
            waiting += one
            waiting += one.values()
        elif isinstance(one, tuple | list):
            waiting += one
        if parts + len(waiting) > MOST_PARTS:
            return False
    return True


def standing(told: "At") -> Iterator[str]:
    """Yield what cannot be of a program that runs."""
    if not 0 <= told.line <= sound.MOST_LINES:
        yield "a place in no text"


def checked(answer: "Checked") -> Iterator[str]:
    """Yield what cannot be of a gradient that was checked."""
    if answer.index < 0:
        yield "an element before the first"
    yield from _endless(words=(answer.problem,))


def gradchecked(answer: "Gradchecked") -> Iterator[str]:
    """Yield what cannot be of a Function's Jacobians."""
    if len(answer.pairs) > MOST_PAIRS:
        yield "Jacobians without an end"
    elif not all(map(_is_pair, answer.pairs)):
        yield "a Jacobian that cannot be"
    yield from _endless((answer.function, answer.dtype), (answer.problem,))


def _is_pair(pair: "JacobianPair") -> bool:
    numbers = (pair.input, pair.output, pair.differ, *pair.of_output, *pair.of_input)
    rows, others = pair.backward_rows, pair.difference_rows
    widths = {len(row) for row in (*rows, *others)}
    return (
        all(0 <= number <= sound.MOST_ELEMENTS for number in numbers)
        and max(len(pair.of_output), len(pair.of_input)) <= sound.MOST_AXES
        and pair.differ <= pair.entries <= MOST_COMPARED * MOST_COMPARED
        and len(rows) == len(others) <= MOST_WHOLE
        and len(widths) <= 1
        and all(0 < width <= MOST_WHOLE for width in widths)
    )


def probed(answer: "Probed") -> Iterator[str]:
    """Yield what does not belong together of the lab's tensors, or is more than the engine sends.

    What comes first has to be right for what comes after it to be looked at.
    """
    inputs, results = answer.inputs, answer.results
    sides = (inputs, results, answer.sharing)
    if any(len(side) > MOST_TENSORS for side in sides):
        yield "tensors without an end"
    for one in (cells for side in sides for cells in side):
        if not _are_cells(one):
            yield "cells that are not there"
        yield from _endless((one.name, one.kind, one.device, one.snapshot.dtype))
    for of in (answer.links, answer.jacobians):
        pairs = [(one.result, one.input) for one in of]
        if len(set(pairs)) < len(pairs):
            yield "a pair of tensors twice"
        if any(not (0 <= a < len(results) and 0 <= b < len(inputs)) for a, b in pairs):
            yield "a tensor that is not there"
    for link in answer.links:
        yield from _of_links(link, results[link.result], inputs[link.input])
    for matrix in answer.jacobians:
        if not _is_jacobian(matrix, results[matrix.result], inputs[matrix.input]):
            yield "derivatives that are not there"
    yield from _endless(words=(answer.note, answer.text))
    if answer.problem is not None:
        yield from problem(answer.problem)


def _are_cells(one: "Cells") -> bool:
    snapshot = one.snapshot
    return (
        sound.is_whole(snapshot, MOST_SHOWN)
        and len(one.stride) == len(snapshot.shape)
        and all(
            abs(number) <= sound.MOST_ELEMENTS
            for number in (one.offset, one.storage_size, *one.stride)
        )
    )


def _of_links(links: "Links", result: "Cells", source: "Cells") -> Iterator[str]:
    ends = (result, links.to, MOST_REACHED), (source, links.source, MOST_LINKED)
    if len(links.to) != len(links.source):
        yield "links without an end"
    for cells, indices, most in ends:
        count = cells.snapshot.numel
        if count > most or not sound.are_indices(indices, count):
            yield "cells that are not there"
    if len(links.to) > 4 * result.snapshot.numel * source.snapshot.numel:
        yield "a link twice"


def _is_jacobian(one: "Jacobian", result: "Cells", source: "Cells") -> bool:
    rows, columns = one.shape
    return (
        (rows, columns) == (result.snapshot.numel, source.snapshot.numel)
        and max(rows, columns) <= MOST_DERIVED
        and len(one.data) == 8 * rows * columns
    )


def problem(told: Problem) -> Iterator[str]:
    """Yield what cannot be of a problem."""
    yield from _endless((told.type,), (told.message, told.hint, *told.trace))
    if not sound.is_place(told.place):
        yield "a place in no text"


def _endless(names: Iterable[str] = (), words: Iterable[str] = ()) -> Iterator[str]:
    if any(len(text) > sound.MOST_NAME for text in names):
        yield "a name without an end"
    if any(len(text) > sound.MOST_WORDS for text in words):
        yield "words without an end"
