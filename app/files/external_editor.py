"""The user's own editor: found among those installed, and opened at a line of a file."""

import shlex
import shutil
import sys
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import QProcess

from gradscribe.app.files.documents import Refused
from gradscribe.playback.translation import tr


class Editor(Struct, frozen=True):
    """An editor that can open a file at a line.

    ``arguments`` may have ``{file}`` and ``{line}``, or ``{column}``, which is 1.
    """

    title: str
    program: str
    arguments: tuple[str, ...]


_GOTO = ("--goto", "{file}:{line}")
_PLUS = ("+{line}", "{file}")
KNOWN = (
    Editor("VS Code", "code", _GOTO),
    Editor("VSCodium", "codium", _GOTO),
    Editor("Cursor", "cursor", _GOTO),
    Editor("PyCharm", "pycharm", ("--line", "{line}", "{file}")),
    Editor("PyCharm", "charm", ("--line", "{line}", "{file}")),
    Editor("Zed", "zed", ("{file}:{line}",)),
    Editor("Sublime Text", "subl", ("{file}:{line}",)),
    Editor("Kate", "kate", ("--line", "{line}", "{file}")),
    Editor("gedit", "gedit", _PLUS),
    Editor("GNOME Text Editor", "gnome-text-editor", _PLUS),
    Editor("gVim", "gvim", _PLUS),
    Editor("Emacs", "emacsclient", ("-n", "+{line}", "{file}")),
)
"""Editors that are looked for, the first that is installed is the default."""


def installed() -> tuple[Editor, ...]:
    """Return the known editors that are on the path."""
    return tuple(editor for editor in KNOWN if shutil.which(editor.program))


def command_text(editor: Editor) -> str:
    """Return the command of an editor as it stands in the settings."""
    return " ".join((editor.program, *editor.arguments))


def parse_command(text: str) -> tuple[str, ...]:
    """Return the words of a command as the user writes it, ``code --goto {file}:{line}``.

    Raises:
        Refused: it is empty, its quotes do not match, or it has no ``{file}``.
    """
    try:
        words = tuple(shlex.split(text, posix=sys.platform != "win32"))
    except ValueError as error:
        raise Refused(tr("{text!r} is no command: {error}", text=text, error=error)) from error
    if not words:
        raise Refused(tr("The command of an editor is missing"))
    if not any("{file}" in word for word in words[1:]):
        raise Refused(tr("The command of an editor needs {file}, as in: code --goto {file}:{line}"))
    return words


def open_line(command: str, path: Path, line: int) -> str:
    """Open a file at a line in the user's editor; return the editor's name, empty if none is known.

    Args:
        command: as in the settings; empty for the first editor that is installed.
        path: the file.
        line: the line, from 1.

    Raises:
        Refused: the command is not one, or the editor cannot be started.
    """
    if command:
        words = parse_command(command)
    else:
        found = installed()
        if not found:
            return ""
        words = (found[0].program, *found[0].arguments)
    program = shutil.which(words[0])
    if program is None:
        raise Refused(
            tr(
                "{words} is not installed: choose another editor under Edit, In your editor",
                words=words[0],
            )
        )
    # Not str.format: a name may have braces.
    parts = {"{file}": str(path), "{line}": str(line), "{column}": "1"}
    arguments = [_filled(word, parts) for word in words[1:]]
    # Detached: it outlives the window, and leaves no zombie if it ends first.
    answer: object = QProcess.startDetached(program, arguments, str(path.parent))
    if not (answer[0] if isinstance(answer, tuple) else answer):
        raise Refused(tr("{words} cannot be started", words=words[0]))
    return next((e.title for e in KNOWN if e.program == words[0]), Path(words[0]).stem)


def _filled(word: str, parts: dict[str, str]) -> str:
    """Replace the placeholders of a word; what replaces them is not searched again."""
    for name, text in parts.items():
        before, found, after = word.partition(name)
        if found:
            return _filled(before, parts) + text + _filled(after, parts)
    return word
