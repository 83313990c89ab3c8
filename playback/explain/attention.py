"""Attention maps: which values are attention weights, names of their rows, a sentence on a row."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.tape import Op, Tape, Value, WordList
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

PASSING = frozenset(
    ("dropout", "dropout_", "to", "type_as", "contiguous", "clone", "view", "reshape", "nan_to_num")
)
"""Ops between the softmax and the product after which weights are still weights."""
PRODUCTS = frozenset(("matmul", "bmm", "mm", "einsum", "baddbmm"))
MAX_HOPS = 4
MAX_TIES = 3
"""Equally strong columns that are named."""
SEQUENCE_NAMES = ("token", "word", "sentence", "text", "char", "seq")
VOCABULARY_NAMES = ("voc", "itos", "alphabet", "letters")


def is_attention(index: Index, value: Value) -> bool:
    """Return whether a value holds attention weights: rows that weight the rows of a product.

    It came out of a softmax and is the left factor of a matrix product, both perhaps by way of a
    dropout or a change of shape; or it is the second result of torch's own attention.
    """
    if len(value.shape) < 2 or value.op is None:
        return False
    op = index.op(value.op)
    if op.op == "multi_head_attention_forward":
        return len(op.outputs) > 1 and value.id == op.outputs[1]
    return _comes_from_softmax(index, op) and _weights_a_product(index, value.id)


def _comes_from_softmax(index: Index, op: Op) -> bool:
    for _ in range(MAX_HOPS):
        if op.op == "softmax":
            return True
        if op.op not in PASSING or not op.inputs:
            return False
        source = index.values[op.inputs[0]]
        if source.op is None:
            return False
        op = index.op(source.op)
    return False


def _weights_a_product(index: Index, value: int) -> bool:
    reached = {value}
    for _ in range(MAX_HOPS):
        users = [op for op in _forward_ops(index.tape) if op.inputs and op.inputs[0] in reached]
        if any(op.op in PRODUCTS for op in users):
            return True
        reached = {o for op in users if op.op in PASSING for o in op.outputs}
    return False


def _forward_ops(tape: Tape) -> Iterator[Op]:
    return (op for op in tape.ops if op.phase == "forward")


def row_names(index: Index, size: int) -> tuple[str, tuple[str, ...]]:
    """Return where the names of ``size`` positions come from, and the names; empty if unknown.

    They are the entries of a vocabulary at the ids that an embedding looked up, or a list of texts
    of that length. Where several lists fit, there is no telling, and there are no names.
    """
    return index.cached(f"names of {size} rows", lambda found: _row_names(found.tape, size))


def _row_names(tape: Tape, size: int) -> tuple[str, tuple[str, ...]]:
    fitting = [found for found in tape.word_lists if len(found.words) == size]
    if (looked_up := _looked_up(tape, size)) is not None:
        same = next((found for found in fitting if found.words == looked_up.words), None)
        return _pair(same or looked_up)
    if (
        chosen := _only(found for found in fitting if _is_named(found, SEQUENCE_NAMES))
    ) is not None:
        return _pair(chosen)
    rest = (found for found in fitting if not _is_named(found, VOCABULARY_NAMES))
    return _pair(_only(rest))


def _pair(found: WordList | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if found is None else (found.name, found.words)


def _is_named(found: WordList, parts: Sequence[str]) -> bool:
    return any(part in found.name.lower() for part in parts)


def _only(found: Iterator[WordList]) -> WordList | None:
    """Return the list that is there, under one name or several; None if they differ."""
    by_words = {item.words: item for item in found}
    return next(iter(by_words.values())) if len(by_words) == 1 else None


def _looked_up(tape: Tape, size: int) -> WordList | None:
    """Return the vocabulary's entries at the ids that the program's embeddings looked up."""
    values = {value.id: value for value in tape.values}
    found = dict[tuple[str, ...], WordList]()
    for op in _forward_ops(tape):
        if op.op != "embedding" or len(op.inputs) < 2:
            continue
        ids, table = (values[number] for number in op.inputs[:2])
        vocabulary = _only(w for w in tape.word_lists if len(w.words) == table.shape[0])
        numbers = tape.snapshots[ids.snapshot].array() if ids.snapshot is not None else None
        if vocabulary is None or numbers is None or numbers.size != size:
            continue
        flat = [int(number) for number in numbers.reshape(-1)]
        if all(0 <= at < len(vocabulary.words) for at in flat):
            words = tuple(vocabulary.words[at] for at in flat)
            found[words] = WordList(vocabulary.name, words)
    return next(iter(found.values())) if len(found) == 1 else None


def name_of(names: Sequence[str], at: int, kind: str) -> str:
    """Return ``“mat”``, with its index if the name occurs twice, or ``column 5`` without names."""
    if not names:
        return f"{kind} {at}"
    name = names[at] if names[at].strip() else repr(names[at])[1:-1]
    return f"“{name}”" if list(names).count(names[at]) == 1 else f"“{name}” [{at}]"


def sentence(
    numbers: NDArray[np.generic], row: int, names: tuple[Sequence[str], Sequence[str]]
) -> str:
    """Return the sentence on a row of weights: its strongest column, with the tensor's number.

    ``names``: of the rows and the columns, empty if there are none.
    """
    rows, columns = names
    weights = np.asarray(numbers[row])
    who = name_of(rows, row, "row")
    who = who[0].upper() + who[1:]
    if not weights.size or not np.isfinite(weights.astype(np.float64)).all():
        return tr("{who} has weights that are no numbers", who=who)
    top = weights.max()
    at = [int(i) for i in np.flatnonzero(weights == top)]
    number = formatting.number(top.item(), 2)
    if len(at) == len(weights) and len(at) > 1:
        return tr(
            "{who} looks at all {at_count} alike with {number}",
            who=who,
            at_count=len(at),
            number=number,
        )
    if len(at) > MAX_TIES:
        return tr(
            "{who} looks at {at_count} columns alike with {number}",
            who=who,
            at_count=len(at),
            number=number,
        )
    strongest = tr(" and ").join(name_of(columns, i, "column") for i in at)
    return (
        tr(
            "{who} looks at {strongest} with {number} each",
            who=who,
            strongest=strongest,
            number=number,
        )
        if len(at) > 1
        else tr(
            "{who} looks at {strongest} with {number}", who=who, strongest=strongest, number=number
        )
    )
