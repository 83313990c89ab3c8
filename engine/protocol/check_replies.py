"""Validate replies from an engine that user code may have taken over.

Tapes are validated by `engine.protocol.check_tape`. The engine itself takes its limits from the
constants here.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from operator import is_
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.engine.protocol.training import (
    Catalogue,
    EventDone,
    RunAdvice,
    RunStarted,
    SetupChanged,
    SetupRestored,
    TrainReply,
)
from gradscribe.engine.protocol.training.advice import MAX_ADVICE
from gradscribe.engine.protocol.training.replies import RawArray

if TYPE_CHECKING:
    from gradscribe.engine.protocol.messages import (
        Cells,
        Checked,
        Computed,
        Gradchecked,
        HandChecked,
        Importing,
        Jacobian,
        JacobianPair,
        Links,
        MeasuredCosts,
        ModelFile,
        Probed,
        Ready,
    )
    from gradscribe.engine.protocol.position import CurrentLine

MAX_SHOWN = 1 << 14
"""Elements of a tensor that are sent to the shape lab."""
MAX_TENSORS = 12
"""Inputs of the shape lab, likewise results, likewise tensors that share their memory."""
MAX_LINKED, MAX_REACHED = 256, 4096
"""Cells of all inputs, and of all results, up to which links are searched."""
MAX_DERIVED = 64
"""Cells of a tensor, and of a result, up to which the whole Jacobian is computed."""
MAX_COMPARED = 64
"""Elements of a Function's input, and of its output, that are compared."""
MAX_WHOLE_SIDE = 6
"""Rows and columns up to which a Function's Jacobian is sent whole."""
MAX_SLIPS = 3
"""Mistakes that explain the same wrong numbers."""
MAX_PAIRS = 256
"""Pairs of an input and an output of a Function whose Jacobians are sent."""
MAX_LISTED = 1 << 15
"""Items of one list in a training reply: parameters, curves, columns, classes."""
MAX_STEP_LINES = 1_000
"""Lines of a step's source; real steps have a few dozen."""
MAX_CHANGED = 100
"""Lines about what one event of a step changed; the engine sends fewer."""
MAX_ENTRIES, MAX_OPTIONS = 1_000, 200
"""Entries of the catalogue, and options of each."""
MAX_DEVICES = 256
MAX_PEEKED = 1 << 24
"""Elements of a tensor that are sent, whatever the request's limit."""
MAX_TEXT_CHARS, MAX_SETUP_PARTS = 1 << 20, 1 << 20
"""Characters of one text in a setup (such as a module's source); values in the whole setup."""


def check_ready(answer: "Ready") -> Iterator[str]:
    """Yield the flaws of a `Ready` reply."""
    if max(len(answer.devices), len(answer.kept), len(answer.details)) > MAX_DEVICES:
        yield "too many devices"
    titles = [text for one in answer.details for text in (one.name, one.title)]
    yield from _too_long((answer.torch, answer.python, *answer.devices, *answer.kept, *titles))


def check_training_reply(answer: TrainReply) -> Iterator[str]:
    """Yield the flaws of a training reply: lists, texts or setups over their limits."""
    fields = [getattr(answer, name) for name in answer.__struct_fields__]
    lists = [item for item in fields if isinstance(item, tuple | dict)]
    within = (some for item in lists if isinstance(item, tuple) for some in item)
    if any(
        len(item) > MAX_LISTED for item in chain(lists, within) if isinstance(item, tuple | dict)
    ):
        yield "a list that is too long"
    if shorten(answer) is not answer:
        yield "a text that is too long"
    for item in fields:
        if isinstance(item, Problem):
            yield from check_problem(item)
        elif isinstance(item, Setup) and not _is_setup(item):
            yield "a setup that is too big"
    match answer:
        case RunStarted(lines=lines) | SetupChanged(lines=lines) | SetupRestored(lines=lines):
            if len(lines) > MAX_STEP_LINES:
                yield "too many lines"
        case RunAdvice(advice=advice):
            if len(advice) > MAX_ADVICE:
                yield "too much advice"
            if not all(_is_small(one.change) for one in advice):
                yield "a change that is too big"
        case EventDone(changed=changed) if len(changed) > MAX_CHANGED:
            yield "too many changes"
        case Catalogue(entries=entries):
            if len(entries) > MAX_ENTRIES:
                yield "too many entries"
            if any(len(item.options) > MAX_OPTIONS for item in entries):
                yield "too many options"


def shorten(answer: TrainReply) -> TrainReply:
    """Return an answer with its texts cut to the limits; the same object if none is longer.

    Setups, which come from the window, and tapes, which `engine.protocol.check_tape` checks, are
    not changed.
    """
    return cast("TrainReply", _cut(answer, check_tape.MAX_TEXT_CHARS))


