"""Properties of the selected tensor that are changed by an edit of the program's text."""

import re
from collections.abc import Callable

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.code import tensor_edits
from gradscribe.playback.lab.dtypes import DTYPES, LEARNING, bytes_in
from gradscribe.playback.text import formatting

Edit = Callable[[str, int, str], str]
"""(text, line, name) to the edited text."""


def _value(context: CommandContext) -> Value | None:
    """Return the selected tensor if it has a name and a line in the text as it is."""
    session = context.session
    value = context.inspector.page().value
    if value is None or not value.name.isidentifier() or not value.place.line:
        return None
    is_current = session.doc.source == session.result.source and session.doc.may_run
    return value if is_current else None


def _is_leaf(context: CommandContext) -> bool:
    value = _value(context)
    return value is not None and value.is_leaf and value.dtype in LEARNING


def _is_result(context: CommandContext) -> bool:
    value = _value(context)
    return value is not None and not value.is_leaf and value.requires_grad


def _retains(context: CommandContext) -> bool:
    value = _value(context) if _is_result(context) else None
    pattern = rf"^[ \t]*{value.name}\.retain_grad\(" if value is not None else ""
    return bool(pattern) and bool(re.search(pattern, context.session.doc.source, re.MULTILINE))


def _learns(context: CommandContext) -> bool:
    value = _value(context)
    return value is not None and value.requires_grad


def _apply(context: CommandContext, edit: Edit, words: str) -> None:
    """Edit the text for the selected tensor and run it; undo leads back.

    Raises:
        Refused: the line has no safe place for the edit.
    """
    value = _value(context)
    if value is None:
        raise Refused("Select a tensor that has a name in the program")
    source = edit(context.session.doc.source, value.place.line, value.name)
    if not source:
        raise Refused(
            f"Line {value.place.line} is not a plain assignment to {value.name}: edit it by hand"
        )
    context.session.apply_fix(source)
    context.say(f"{value.name}: {words}. Ctrl+Z takes it back")


@command("value.requires_grad", "Require its gradient", "Edit/5", when=_is_leaf, checked=_learns)
def requires_grad(context: CommandContext) -> None:
    """Let the selected leaf require a gradient, or not: an edit of its line, run at once."""
    is_on = not _learns(context)

    def edit(source: str, line: int, name: str) -> str:
        return tensor_edits.set_requires_grad(source, line, name, is_on)

    _apply(context, edit, f"requires_grad={is_on}")


@command("value.retain_grad", "Retain its gradient", "Edit/5", when=_is_result, checked=_retains)
def retain_grad(context: CommandContext) -> None:
    """Let the selected result retain its gradient in .grad, or not: a line after its own."""
    is_on = not _retains(context)

    def edit(source: str, line: int, name: str) -> str:
        return tensor_edits.set_retain_grad(source, line, name, is_on)

    _apply(context, edit, "retains its gradient" if is_on else "retains no gradient")


@submenu("value.dtype", "Its dtype", menu="Edit/5")
def dtype(context: CommandContext) -> list[MenuChoice]:
    """Give the selected tensor another dtype: an edit of its line, run at once."""
    value = _value(context)
    if value is None:
        return []
    # A tensor that requires a gradient is one of real or complex numbers.
    names = LEARNING if value.requires_grad else tuple(DTYPES)

    def choice(name: str) -> MenuChoice:
        def edit(source: str, line: int, tensor: str) -> str:
            return tensor_edits.set_dtype(source, line, tensor, name)

        title = f"{name} · {formatting.size(bytes_in(value.shape, name))}"
        return MenuChoice(title, lambda at: _apply(at, edit, name), checked=name == value.dtype)

    return [choice(name) for name in names]


@submenu("value.device", "Its device", menu="Edit/5")
def device(context: CommandContext) -> list[MenuChoice]:
    """Put the selected tensor on another device: an edit of its line, run at once."""
    value = _value(context)
    if value is None:
        return []

    def choice(name: str) -> MenuChoice:
        def edit(source: str, line: int, tensor: str) -> str:
            return tensor_edits.set_device(source, line, tensor, name)

        return MenuChoice(name, lambda at: _apply(at, edit, name), checked=name == value.device)

    return [choice(name) for name in context.session.result.devices]
