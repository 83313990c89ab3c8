"""Edit commands; undo is the editor's, or the training page's."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import Shell


@command("edit.undo", "Undo", menu="Edit/1", keys=("Ctrl+Z",))
def undo(shell: Shell) -> None:
    """Undo the last change of the text, or of the set-up in Training."""
    if shell.workspace == "training":
        shell.training.controller.undo()
    else:
        shell.editor.undo()


@command("edit.redo", "Redo", menu="Edit/1", keys=("Ctrl+Shift+Z", "Ctrl+Y"))
def redo(shell: Shell) -> None:
    """Repeat the last change that was undone."""
    if shell.workspace == "training":
        shell.training.controller.redo()
    else:
        shell.editor.redo()


@command("edit.cut", "Cut", menu="Edit/2", keys=("Ctrl+X",))
def cut(shell: Shell) -> None:
    """Move the selected text to the clipboard."""
    shell.editor.cut()


@command("edit.copy", "Copy", menu="Edit/2", keys=("Ctrl+C",))
def copy(shell: Shell) -> None:
    """Copy the selected text to the clipboard."""
    shell.editor.copy()


@command("edit.paste", "Paste", menu="Edit/2", keys=("Ctrl+V",))
def paste(shell: Shell) -> None:
    """Insert the text of the clipboard."""
    shell.editor.paste()


@command("edit.select_all", "Select all", menu="Edit/2", keys=("Ctrl+A",))
def select_all(shell: Shell) -> None:
    """Select the whole program."""
    shell.editor.setFocus()
    shell.editor.selectAll()


@command("edit.comment", "Comment or uncomment", menu="Edit/3", keys=("Ctrl+/",))
def comment(shell: Shell) -> None:
    """Put a # before the selected lines, or remove it."""
    shell.toggle_comment()


@command("edit.find", "Find", menu="Edit/3", keys=("Ctrl+F",))
def find(shell: Shell) -> None:
    """Search for a text in the program, or in the graph if it has the focus."""
    shell.open_find()


@command("edit.find_graph", "Find in the graph", menu="Edit/3", keys=("Ctrl+Shift+F",))
def find_graph(shell: Shell) -> None:
    """Search the graph for a name, an op, a shape such as 16 × 8, a module, nan or inf."""
    shell.open_graph_find()
