"""The shape lab: on its first example, or on the selected op of the graph."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext


def _has_op(context: CommandContext) -> bool:
    return bool(context.selected_lines())


@command("lab.open", "Shape lab", "View/6", keys=("Ctrl+Shift+L",))
def open_lab(context: CommandContext) -> None:
    """See how the shape of a result follows from its inputs, cell by cell."""
    context.show_lab("")


@command("lab.selected", "Selected op in the shape lab", "View/6", keys=("Ctrl+L",), when=_has_op)
def open_selected(context: CommandContext) -> None:
    """See the selected op's own tensors cell by cell."""
    context.show_lab(context.selected_lines())
