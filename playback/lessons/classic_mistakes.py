"""The classic mistakes about gradients, values, shapes and counts, as expressions on the tape.

Most are a row of a table: a kind, an expression with ``{x}`` for the tensor's name and ``{a}`` for
the right answer's expression, and the reply. An expression that makes no sense on a tape is passed
over, and so is one that gives the right answer.
"""

import ast
import math
from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.code.places import position_of
from gradscribe.playback.lessons import tape_functions
from gradscribe.playback.lessons.query import BadExpression, evaluate
from gradscribe.playback.lessons.tape_functions import Answer, NotOnTape
from gradscribe.playback.tape.event_text import value_name
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import parse
from gradscribe.playback.translation import tr

Found = tuple[str, Answer, str]
"""Kind of mistake, wrong answer, reply."""
MEANS = ("mean", "mse_loss", "l1_loss", "cross_entropy", "binary_cross_entropy_with_logits")
SQUARES = ("pow", "square", "mse_loss")
LOGITS = ("cross_entropy",)
"""Losses whose mean is over the rows alone."""


class Subject(Struct, frozen=True):
    """The right answer's expression: a function of a tensor, and the items taken of the result."""

    answer: str
    function: str
    name: str
    at: str = ""
    items: tuple[int, ...] = ()

    def call(self, function: str) -> str:
        """Return the expression of another function of the same tensor at the same place."""
        at = f", at={self.at!r}" if self.at else ""
        return f"{function}({self.name!r}{at})"


Row = tuple[str, str, str]
_NUMBER_ROWS: tuple[Row, ...] = (("sign", "-({a})", tr("That has the wrong sign")),)
_GRAD_ROWS: tuple[Row, ...] = (
    ("value", "{value}", tr("That is the value of `{x}`. Its gradient is asked for")),
    ("sign", "-({a})", tr("That has the wrong sign: does the loss rise or fall with `{x}`?")),
    (
        "total",
        "sum({whole})",
        tr("That is the sum over all of `{x}`; each of its numbers has its own"),
    ),
    (
        "twice",
        "2 * ({a})",
        tr("That is twice too much: `.grad` left from an earlier pass, or a factor counted twice?"),
    ),
    ("none", "0 * ({a})", tr("That would mean that `{x}` does not matter. Follow it to the loss")),
)
_VALUE_ROWS: tuple[Row, ...] = (
    ("gradient", "{grad}", tr("That is the gradient of `{x}`. Its value is asked for")),
    ("total", "sum({whole})", tr("That is the sum of all: no sum is taken here")),
    ("sign", "-({a})", tr("That has the wrong sign")),
)
_COUNT_ROWS: tuple[Row, ...] = (
    (tr("one more"), "({a}) + 1", tr("That is off by one. Count once more, from the start")),
    (tr("one less"), "({a}) - 1", tr("That is off by one. Count once more, to the end")),
)
_NUMEL_ROWS: tuple[Row, ...] = (
    (
        tr("sum of lengths"),
        "sum({shape})",
        tr("That is the sum of the lengths: rows times columns, not plus"),
    ),
    (tr("first length"), "{shape}[0]", tr("That is the first length alone")),
    ("lengths", "{ndim}", tr("That is how many lengths the shape has")),
    *_COUNT_ROWS,
)
_SIZE_ROWS: tuple[Row, ...] = (
    (
        "numbers",
        "{numel}",
        tr("That is how many numbers there are. How many bytes does each take?"),
    ),
    ("bits", "8 * ({a})", tr("That counts bits. A byte has eight")),
    *_COUNT_ROWS,
)


def of_answer(answer: str, index: Index) -> Iterator[Found]:
    """Yield the classic mistakes about the tensor and the function in an answer's expression."""
    subject = _subject(answer)
    if subject is None:
        yield from _rows(_NUMBER_ROWS, Subject(answer, "", ""), index)
        return
    for family in _FAMILIES.get(subject.function, (_numbers,)):
        try:
            yield from (found for found in family(subject, index) if found[1] is not None)
        except (NotOnTape, BadExpression, ArithmeticError, LookupError, TypeError, ValueError):
            continue