_LONG = ("lines", "message", "hint", "trace", "words")
"""Fields of an answer, and of a problem, that are prose and not names."""


def _cut(thing: object, most: int) -> object:
    """Return a part of an answer with its texts cut; items of lists count as names."""
    if isinstance(thing, str):
        return thing if len(thing) <= most else thing[: most - 1] + "…"
    if isinstance(thing, tuple | list):
        if not thing or isinstance(thing[0], int | float):
            return thing
        parts = [_cut(item, most) for item in thing]
        return thing if all(map(is_, parts, thing)) else type(thing)(parts)
    if isinstance(thing, dict):
        keys, values = _cut(tuple(thing), most), _cut(tuple(thing.values()), most)
        named = dict(zip(cast("tuple[str]", keys), cast("tuple[object]", values), strict=True))
        return thing if all(map(is_, chain(*named.items()), chain(*thing.items()))) else named
    if not isinstance(thing, Struct) or isinstance(thing, Setup | Tape | RawArray):
        return thing
    changed = {}
    for name in thing.__struct_fields__:
        item = getattr(thing, name)
        if isinstance(item, str | tuple | list | dict | Struct):
            is_prose = name in _LONG or (
                isinstance(item, str) and most == check_tape.MAX_TEXT_CHARS
            )
            part = _cut(item, check_tape.MAX_TEXT_CHARS if is_prose else check_tape.MAX_NAME_CHARS)
            if part is not item:
                changed[name] = part
    return replace(thing, **changed) if changed else thing


def _is_setup(setup: Setup) -> bool:
    """Return whether a setup stays within `MAX_TEXT_CHARS` and `MAX_SETUP_PARTS`."""
    return _is_small(asdict(setup))


def _is_small(thing: object) -> bool:
    """Return whether plain data stay within `MAX_TEXT_CHARS` and `MAX_SETUP_PARTS`."""
    waiting: list[object] = [thing]
    parts = 0
    while waiting:
        item = waiting.pop()
        parts += 1
        if isinstance(item, str) and len(item) > MAX_TEXT_CHARS:
            return False
        if isinstance(item, Struct):
            item = asdict(item)
        if isinstance(item, dict):
            waiting += item
            waiting += item.values()
        elif isinstance(item, tuple | list):
            waiting += item
        if parts + len(waiting) > MAX_SETUP_PARTS:
            return False
    return True


def check_current_line(answer: "CurrentLine") -> Iterator[str]:
    """Yield the flaws of a reported current line."""
    if not 0 <= answer.line <= check_tape.MAX_LINES:
        yield "an impossible place in the source"


def check_computed(answer: "Computed") -> Iterator[str]:
    """Yield the flaws of scalars of a running program."""
    for one in answer.scalars:
        if len(one.numbers) != len(one.positions) or not one.numbers:
            yield "scalars without their positions"
        elif not (0 < one.line <= check_tape.MAX_LINES and 0 <= one.called <= check_tape.MAX_LINES):
            yield "an impossible place in the source"
        elif one.positions[0] <= 0 or any(a > b for a, b in pairwise(one.positions)):
            yield "positions that do not ascend"
    yield from _too_long(words=tuple(one.dtype for one in answer.scalars))


def check_checked(answer: "Checked") -> Iterator[str]:
    """Yield the flaws of a checked gradient."""
    if answer.index < 0:
        yield "a negative index"
    yield from _too_long(words=(answer.problem, answer.note))


def check_gradchecked(answer: "Gradchecked") -> Iterator[str]:
    """Yield the flaws of a Function's Jacobians."""
    if len(answer.pairs) > MAX_PAIRS:
        yield "too many Jacobians"
    elif not all(map(_is_pair, answer.pairs)):
        yield "an impossible Jacobian"
    yield from _too_long((answer.function, answer.dtype), (answer.problem,))


def check_hand_checked(answer: "HandChecked") -> Iterator[str]:
    """Yield the flaws of a comparison of gradients by hand."""
    if len(answer.rows) > MAX_LISTED:
        yield "too many rows"
    for row in answer.rows:
        sizes = (*row.at, *row.own_shape, *row.true_shape, row.differ, row.entries)
        if not all(0 <= size <= check_tape.MAX_ELEMENTS for size in sizes):
            yield "an impossible position"
        if max(map(len, (row.at, row.own_shape, row.true_shape))) > check_tape.MAX_DIMENSIONS:
            yield "too many dimensions"
        yield from _too_long((row.name, *row.dtypes))
    if not -1 <= answer.slip_row < len(answer.rows):
        yield "a slip of no row"
    if len(answer.slips) > MAX_SLIPS:
        yield "too many slips"
    yield from _too_long(slip.text for slip in answer.slips)
    if answer.problem is not None:
        yield from check_problem(answer.problem)


