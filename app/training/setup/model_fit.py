"""Choice of a model that accepts the data that was just picked."""

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import Catalogue

_TAKES = {
    "1": ("1", "n"),
    "vector": ("1", "2", "3", "n"),
    "numbers": ("1", "2", "3", "n", "image"),
    "any": None,
}
"""The kinds of data that a model accepts, by its ``inputs`` in the catalogue; None: all."""


def with_matching_model(before: Setup, after: Setup, catalogue: Catalogue) -> Setup:
    """Return ``after``; if its data are different ones, with a model that accepts them.

    That is its own model if possible, else the default model, else the first that fits.
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
