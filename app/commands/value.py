"""Commands on the selected tensor: its numbers, its code, its line, its explanation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QGuiApplication

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape import Place
from gradscribe.playback.code.value_test import value_test
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.text import tensor_code
from gradscribe.playback.translation import ngettext, tr

if TYPE_CHECKING:
    from gradscribe.widgets.inspector.panes.page import InspectorPage, Side

MOST_COPIED = 1_000_000
"""Most elements that go to the clipboard."""


def _page(context: CommandContext) -> InspectorPage:
    return context.inspector.page()


def _has(side: Side) -> Callable[[CommandContext], bool]:
    def has(context: CommandContext) -> bool:
        return _page(context).snapshot(side) is not None

    return has


def _array(page: InspectorPage, side: Side) -> NDArray[np.generic]:
    """Return the numbers of the selection. Raises `Refused` if only a summary is there."""
    snapshot = page.snapshot(side)
    array = snapshot.array() if snapshot is not None else None
    if snapshot is None:
        raise Refused(tr("There is no {side} yet", side=side))
    if array is None:
        raise Refused(
            tr("Only a summary of these numbers is here: explore the tensor for all of them")
        )
    if array.size > MOST_COPIED:
        raise Refused(
            tr(
                "More than {most_copied:,} numbers: explore the tensor to save a part",
                most_copied=MOST_COPIED,
            )
        )
    return array


def _copy(context: CommandContext, text: str, what: str) -> None:
    QGuiApplication.clipboard().setText(text)
    context.say(tr("{what} on the clipboard", what=what))


@command("value.copy", tr("Copy the value"), "Edit/4/tensor", when=_has("value"), page="program")
def copy_value(context: CommandContext) -> None:
    """Put the numbers of the selection on the clipboard, a row per line."""
    array = _array(_page(context), "value")
    _copy(
        context,
        tensor_code.numbers_text(array),
        ngettext("{count:,} number", "{count:,} numbers", array.size),
    )


@command(
    "value.copy_gradient",
    tr("Copy the gradient"),
    "Edit/4/tensor",
    when=_has("gradient"),
    page="program",
)
def copy_gradient(context: CommandContext) -> None:
    """Put the gradient of the selection on the clipboard, a row per line."""
    array = _array(_page(context), "gradient")
    _copy(
        context,
        tensor_code.numbers_text(array),
        ngettext("{count:,} number", "{count:,} numbers", array.size),
    )


@command("value.copy_code", tr("Copy as code"), "Edit/4/tensor", when=_has("value"), page="program")
def copy_code(context: CommandContext) -> None:
    """Put a line of PyTorch that makes this very tensor on the clipboard."""
    page = _page(context)
    value = page.value
    snapshot = page.snapshot("value")
    array = _array(page, "value")
    assert value is not None
    assert snapshot is not None
    learns = value.is_leaf and value.requires_grad
    name = value.name or value.maker or "x"
    code = tensor_code.tensor_code(name, array, snapshot.dtype, device=value.device, learns=learns)
    _copy(context, code, tr("The code is"))


@command("value.copy_test", tr("Copy as test"), "Edit/4/tensor", when=_has("value"), page="program")
def copy_test(context: CommandContext) -> None:
    """Put a test for pytest on the clipboard that runs the program and compares these numbers."""
    value, session = _page(context).value, context.session
    assert value is not None
    try:
        text = value_test(
            index_of(session.result.tape),
            value.id,
            session.result.source,
            seed=session.doc.seed,
            device=session.doc.device,
            path=session.doc.path,
        )
    except LookupError as error:
        raise Refused(str(error.args[0])) from error
    _copy(context, text, tr("A test for pytest is"))


def place(context: CommandContext) -> Place:
    """Return the place in the program of the selection; line 0 for none."""
    page = _page(context)
    if page.op is not None and page.op.place.line:
        return page.op.place
    return page.value.place if page.value is not None else Place()


def has_line(context: CommandContext) -> bool:
    """Return whether a line of the program made the selection."""
    line = place(context).line
    return 0 < line <= context.session.doc.source.count("\n") + 1


@command("value.line", tr("Show the line"), "View/6/selection", when=has_line, page="program")
def show_line(context: CommandContext) -> None:
    """Go to the line of the program that made the selection."""
    context.settings.put("left", True)
    context.workspaces.show_workspace("program")
    context.editor.go_to_line(place(context).line)
    context.editor.setFocus()


def _has_tape(context: CommandContext) -> bool:
    return bool(context.session.result.tape.events)


@command(
    "value.of_line",
    tr("Select what the line made"),
    "View/6",
    keys=("Ctrl+I",),
    when=_has_tape,
    page="program",
)
def select_of_line(context: CommandContext) -> None:
    """Select the card that the caret's line made, and show it in the graph."""
    context.presenter.pick_line(context.editor.caret_line())


def _has_explanation(context: CommandContext) -> bool:
    page = _page(context)
    return page.selection is not None and page.explanation is not None


@command("value.explain", tr("Explain"), "View/6/selection", when=_has_explanation, page="program")
def explain(context: CommandContext) -> None:
    """Show the rule of the selected op with this run's numbers put in."""
    context.settings.put("right", True)
    context.inspector.show_explanation()


def _can_check(context: CommandContext) -> bool:
    return _page(context).value is not None and context.inspector.can_check()


@command(
    "value.check", tr("Check the gradient"), "View/6/selection", when=_can_check, page="program"
)
def check(context: CommandContext) -> None:
    """Compare the gradient of the selection with finite differences."""
    context.settings.put("right", True)
    context.inspector.check()


def _module(context: CommandContext) -> str:
    """Return the key of the selected module, or of the open module around the selection."""
    picture, key = context.presenter.picture, context.session.view.selection
    for frame in picture.frames:
        if frame.key == key:
            return key
    card = context.presenter.selected_card()
    if card is None:
        return ""
    return card.key if card.kind == "module" else card.frame


@command(
    "view.fold",
    tr("Fold or open the module"),
    "View/1/modules",
    when=lambda context: bool(_module(context)),
    page="program",
)
def fold(context: CommandContext) -> None:
    """Open the selected module, or fold the module around the selection to a card."""
    key = _module(context)
    context.presenter.toggle_module(key)
    context.session.select(key)
