"""Find the recorded history of a card's tensor: which numbers of which tensor, or why none."""

from typing import NamedTuple

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.training import RunStarted
from gradscribe.playback.graph.picture import Card
from gradscribe.playback.translation import tr

WEIGHTS, GRADIENTS, ACTIVATIONS = range(3)


class History(NamedTuple):
    """A tensor of the chart of spreads; without a ``name``, ``reason`` says why there is none."""

    kind: int = WEIGHTS
    name: str = ""
    reason: str = ""


def history_of(card: Card, tape: Tape, begun: RunStarted, kind: int = WEIGHTS) -> History:
    """Return the history of the tensor of a card of a step's graph.

    A parameter has its weights and gradients, of which ``kind`` is preferred, a layer the output
    that the run collects, and a folded layer without one its first parameter.
    """
    parameters = [parameter.name for parameter in begun.parameters]
    if card.kind == "parameter":
        name = _inside(card.name)
        if name in parameters:
            return History(GRADIENTS if kind == GRADIENTS else WEIGHTS, name)
        return History(reason=tr("{name} is not collected over the steps", name=card.name))
    if card.kind == "loss":
        return History(reason=tr("The chart Loss shows the loss over the steps"))
    if card.kind == "data":
        return History(
            reason=tr("{title} has other numbers at each step: another batch", title=card.title)
        )
    if card.call is None:
        return History(reason=tr("{title} is not collected over the steps", title=card.title))
    unit = _units(tape, begun).get(card.call)
    if unit is not None:
        return History(ACTIVATIONS, unit)
    path = _inside(tape.calls[card.call].name)
    own = [name for name in parameters if name.startswith(f"{path}.")]
    if own:
        return History(GRADIENTS if kind == GRADIENTS else WEIGHTS, own[0])
    return History(reason=tr("The output of {path} is not collected over the steps", path=path))


def _inside(name: str) -> str:
    """Return a name without the variable of the model."""
    return name.partition(".")[2]


def _units(tape: Tape, begun: RunStarted) -> dict[int, str]:
    """Return call -> title of the layer whose collected output is that call's.

    The output of a layer is collected after its activation where that is a module.
    """
    found: dict[int, str] = {}
    for unit in begun.layers or begun.units:
        starts = [at for at, call in enumerate(tape.calls) if _inside(call.name) == unit.name]
        for at in starts[:1]:
            last = next(
                (n for n in range(at, len(tape.calls)) if tape.calls[n].kind == unit.kind), at
            )
            found[last] = unit.title
    return found
