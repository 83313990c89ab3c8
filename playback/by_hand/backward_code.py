"""The beginning of hand-written backward code for a program: its tensors, from the loss back."""

from gradscribe.engine.protocol.messages import HandName
from gradscribe.playback.by_hand.targets import HandTarget
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr


def outline(targets: list[HandTarget], names: tuple[HandName, ...], root: str) -> str:
    """Return comments with the names to assign, in the order of the backward pass.

    ``targets`` go from the loss to the leaves.
    """
    by_value = {named.value: named.name for named in names}
    lines = [
        tr(
            "# The gradients of {root}, by hand. Assign dw for a tensor named w, then check.",
            root=root,
        ),
        tr("# All names of the program are there; tensors are copies without a graph."),
    ]
    for target in targets:
        name = by_value.get(target.value)
        if name is not None:
            lines.append(f"# d{name} =    # {formatting.shape(target.shape)}")
    return "\n".join(lines) + "\n"
