"""A tensor became a Python number in the middle of the computation."""

from collections.abc import Iterator

from engine.doctor import cuts
from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.program import called
from engine.doctor.remake import rebuilt

_WORDS = cuts.Words(
    frozenset(("item", "tolist")), frozenset(("float", "int")), frozenset(("math",))
)


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield each number extracted from a tensor and then used to compute the loss."""
    for taken in cuts.taken_out(evidence, _WORDS):
        place = evidence.program.place(taken.call)
        names = cuts.told(taken.leaves)
        name = called(taken.call)
        message = (
            f"{name}() on line {place.line} makes a plain Python number of "
            f"{evidence.program.source(taken.owner)}: {names} cannot get a gradient through it"
        )
        related = (evidence.place_of(taken.value.id), taken.leaves[0].place)
        yield Found(place, message, related, rebuilt(evidence.program, taken))


ENTRY = Entry(
    "cut-by-item",
    "A Python number in between",
    "A Python number has no history. Compute with the tensor, and take .item() only for printing "
    "and logging.",
    detect,
)
