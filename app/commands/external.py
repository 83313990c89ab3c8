"""Open the program in the user's own editor, at a line."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from gradscribe.app.commands import MenuChoice, command, submenu, value
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files import external_editor
from gradscribe.app.files.documents import Refused
from gradscribe.playback.translation import tr

SETTING = "editor"
EXAMPLE = tr("code --goto {file}:{line}")


def _has_file(context: CommandContext) -> bool:
    return bool(context.session.doc.path)


def _open(context: CommandContext, line: int) -> None:
    """Open the program's file at a line. Raises `Refused`."""
    doc = context.session.doc
    path = Path(doc.path)
    if not path.is_file():
        raise Refused(tr("{path} is not there any more: save the program first", path=path))
    title = external_editor.open_line(context.settings.text(SETTING), path, line)
    if not title and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
        raise Refused(tr("No editor is known: choose one under Edit, In your editor"))
    where = tr(" in {title}, line {line}", title=title, line=line) if title else ""
    unsaved = tr(", as it was saved last") if doc.modified else ""
    context.say(
        tr("{title} is opened{where}{unsaved}", title=doc.title, where=where, unsaved=unsaved)
    )


@command(
    "edit.external",
    tr("Open in your editor"),
    "Edit/5/external",
    keys=("Ctrl+Alt+O",),
    when=_has_file,
    page="program",
)
def open_caret_line(context: CommandContext) -> None:
    """Open the program in your own editor, at the line of the caret."""
    _open(context, context.editor.caret_line())


@command(
    "value.external",
    tr("Open the line in your editor"),
    "Edit/5/external",
    when=lambda context: _has_file(context) and value.has_line(context),
    page="program",
)
def open_value_line(context: CommandContext) -> None:
    """Open the line that made the selection in your own editor."""
    _open(context, value.place(context).line)


@submenu("edit.your_editor", tr("Your editor"), menu="Edit/5/external", page="program")
def choose_editor(context: CommandContext) -> list[MenuChoice]:
    """Editors that can open the lines of programs."""
    now = context.settings.text(SETTING)
    found = external_editor.installed()
    first = (
        tr("The first that is installed: {title}", title=found[0].title)
        if found
        else tr("The system's editor")
    )
    choices = [MenuChoice(first, partial(_choose, command=""), checked=not now)]
    for editor in found:
        text = external_editor.command_text(editor)
        choose = partial(_choose, command=text)
        choices.append(MenuChoice(editor.title, choose, tip=text, checked=text == now))
    is_own = bool(now) and all(now != external_editor.command_text(e) for e in found)
    choices.append(
        MenuChoice(tr("Another command…"), _ask, tip=now if is_own else "", checked=is_own)
    )
    return choices


def _choose(context: CommandContext, command: str) -> None:
    context.settings.put(SETTING, command)


def _ask(context: CommandContext) -> None:
    """Ask for a command. Raises `Refused` if it is not one."""
    now = context.settings.text(SETTING) or EXAMPLE
    text = context.dialogs.ask_text(tr("Command of your editor, with {file} and {line}"), now)
    if text is not None:
        external_editor.parse_command(text)
        context.settings.put(SETTING, text)