def check_measured_costs(answer: "MeasuredCosts") -> Iterator[str]:
    """Yield the flaws of measured costs."""
    if len(answer.rows) > MAX_LISTED:
        yield "too many rows"
    for row in answer.rows:
        if not all(0 <= x < float("inf") for x in (row.seconds, row.low, row.high)):
            yield "an impossible time"
        if row.runs < 0 or min(row.bytes, row.held) < -1:
            yield "an impossible number"
    if min(answer.calls, answer.leaves, answer.entries, answer.threads) < 0:
        yield "a negative number"
    yield from _too_long((answer.device,), (answer.note, answer.problem))


def check_importing(answer: "Importing") -> Iterator[str]:
    """Yield the flaws of a report about imports."""
    if not 0 <= answer.seconds < float("inf"):
        yield "an impossible time"


def check_model_file(answer: "ModelFile") -> Iterator[str]:
    """Yield the flaws of a module's file."""
    yield from _too_long((answer.module,), (answer.problem,))


def _is_pair(pair: "JacobianPair") -> bool:
    numbers = (pair.input, pair.output, pair.differ, *pair.of_output, *pair.of_input)
    rows, others = pair.backward_rows, pair.difference_rows
    widths = {len(row) for row in (*rows, *others)}
    return (
        all(0 <= number <= check_tape.MAX_ELEMENTS for number in numbers)
        and max(len(pair.of_output), len(pair.of_input)) <= check_tape.MAX_DIMENSIONS
        and pair.differ <= pair.entries <= MAX_COMPARED * MAX_COMPARED
        and len(rows) == len(others) <= MAX_WHOLE_SIDE
        and len(widths) <= 1
        and all(0 < width <= MAX_WHOLE_SIDE for width in widths)
    )


def check_probed(answer: "Probed") -> Iterator[str]:
    """Yield the flaws of a shape lab reply: inconsistent tensors, or too many of them.

    Stop at the first flaw: the later checks rely on the earlier ones.
    """
    inputs, results = answer.inputs, answer.results
    sides = (inputs, results, answer.sharing)
    if any(len(side) > MAX_TENSORS for side in sides):
        yield "too many tensors"
    for item in (cells for side in sides for cells in side):
        if not _are_cells(item):
            yield "cells that do not exist"
        yield from _too_long((item.name, item.kind, item.device, item.snapshot.dtype))
    for of in (answer.links, answer.jacobians):
        pairs = [(item.result, item.input) for item in of]
        if len(set(pairs)) < len(pairs):
            yield "a duplicate pair of tensors"
        if any(not (0 <= a < len(results) and 0 <= b < len(inputs)) for a, b in pairs):
            yield "a tensor that does not exist"
    for link in answer.links:
        yield from _of_links(link, results[link.result], inputs[link.input])
    for matrix in answer.jacobians:
        if not _is_jacobian(matrix, results[matrix.result], inputs[matrix.input]):
            yield "an impossible Jacobian of the lab"
    yield from _too_long(words=(answer.note, answer.text))
    if answer.problem is not None:
        yield from check_problem(answer.problem)


def _are_cells(item: "Cells") -> bool:
    snapshot = item.snapshot
    return (
        check_tape.is_consistent_snapshot(snapshot, MAX_SHOWN)
        and len(item.stride) == len(snapshot.shape)
        and all(
            abs(number) <= check_tape.MAX_ELEMENTS
            for number in (item.offset, item.storage_size, *item.stride)
        )
    )


def _of_links(links: "Links", result: "Cells", source: "Cells") -> Iterator[str]:
    ends = (result, links.to, MAX_REACHED), (source, links.source, MAX_LINKED)
    if len(links.to) != len(links.source):
        yield "links without both ends"
    for cells, indices, most in ends:
        count = cells.snapshot.numel
        if count > most or not check_tape.are_valid_indices(indices, count):
            yield "cells that do not exist"
    if len(links.to) > 4 * result.snapshot.numel * source.snapshot.numel:
        yield "a duplicate link"


def _is_jacobian(item: "Jacobian", result: "Cells", source: "Cells") -> bool:
    rows, columns = item.shape
    return (
        (rows, columns) == (result.snapshot.numel, source.snapshot.numel)
        and max(rows, columns) <= MAX_DERIVED
        and len(item.data) == 8 * rows * columns
    )


def check_problem(reported: Problem) -> Iterator[str]:
    """Yield the flaws of a problem."""
    yield from _too_long((reported.type,), (reported.message, reported.hint, *reported.trace))
    if not check_tape.is_valid_place(reported.place):
        yield "an impossible place in the source"


def _too_long(names: Iterable[str] = (), words: Iterable[str] = ()) -> Iterator[str]:
    if any(len(text) > check_tape.MAX_NAME_CHARS for text in names):
        yield "a name that is too long"
    if any(len(text) > check_tape.MAX_TEXT_CHARS for text in words):
        yield "a text that is too long"
