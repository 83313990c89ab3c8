"""What a program ended in, in its picture: the call that raised, or the card of a backward node."""

from engine.tape import Op
from playback import sizes, symbols
from playback.folding import Plan, Unit
from playback.index import Index
from playback.picture import Card
from playback.scenes import Scene


def message(index: Index, scene: Scene) -> str:
    """Return the first line of the error in which a scene ends; empty where it ends in none."""
    error = index.tape.error
    if error is None or scene.stop < len(index.tape.events):
        return ""
    first = error.message.strip().partition("\n")[0]
    return first or error.type


def unit(index: Index, plan: Plan, op: Op) -> Unit:
    """Return the innermost open module around a call that failed: no recorded op tells of it."""
    opened = {call: one for one in plan.frames for call in one.calls}
    at = op.call
    while at is not None and at not in opened:
        at = index.tape.calls[at].parent
    return opened[at] if at is not None else Unit("", ())


def card(op: Op, key: str, told: str, frame: str) -> Card:
    """Return the card of a call that failed; ``told`` is what it raised."""
    title = symbols.title(op)
    width, height = sizes.failed(title, op.scope, told)
    return Card(
        key, "op", title, name=op.scope, symbol=symbols.symbol(op), note=told, frame=frame,
        scalar=False, failed=told, width=width, height=height,
    )  # fmt: skip
