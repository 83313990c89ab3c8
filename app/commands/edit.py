"""Edit commands: undo on either page, the clipboard for the field that has the keyboard."""

from typing import Any, Protocol

from PySide6.QtGui import QGuiApplication

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.translation import tr


@command("edit.undo", tr("Undo"), menu="Edit/1", keys=("Ctrl+Z",))
def undo(context: CommandContext) -> None:
    """Undo the last change of the text, or of the set-up in Training."""
    if context.workspaces.current == "training":
        context.training.controller.undo()
    else:
        context.editor.undo()


@command("edit.redo", tr("Redo"), menu="Edit/1", keys=("Ctrl+Shift+Z", "Ctrl+Y"))
def redo(context: CommandContext) -> None:
    """Repeat the last change that was undone."""
    if context.workspaces.current == "training":
        context.training.controller.redo()
    else:
        context.editor.redo()


def _on_program(context: CommandContext) -> bool:
    return context.workspaces.current == "program"


class _TextField(Protocol):
    def cut(self) -> None: ...

    def copy(self) -> None: ...

    def paste(self) -> None: ...


def _text_field(context: CommandContext) -> _TextField | None:
    """Return the text field with the keyboard, else the program's editor if that is visible."""
    focused: Any = QGuiApplication.focusObject()
    if hasattr(focused, "lineEdit"):
        # The field of a number has the keyboard by its proxy.
        focused = focused.lineEdit()
    if all(hasattr(focused, name) for name in ("cut", "copy", "paste")):
        return focused  # type: ignore[no-any-return]
    return context.editor if _on_program(context) else None


def _has_text_field(context: CommandContext) -> bool:
    return _text_field(context) is not None


@command("edit.cut", tr("Cut"), menu="Edit/2", keys=("Ctrl+X",), when=_has_text_field)
def cut(context: CommandContext) -> None:
    """Move the selected text to the clipboard."""
    if field := _text_field(context):
        field.cut()


@command("edit.copy", tr("Copy"), menu="Edit/2", keys=("Ctrl+C",), when=_has_text_field)
def copy(context: CommandContext) -> None:
    """Copy the selected text to the clipboard."""
    if field := _text_field(context):
        field.copy()


@command("edit.paste", tr("Paste"), menu="Edit/2", keys=("Ctrl+V",), when=_has_text_field)
def paste(context: CommandContext) -> None:
    """Insert the text of the clipboard."""
    if field := _text_field(context):
        field.paste()


@command("edit.select_all", tr("Select all"), menu="Edit/2", keys=("Ctrl+A",), page="program")
def select_all(context: CommandContext) -> None:
    """Select the whole program."""
    context.editor.setFocus()
    context.editor.selectAll()


@command(
    "edit.comment", tr("Comment or uncomment"), menu="Edit/3", keys=("Ctrl+/",), page="program"
)
def comment(context: CommandContext) -> None:
    """Put a # before the selected lines, or remove it."""
    context.toggle_comment()


@command("edit.complete", tr("Complete"), menu="Edit/3", keys=("Ctrl+Space",), when=_on_program)
def complete(context: CommandContext) -> None:
    """List the names that complete the word at the caret; Tab or Return inserts one."""
    context.editor.setFocus()
    context.editor.assistance.complete()


@command(
    "edit.arguments",
    tr("Show arguments"),
    menu="Edit/3",
    keys=("Ctrl+Shift+Space",),
    when=_on_program,
)
def arguments(context: CommandContext) -> None:
    """Show the signature of the call around the caret."""
    context.editor.setFocus()
    context.editor.assistance.explain()


@command("edit.definition", tr("Go to definition"), menu="Edit/3", keys=("F12",), when=_on_program)
def definition(context: CommandContext) -> None:
    """Go to the line that defines the name at the caret; so does a click with Ctrl."""
    context.editor.setFocus()
    context.editor.assistance.go_to_definition()


@command(
    "edit.complete_typing",
    tr("Complete while typing"),
    menu="Edit/3",
    checked=lambda context: context.settings.flag("complete"),
)
def complete_typing(context: CommandContext) -> None:
    """Open the list of completions and the signature of a call by themselves."""
    context.settings.put("complete", not context.settings.flag("complete"))


@command("edit.find", tr("Find"), menu="Edit/4", keys=("Ctrl+F",), when=_on_program)
def find(context: CommandContext) -> None:
    """Search for a text in the program; in the graph while that has the keyboard."""
    context.open_find()


@command("edit.replace", tr("Find and replace"), menu="Edit/4", keys=("Ctrl+H",), when=_on_program)
def replace(context: CommandContext) -> None:
    """Search for a text in the program and replace it; all at once is one step of undo."""
    context.open_replace()


@command("edit.find_next", tr("Find next"), menu="Edit/4", keys=("F3",), when=_on_program)
def find_next(context: CommandContext) -> None:
    """Go to the next match of the search in the program, or in the graph if only that is open."""
    context.find_next()


@command("edit.find_back", tr("Find previous"), menu="Edit/4", keys=("Shift+F3",), when=_on_program)
def find_back(context: CommandContext) -> None:
    """Go to the previous match of the search in the program or in the graph."""
    context.find_next(back=True)


@command(
    "edit.find_graph",
    tr("Find in the graph"),
    menu="Edit/4",
    keys=("Ctrl+Shift+F",),
    when=_on_program,
)
def find_graph(context: CommandContext) -> None:
    """Search the graph for a name, an op, a shape such as 16 × 8, a module, nan or inf."""
    context.open_graph_find()


@command(
    "edit.fold",
    tr("Fold block"),
    menu="Edit/5/folding",
    keys=("Ctrl+Shift+[", "Ctrl+{"),
    when=_on_program,
)
def fold(context: CommandContext) -> None:
    """Hide the lines of the function, class, loop or other block around the caret."""
    context.editor.folds.fold_at_caret()


@command(
    "edit.unfold",
    tr("Unfold block"),
    menu="Edit/5/folding",
    keys=("Ctrl+Shift+]", "Ctrl+}"),
    when=_on_program,
)
def unfold(context: CommandContext) -> None:
    """Show the lines that are hidden under the caret's line."""
    context.editor.folds.unfold_at_caret()


@command("edit.fold_all", tr("Fold all blocks"), menu="Edit/5/folding", when=_on_program)
def fold_all(context: CommandContext) -> None:
    """Fold every function, class, loop and other block; the playing line and errors stay."""
    context.editor.folds.fold_all()


@command("edit.unfold_all", tr("Unfold all blocks"), menu="Edit/5/folding", when=_on_program)
def unfold_all(context: CommandContext) -> None:
    """Show every line of the program."""
    context.editor.folds.unfold_all()


@command("edit.settings", tr("Settings…"), menu="Edit/7", keys=("Ctrl+,",))
def settings(context: CommandContext) -> None:
    """Change how Gradscribe looks and works, with a search."""
    context.show_settings()
