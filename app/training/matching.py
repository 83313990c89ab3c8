"""The model that data one has just picked can be given to."""

from msgspec.structs import replace

from engine.setup import Part, Setup
from engine.training import Catalogue

_TAKES = {
    "1": ("1", "n"),
    "vector": ("1", "2", "3", "n"),
    "numbers": ("1", "2", "3", "n", "image"),
    "any": None,
}
"""What a model may be given, by the word for it in the catalogue; None: everything."""


def matched(before: Setup, after: Setup, catalogue: Catalogue) -> Setup:
    """Return ``after``, where its data are other ones with a model that takes them.

    The one that it has stays where it may do; else the usual one, else the first that takes them.
    """
    if after.data.name == before.data.name:
        return after
    inputs = {(entry.kind, entry.name): entry.inputs for entry in catalogue.entries}
    has = inputs.get(("data", after.data.name), "any")
    names = [after.model.name, Setup().model.name]
    names += [entry.name for entry in catalogue.entries if entry.kind == "model"]
    for name in names:
        takes = inputs.get(("model", name), "any")
        known = _TAKES.get(takes, (takes,))
        if known is None or has == "any" or has in known:
            return after if name == after.model.name else replace(after, model=Part(name))
    return after
