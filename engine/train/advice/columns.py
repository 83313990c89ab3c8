"""Input columns that say nothing, say the same, or say the target."""

from collections.abc import Iterator

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import RunFacts

LEAST_ROWS = 8
"""Fewer rows may agree by chance: two columns of zeros and ones do so in 1 of 2^8 tables of 8 rows,
and a product of small tables, as in XOR, has columns like this on purpose."""
LEAST_CODED_ROWS = 20
"""Rows from which on a column with a value for each class, and no other, is no accident."""
LEAST_VALUES = 5
"""Distinct values from which on a straight line through all rows shows that a column is another in
other units; a line goes through any two."""
SAMPLE = 64
TOLERANCE = 1e-9
"""Largest distance from the line, in units of the columns' deviation: the digits of a file."""
MOST_NAMED = 3


def find(facts: RunFacts) -> Iterator[Advice]:
    """Yield the columns that are constant, repeat another one, or hold the target.

    Equal in every row is a fact, not a guess: the only threshold is the number of rows.
    """
    columns = facts.columns
    if not columns:
        return
    same = _are_same(facts.program.x) if facts.rows >= LEAST_ROWS else []
    constant = [name for name, at in facts.places.items() if all(same[at])]
    if constant and len(constant) < len(columns):
        yield _of_constant(facts, constant)
    left = {name: column for name, column in columns.items() if name not in constant}
    leaks = [name for name, column in left.items() if _holds_target(facts, name, column)]
    for name in leaks[:MOST_NAMED]:
        yield _of_leak(facts, name)
    pairs = _repeated({name: column for name, column in left.items() if name not in leaks})
    for name, line in pairs[:MOST_NAMED]:
        words = f"Column {name!r} is {line} in every row: it adds nothing"
        yield Advice("columns", "data.inputs", words, *_without(facts, [name]))


def _are_same(x: torch.Tensor) -> list[bool]:
    """Return whether each column has the same number in every row."""
    return (x == x[0]).all(dim=0).tolist()


def _of_constant(facts: RunFacts, names: list[str]) -> Advice:
    shown = ", ".join(repr(name) for name in names[:MOST_NAMED])
    if len(names) == 1:
        value = facts.columns[names[0]][0]
        is_number = names[0] in facts.program.raw_names
        same = f"{value.item():g}" if is_number else "the same"
        words = f"Column {shown} is {same} in every row: nothing can be learned from it"
    else:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        words = f"Columns {shown}{more} are the same in every row: they teach nothing"
    return Advice("columns", "data.inputs", words, *_without(facts, names))


def _without(facts: RunFacts, names: list[str]) -> tuple[str, dict[str, JsonValue]]:
    """Return the button that leaves out columns, and its change; none if nothing would be left.

    Features name their inputs by number, which would change.
    """
    given = facts.setup.data.options["inputs"]
    left: list[object] = [n for n in given if n not in names] if isinstance(given, list) else []
    if not left or facts.setup.features:
        return "", {}
    what = names[0] if len(names) == 1 else f"{len(names)} columns"
    return f"Leave out {what}", {"data.inputs": left}


def _holds_target(facts: RunFacts, name: str, column: torch.Tensor) -> bool:
    if name in facts.program.target_names:
        return True
    y = facts.program.y
    if facts.program.task == "regression":
        enough = facts.rows >= LEAST_ROWS and y.shape[1] == 1 and not all(_are_same(y))
        return enough and column.shape == y.shape and bool((column == y.double()).all())
    if not facts.has_classes or facts.rows < LEAST_CODED_ROWS:
        return False
    # A look at some rows spares a sort of all for nearly every column.
    if column.shape[1] == 1 and len(set(column[:SAMPLE, 0].tolist())) > len(facts.class_counts):
        return False
    return all(_is_coded(column[:rows], y[:rows]) for rows in (SAMPLE, None))


def _is_coded(column: torch.Tensor, y: torch.Tensor) -> bool:
    """Return whether each class has one value, and each value one class."""
    values, codes = torch.unique(column, dim=0, return_inverse=True)
    pairs = torch.unique(torch.stack([codes, y], dim=1), dim=0)
    return len(values) == len(torch.unique(y)) == len(pairs) > 1


def _of_leak(facts: RunFacts, name: str) -> Advice:
    words = f"The target {name!r} is among the inputs"
    if name not in facts.program.target_names:
        words = f"Column {name!r} holds the target {facts.target!r} under another name"
    words += ": the model copies it and learns nothing"
    return Advice("columns", "data.inputs", words, *_without(facts, [name]))


def _repeated(columns: dict[str, torch.Tensor]) -> list[tuple[str, str]]:
    """Return columns that are a straight line of an earlier one, with a description."""
    single = {name: column[:, 0] for name, column in columns.items() if column.shape[1] == 1}
    if len(single) < 2 or len(next(iter(single.values()))) < LEAST_ROWS:
        return []
    names = list(single)
    sample = torch.stack([column[:: max(1, len(column) // 512)] for column in single.values()])
    centred = sample - sample.mean(dim=1, keepdim=True)
    unit = centred / centred.norm(dim=1, keepdim=True).clamp(min=1e-300)
    close = ((unit @ unit.T).abs() > 1 - 1e-6).triu(1).nonzero().tolist()
    found, gone = list[tuple[str, str]](), set[str]()
    for first, second in close:
        if names[first] in gone or names[second] in gone:
            continue
        line = _line(single[names[first]], single[names[second]], names[first])
        if line:
            gone.add(names[second])
            found.append((names[second], line))
    return found


def _line(first: torch.Tensor, second: torch.Tensor, name: str) -> str:
    """Return the second column as a line of the first, exact in every row; else empty."""
    if bool((first == second).all()):
        return f"equal to {name!r}"
    if len(torch.unique(first)) < LEAST_VALUES:
        return ""
    low, high = int(first.argmin()), int(first.argmax())
    slope = ((second[high] - second[low]) / (first[high] - first[low])).item()
    offset = (second[low] - slope * first[low]).item()
    apart = (second - slope * first - offset).abs().max().item()
    if apart > TOLERANCE * second.std().item() or not slope:
        return ""
    sign = "" if abs(offset) <= TOLERANCE * second.abs().max().item() else f" {offset:+.6g}"
    return f"{name!r} times {slope:.6g}{sign.replace('+', 'plus ').replace('-', 'minus ')}"


ENTRY = AdviceKind(find, order=10, of_data=True)
