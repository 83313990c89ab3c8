"""The failure of a program in its picture: the call that raised, as a card of its own."""

from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.graph import sizes
from gradscribe.playback.graph.folding.modules import FoldingPlan
from gradscribe.playback.graph.folding.units import ModuleUnit
from gradscribe.playback.graph.picture import Card
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.text import symbols


def error_line(index: Index, scene: Scene) -> str:
    """Return the first line of the error that ends a scene; empty where it ends without error."""
    error = index.tape.error
    if error is None or scene.stop < len(index.tape.events):
        return ""
    first = error.message.strip().partition("\n")[0]
    return first or error.type


def open_unit_around(index: Index, plan: FoldingPlan, op: Op) -> ModuleUnit:
    """Return the innermost open unit around the failed call, which is not in the plan's ops."""
    opened = {call: frame for frame in plan.frames for call in frame.calls}
    at = op.call
    while at is not None and at not in opened:
        at = index.tape.calls[at].parent
    return opened[at] if at is not None else ModuleUnit("", ())


def card(op: Op, key: str, error: str, frame: str) -> Card:
    """Return the card of a call that failed; ``told`` is the error message."""
    title = symbols.op_title(op)
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
