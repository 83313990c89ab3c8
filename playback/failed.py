"""The failure of a program in its picture: the call that raised, as a card of its own."""

from engine.tape import Op
from playback import sizes, symbols
from playback.folding import Plan, Unit
from playback.index import Index
from playback.picture import Card
from playback.scenes import Scene


def message(index: Index, scene: Scene) -> str:
    """Return the first line of the error that ends a scene; empty where it ends without error."""
    error = index.tape.error
    if error is None or scene.stop < len(index.tape.events):
        return ""
    first = error.message.strip().partition("\n")[0]
    return first or error.type


def unit(index: Index, plan: Plan, op: Op) -> Unit:
    """Return the innermost open unit around the failed call, which is not in the plan's ops."""
    opened = {call: frame for frame in plan.frames for call in frame.calls}
    at = op.call
    while at is not None and at not in opened:
        at = index.tape.calls[at].parent
    return opened[at] if at is not None else Unit("", ())


def card(op: Op, key: str, error: str, frame: str) -> Card:
    """Return the card of a call that failed; ``told`` is the error message."""
    title = symbols.title(op)
    width, height = sizes.failed(title, op.scope, error)
    return Card(
        key,
        "op",
        title,
        name=op.scope,
        symbol=symbols.symbol(op),
        note=error,
        frame=frame,
        scalar=False,
        failed=error,
        width=width,
        height=height,
    )