def _subject(answer: str) -> Subject | None:
    """Return the parts of ``grad(x)``, ``value(c)[0][0]`` and the like; None for anything else."""
    try:
        node = parse.parse_expression(answer.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    items: list[int] = []
    while isinstance(node, ast.Subscript):
        key = _constant(node.slice)
        if not isinstance(key, int):
            return None
        items.insert(0, key)
        node = node.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    at = next((_constant(pair.value) for pair in node.keywords if pair.arg == "at"), "")
    name = ""
    if node.args:
        first = _constant(node.args[0])
        name = first if isinstance(first, str) else ast.unparse(node.args[0])
    return Subject(answer, node.func.id, name, str(at or ""), tuple(items))


def _constant(node: ast.AST) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None


def _rows(rows: tuple[Row, ...], subject: Subject, index: Index) -> Iterator[Found]:
    words = {name: subject.call(name) for name in ("value", "grad", "shape", "ndim", "numel")}
    for kind, expression, reply in rows:
        filled = expression.format(
            a=subject.answer,
            x=subject.name,
            whole=subject.call(subject.function),
            **words,
        )
        try:
            wrong = evaluate(filled, index)
        except (NotOnTape, BadExpression):
            continue
        if kind not in ("total", "twice", "half", "sign", "none"):
            wrong = _item(wrong, subject)
        if wrong is not None:
            yield kind, wrong, reply.format(x=subject.name)


def _added(shares: list[Answer]) -> Answer:
    """Return the sum of shares; None where there are none, or their shapes differ."""
    if not shares:
        return None
    arrays = [np.asarray(share, "f8") for share in shares]
    if len({array.shape for array in arrays}) > 1:
        return None
    return _plain(np.sum(arrays, axis=0))


def _plain(found: np.ndarray) -> Answer:
    array = np.asarray(found)
    return array if array.ndim else array.item()


def _item(found: Answer, subject: Subject) -> Answer:
    """Return the item of a whole tensor's numbers that the answer takes."""
    for key in subject.items:
        if not isinstance(found, np.ndarray | list) or not -len(found) <= key < len(found):
            return None
        found = found[key]
    return _plain(np.asarray(found)) if isinstance(found, np.generic | np.ndarray) else found


def _passes(subject: Subject, index: Index) -> Iterator[Found]:
    """Yield what the last of several passes brought."""
    brought = _added(tape_functions.shares(index, subject.name, subject.at or "end"))
    reply = tr("That is what the last pass brought. What was in `.grad` before?")
    yield tr("last pass"), _item(brought, subject), reply


def _gradients(subject: Subject, index: Index) -> Iterator[Found]:
    """Yield what one share, the gradient above, or the local slope alone would be."""
    at = subject.at or "end"
    sent = tape_functions.sent_shares(index, subject.name, at)
    slopes: list[np.ndarray] = []
    for share in sent:
        given = _array(index, share.sent)
        above = _array(index, share.arrived)
        user = (
            f"`{value_name(index, share.result)}`"
            if share.result is not None
            else tr("one of its uses")
        )
        if given is not None and len(sent) > 1:
            twice = sum(other.result == share.result for other in sent) > 1
            reply = tr(
                "That is the share through {user}. Who else uses `{name}`?",
                user=user,
                name=subject.name,
            )
            if twice:
                reply = tr(
                    "That is the share of one use. How often does {user} use `{name}`?",
                    user=user,
                    name=subject.name,
                )
            yield "share", _item(_plain(given), subject), reply
        if above is not None:
            reply = tr(
                "That is what arrives at {user}. What does it pass on to `{name}`?",
                user=user,
                name=subject.name,
            )
            yield "upstream", _item(_plain(above), subject), reply
        if given is not None and above is not None and _divides(given, above):
            slopes.append(given / above)
    if sent and len(slopes) == len(sent) and len({slope.shape for slope in slopes}) == 1:
        reply = tr("That is the local slope alone. What arrives from above?")
        yield "local", _item(_plain(np.sum(slopes, axis=0)), subject), reply


def _divides(given: np.ndarray, above: np.ndarray) -> bool:
    return (given.shape == above.shape or not above.ndim) and bool(np.all(above != 0))


def _array(index: Index, snapshot: int | None) -> np.ndarray | None:
    found = index.snapshot(snapshot)
    array = found.array() if found is not None else None
    return None if array is None else np.asarray(array, "f8")


def _gradient_rows(subject: Subject, index: Index) -> Iterator[Found]:
    yield from _rows(_GRAD_ROWS, subject, index)


def _values(subject: Subject, index: Index) -> Iterator[Found]:
    """Yield the values before an update, and after one in the wrong direction."""
    old = tape_functions.earlier(index, subject.name, subject.at or "end")
    if old:
        now = np.asarray(tape_functions.value(index, subject.name, subject.at or "end"), "f8")
        before = np.asarray(old[-1], "f8")
        reply = tr("That is `{name}` before the last change", name=subject.name)
        yield "before", _item(_plain(before), subject), reply
        reply = tr("That goes the other way: with the gradient or against it?")
        yield "uphill", _item(_plain(2 * before - now), subject), reply
        yield "change", _item(_plain(now - before), subject), tr("That is only how far it moves")


def _operands(subject: Subject, index: Index) -> Iterator[Found]:
    """Yield the values that go into the op which made the tensor."""
    place = position_of(index, subject.at or "end")
    made = tape_functions.named(index, subject.name, place)
    if made.op is None:
        return
    op = index.op(made.op)
    for used in op.inputs:
        wrong = _array(index, index.snapshot_at(used, index.op_events[made.op]))
        if wrong is not None:
            name = value_name(index, used)
            reply = tr("That is `{name}`, which goes in. What is done to it?", name=name)
            yield "operand", _item(_plain(wrong), subject), reply


def _value_rows(subject: Subject, index: Index) -> Iterator[Found]:
    yield from _rows(_VALUE_ROWS, subject, index)


def _means(subject: Subject, index: Index) -> Iterator[Found]:
    """Yield the answer for a sum in the place of a mean, and for a mean in that of a sum."""
    right = evaluate(subject.answer, index)
    if right is None:
        return
    true = np.asarray(right, "f8")
    for op in _reductions(subject, index):
        shape = index.values[op.inputs[0]].shape
        count = shape[0] if op.op in LOGITS and shape else math.prod(shape)
        count = count if subject.function == "grad" else count // max(1, true.size)
        if count > 1 and op.op in MEANS:
            yield "sum", _plain(true * count), tr("That would be right for a sum. Here is a mean")
        elif count > 1 and op.op == "sum":
            yield "mean", _plain(true / count), tr("That would be right for a mean. Here is a sum")
    if subject.function == "grad" and any(op.op in SQUARES for op in _reductions(subject, index)):
        yield "half", _plain(true / 2), tr("That is half of it: what does the exponent bring down?")


def _reductions(subject: Subject, index: Index) -> list[Op]:
    """Return the ops behind a gradient, or the op that made a value."""
    if subject.function == "grad":
        return [
            op for op in index.tape.ops if op.inputs and any(n in index.node_runs for n in op.nodes)
        ]
    place = position_of(index, subject.at or "end")
    made = tape_functions.named(index, subject.name, place)
    return [index.op(made.op)] if made.op is not None and index.op(made.op).inputs else []


def _transposed(subject: Subject, index: Index) -> Iterator[Found]:
    right = evaluate(subject.answer, index)
    if isinstance(right, np.ndarray) and right.ndim == 2:
        yield "transposed", right.T, tr("That is turned over: rows and columns are swapped")
    if isinstance(right, np.ndarray) and right.size > 1 and np.all(right == right.flat[0]):
        reply = tr(
            "That is one of them. `{name}` has more numbers: what is its shape?", name=subject.name
        )
        yield "one", right.flat[0].item(), reply


def _shapes(subject: Subject, index: Index) -> Iterator[Found]:
    """Yield the shape turned over, those of what goes in, and those with a length more or less."""
    right = evaluate(subject.answer, index)
    if not isinstance(right, list):
        return
    place = position_of(index, subject.at or "end")
    made = tape_functions.named(index, subject.name, place)
    if subject.function == "stride":
        yield "shape", list(made.shape), tr("That is the shape. How far apart are two neighbours?")
    yield "reversed", right[::-1], tr("The right lengths the other way round: which comes first?")
    for used in index.op(made.op).inputs if made.op is not None else ():
        reply = tr(
            "That is the shape of `{value_name}`, which goes in", value_name=value_name(index, used)
        )
        yield "operand", list(index.values[used].shape), reply
    if len(right) > 1:
        yield "short", right[1:], tr("That has lost the first length")
        yield "short", right[:-1], tr("That has lost the last length")
    yield "long", [1, *right], tr("That has a length of 1 too many, in front")
    yield "long", [*right, 1], tr("That has a length of 1 too many, at the end")


def _numels(subject: Subject, index: Index) -> Iterator[Found]:
    yield from _rows(_NUMEL_ROWS, subject, index)


def _sizes(subject: Subject, index: Index) -> Iterator[Found]:
    yield from _rows(_SIZE_ROWS, subject, index)


def _parameters(subject: Subject, index: Index) -> Iterator[Found]:
    """Yield the parameters without biases, the biases alone, and the number of tensors."""
    tensors = {v.tensor: v.shape for v in index.tape.values if v.role == "parameter"}
    shapes = list(tensors.values())
    weights = sum(math.prod(shape) for shape in shapes if len(shape) > 1)
    biases = sum(math.prod(shape) for shape in shapes if len(shape) == 1)
    if weights and biases:
        yield "weights", weights, tr("That is the weights alone. What else does a layer learn?")
        yield "biases", biases, tr("That is the biases alone. What else does a layer learn?")
    yield "tensors", len(shapes), tr("That counts tensors. How many numbers are in them?")
    yield from _rows(_COUNT_ROWS, subject, index)


def _numbers(subject: Subject, index: Index) -> Iterator[Found]:
    yield from _rows(_NUMBER_ROWS, subject, index)


def _counts(subject: Subject, index: Index) -> Iterator[Found]:
    yield from _rows(_COUNT_ROWS, subject, index)


Family = Callable[[Subject, Index], Iterator[Found]]
_FAMILIES: dict[str, tuple[Family, ...]] = {
    "grad": (_passes, _gradients, _gradient_rows, _means, _transposed),
    "value": (_values, _operands, _value_rows, _means, _transposed),
    "values": (_means,),
    "shape": (_shapes,),
    "stride": (_shapes,),
    "numel": (_numels,),
    "size": (_sizes,),
    "parameters": (_parameters,),
    "count": (_counts,),
    "len": (_counts,),
}
