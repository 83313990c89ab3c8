"""Choice of a model that accepts the data that was just picked."""

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import Catalogue


def with_matching_model(before: Setup, after: Setup, catalogue: Catalogue) -> Setup:
    """Return ``after``; if its data are different ones, with a model that accepts them.

    That is its own model if possible, else the default model, else the first that fits.
    """
    if after.data.name == before.data.name:
        return after
    entries = {(entry.kind, entry.name): entry for entry in catalogue.entries}
    data = entries.get(("data", after.data.name))
    names = [after.model.name, Setup().model.name]
    names += [entry.name for entry in catalogue.entries if entry.kind == "model"]
    for name in names:
        model = entries.get(("model", name))
        takes = model.takes if model is not None else ()
        if data is None or data.inputs == "any" or not takes or data.inputs in takes:
            return after if name == after.model.name else replace(after, model=Part(name))
    return after
