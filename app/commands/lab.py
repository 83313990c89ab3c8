"""The shape lab: on its first example, or on the selected op of the graph."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import Shell


def _has_op(shell: Shell) -> bool:
    return bool(shell.selected_lines())


@command("lab.open", "Shape lab", "View/6", keys=("Ctrl+Shift+L",))
def open_lab(shell: Shell) -> None:
    """See how the shape of a result follows from its inputs, cell by cell."""
    shell.show_lab("")


@command("lab.selected", "Selected op in the shape lab", "View/6", keys=("Ctrl+L",), when=_has_op)
def open_selected(shell: Shell) -> None:
    """See the selected op's own tensors cell by cell."""
    shell.show_lab(shell.selected_lines())
