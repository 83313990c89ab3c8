"""backward on a tensor with more than one element."""

from collections.abc import Iterator

from engine.doctor.entry import Entry, Found
from engine.doctor.errors import failing, named
from engine.doctor.evidence import Evidence
from engine.doctor.numbers import shape
from engine.doctor.program import receiver


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield the failed call, with the shape of what it was called on."""
    error = failing(evidence, "grad can be implicitly created only for scalar outputs")
    if error is None:
        return
    program = evidence.program
    calls = [c for c in program.calls("backward") if c.lineno == error.place.line]
    owner = receiver(calls[0]) if calls else None
    value = named(evidence, owner) if owner is not None else None
    name = program.source(owner) if owner is not None else "the root"
    what = f"{name} has shape {shape(value.shape)}" if value is not None else f"{name} is no scalar"
    fix = ""
    if owner is not None:
        fix = program.replaced((owner, f"{_closed(name)}.sum()"))
    related = (evidence.place_of(value.id),) if value is not None else ()
    message = f"{what}: backward() without gradient= needs one number to start from"
    yield Found(error.place, message, related, fix)


def _closed(text: str) -> str:
    simple = text.replace("_", "").replace(".", "").isalnum() or text.endswith((")", "]"))
    return text if (simple and not text.startswith("(")) or text.endswith(")") else f"({text})"


ENTRY = Entry(
    "backward-on-vector",
    "A vector has no backward of its own",
    "A vector has no single gradient: backward computes a vector-Jacobian product and must be told "
    "the vector. Make one number of it first, with .sum() or .mean(), or pass gradient=.",
    detect,
)
