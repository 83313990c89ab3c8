"""View commands: zoom, modules, layers, panes, findings, shape lab, text size and theme."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.document.state import Layer
from gradscribe.app.panels.layout_store import StoredLayout
from gradscribe.app.preferences.kinds import NumberKind
from gradscribe.app.preferences.rows import BY_KEY
from gradscribe.playback.graph import coloring
from gradscribe.playback.translation import ngettext, tr

if TYPE_CHECKING:
    from gradscribe.widgets.graph.view import GraphView

TEXT_STEP = 1.1
MAX_DEPTH = 9
"""Most levels of modules that are offered."""
_TRAINING_LAYERS = {"values": tr("Values"), "gradients": tr("Gradients"), "shapes": tr("Shapes")}
"""The switches above the graph in Training."""


def _layer(name: str) -> Callable[[CommandContext], bool]:
    def is_on(context: CommandContext) -> bool:
        if _is_training(context) and name in _TRAINING_LAYERS:
            return context.workspaces.widgets.graph.layers[_TRAINING_LAYERS[name]].isChecked()
        return bool(getattr(context.session.view, name))

    return is_on


def _is_training(context: CommandContext) -> bool:
    """Return whether the training page is visible and complete."""
    return context.workspaces.current == "training" and context.workspaces.is_whole


def _graph(context: CommandContext) -> "GraphView":
    """Return the graph of the visible page."""
    return context.workspaces.widgets.graph.graph if _is_training(context) else context.graph


def _flag(key: str) -> Callable[[CommandContext], bool]:
    return lambda context: context.settings.flag(key)


def _has_frames(context: CommandContext) -> bool:
    return bool(context.presenter.module_keys())


def _flip(context: CommandContext, key: str) -> None:
    context.settings.put(key, not context.settings.flag(key))


@command("view.fit", tr("Fit the graph"), "View/1/zoom", keys=("Ctrl+0",))
def fit(context: CommandContext) -> None:
    """Make the whole graph visible."""
    _graph(context).fit()


@command("view.zoom_in", tr("Zoom in"), "View/1/zoom", keys=("Ctrl+=", "Ctrl++"))
def zoom_in(context: CommandContext) -> None:
    """Make the graph bigger."""
    _graph(context).zoom_by(1.25)


@command("view.zoom_out", tr("Zoom out"), "View/1/zoom", keys=("Ctrl+-",))
def zoom_out(context: CommandContext) -> None:
    """Make the graph smaller."""
    _graph(context).zoom_by(0.8)


@command(
    "view.zoom_selection",
    tr("Zoom to the selection"),
    "View/1/zoom",
    keys=("Ctrl+9",),
    when=lambda context: bool(context.session.view.selection),
    page="program",
)
def zoom_selection(context: CommandContext) -> None:
    """Show the selection with its neighbours; a module with its whole content."""
    context.graph.zoom_to(context.session.view.selection)


@command(
    "view.follow",
    tr("Follow what plays"),
    "View/1/zoom",
    keys=("Ctrl+Alt+F",),
    checked=_flag("follow"),
)
def follow(context: CommandContext) -> None:
    """Move the graph so that what plays stays in view; a drag pauses that until the next play."""
    _flip(context, "follow")


@command(
    "view.expand",
    tr("Expand all modules"),
    "View/1/modules",
    keys=("Ctrl+Shift+E",),
    when=_has_frames,
    page="program",
)
def expand(context: CommandContext) -> None:
    """Show the inside of every module."""
    context.presenter.expand_modules()


@command(
    "view.collapse",
    tr("Collapse all modules"),
    "View/1/modules",
    keys=("Ctrl+Shift+W",),
    when=_has_frames,
    page="program",
)
def collapse(context: CommandContext) -> None:
    """Show every module as one card, and the whole graph."""
    if context.session.doc.open_calls != frozenset():
        # What is left is small, and may lie outside of the view.
        context.presenter.picture_shown.connect(
            context.graph.fit, Qt.ConnectionType.SingleShotConnection
        )
        context.session.open_calls(frozenset())
    else:
        context.graph.fit()


def _sideways(context: CommandContext) -> bool:
    return context.session.view.flow == "right"


@command(
    "view.sideways",
    tr("Left to right"),
    "View/1",
    keys=("Ctrl+Alt+R",),
    checked=_sideways,
    page="program",
)
def sideways(context: CommandContext) -> None:
    """Let values run from left to right instead of from top to bottom."""
    context.session.set_flow("down" if _sideways(context) else "right")
    context.settings.put("sideways", _sideways(context))


@submenu("view.depth", tr("Expand to depth"), "View/1/modules", page="program")
def depths(context: CommandContext) -> list[MenuChoice]:
    """Open modules down to a depth, and fold those inside them."""

    def choice(depth: int) -> MenuChoice:
        def choose(at: CommandContext) -> None:
            at.presenter.expand_modules(depth)

        return MenuChoice(ngettext("{count:,} level", "{count:,} levels", depth), choose)

    return [choice(depth) for depth in range(1, min(context.presenter.levels(), MAX_DEPTH) + 1)]


@command("view.values", tr("Values"), "View/3", keys=("Ctrl+1",), checked=_layer("values"))
def values(context: CommandContext) -> None:
    """Show the values of the forward pass."""
    _flip_layer(context, "values")


@command("view.gradients", tr("Gradients"), "View/3", keys=("Ctrl+2",), checked=_layer("gradients"))
def gradients(context: CommandContext) -> None:
    """Show the gradients of the backward pass."""
    _flip_layer(context, "gradients")


@command("view.shapes", tr("Shapes"), "View/3", keys=("Ctrl+3",), checked=_layer("shapes"))
def shapes(context: CommandContext) -> None:
    """Show the shape of the tensor on each wire."""
    _flip_layer(context, "shapes")


@command(
    "view.order",
    tr("Order and visits"),
    "View/3",
    keys=("Ctrl+4",),
    checked=_layer("order"),
    page="program",
)
def order(context: CommandContext) -> None:
    """Show in which order a pass runs the backward nodes, and how often each was visited."""
    _flip_layer(context, "order")


@submenu("view.coloring", tr("Colour by"), "View/3", page="program")
def colorings(context: CommandContext) -> list[MenuChoice]:
    """Choose what the colours of the cards mean."""

    def choice(mode: coloring.Mode, title: str) -> MenuChoice:
        def choose(at: CommandContext) -> None:
            at.session.set_coloring(mode)
            at.settings.put("coloring", mode)

        return MenuChoice(title, choose, checked=context.session.view.coloring == mode)

    return [choice(mode, title) for mode, title in coloring.MODES.items()]


def _flip_layer(context: CommandContext, name: Layer) -> None:
    if _is_training(context):
        context.workspaces.widgets.graph.layers[_TRAINING_LAYERS[name]].toggle()
        return
    shown = not getattr(context.session.view, name)
    context.session.show_layers({name: shown})
    context.settings.put(name, shown)


@command(
    "view.left",
    tr("Program"),
    "View/4/layout",
    keys=("Ctrl+Shift+1",),
    checked=_flag("left"),
    page="program",
)
def left(context: CommandContext) -> None:
    """Show or hide the column with the program."""
    _flip(context, "left")


@command(
    "view.below",
    tr("Output and legend"),
    "View/4/layout",
    keys=("Ctrl+Shift+2",),
    checked=_flag("below"),
    page="program",
)
def below(context: CommandContext) -> None:
    """Show or hide the pane under the program."""
    _flip(context, "below")


@command("view.next_pane", tr("Next pane"), "View/4/layout", keys=("F6",))
def next_pane(context: CommandContext) -> None:
    """Move the keyboard to the next part of the window, also out of the editor."""
    context.step_pane(1)


@command("view.previous_pane", tr("Previous pane"), "View/4/layout", keys=("Shift+F6",))
def previous_pane(context: CommandContext) -> None:
    """Move the keyboard to the part of the window before."""
    context.step_pane(-1)


@command("view.curves", tr("Curves of the loop"), "View/4", keys=("Ctrl+Shift+4",))
def curves(context: CommandContext) -> None:
    """Show the loss that the program's loop computes, step by step; a click goes to a step."""
    for key, shown in (("left", True), ("below", True), ("presenting", False)):
        if context.settings.flag(key) is not shown:
            context.settings.put(key, shown)
    context.workspaces.show_workspace("program")
    context.loop_curves.show()


@command("view.parameters", tr("Parameters"), "View/4", keys=("Ctrl+Shift+5",))
def parameters(context: CommandContext) -> None:
    """List all parameters with the sizes of values, gradients and updates, to sort and filter."""
    if context.workspaces.current == "training":
        page = context.workspaces.widgets
        page.below.setCurrentWidget(page.parameters)
        page.parameters.filter.setFocus()
    else:
        context.parameters.show()


@command(
    "view.right",
    tr("Inspector"),
    "View/4/layout",
    keys=("Ctrl+Shift+3",),
    checked=_flag("right"),
    page="program",
)
def right(context: CommandContext) -> None:
    """Show or hide the column with the inspector and the tables."""
    _flip(context, "right")


@submenu("panels.show", tr("Panels"), "View/4/layout")
def panels(context: CommandContext) -> list[MenuChoice]:
    """Show or hide a panel of this page."""
    area = context.panels.area

    def choice(name: str, title: str, hidden: bool) -> MenuChoice:
        return MenuChoice(title, lambda at: at.panels.toggle(name), checked=not hidden)

    if area is None:
        return []
    return [choice(name, area.title(name), area.is_hidden(name)) for name in area.names()]


@submenu("panels.move", tr("Move the panel"), "View/4/layout")
def moves(context: CommandContext) -> list[MenuChoice]:
    """Dock the panel with the keyboard elsewhere, give it a window, or put it back."""

    def choice(title: str, perform: Callable[[], None]) -> MenuChoice:
        return MenuChoice(title, lambda _: perform())

    return [choice(*move) for move in context.panels.moves()]


def _is_arranging(context: CommandContext) -> bool:
    return context.panels.is_arranging


@command(
    "panels.arrange",
    tr("Arrange panels"),
    "View/4/layout",
    keys=("Ctrl+Alt+A",),
    checked=_is_arranging,
)
def arrange(context: CommandContext) -> None:
    """Give every panel a handle to drag it by: to another side, into tabs, out of the window."""
    context.panels.set_arranging(not context.panels.is_arranging)
    if context.panels.is_arranging:
        context.say(tr("Drag panels by their titles; Ctrl+Alt+A ends it"))


@submenu("panels.layout", tr("Layout"), "View/4/layout")
def layouts(context: CommandContext) -> list[MenuChoice]:
    """Arrange all panels as in a layout that was saved."""

    def choice(stored: StoredLayout) -> MenuChoice:
        return MenuChoice(stored.name, lambda at: at.panels.choose(stored), tip=stored.trouble)

    return [choice(stored) for stored in context.panels.store.all()]


@command("panels.save", tr("Save the layout as…"), "View/4/layout")
def save_layout(context: CommandContext) -> None:
    """Store the arrangement of all panels under a name."""
    name = context.dialogs.ask_text(tr("Name of the layout"), "")
    if name:
        context.panels.save(name)


@submenu("panels.rename", tr("Rename a layout"), "View/4/layout")
def rename_layouts(context: CommandContext) -> list[MenuChoice]:
    """Give a layout that was saved another name."""

    def rename(at: CommandContext, stored: StoredLayout) -> None:
        name = at.dialogs.ask_text(tr("Name of the layout"), stored.name)
        if name and name != stored.name:
            at.panels.store.rename(stored, name)

    def choice(stored: StoredLayout) -> MenuChoice:
        return MenuChoice(f"{stored.name}…", lambda at: rename(at, stored))

    return [choice(stored) for stored in context.panels.store.all()]


@submenu("panels.delete", tr("Delete a layout"), "View/4/layout")
def delete_layouts(context: CommandContext) -> list[MenuChoice]:
    """Delete a layout that was saved."""

    def delete(at: CommandContext, stored: StoredLayout) -> None:
        at.panels.store.delete(stored)
        at.say(tr("The layout {name} is deleted", name=stored.name))

    def choice(stored: StoredLayout) -> MenuChoice:
        return MenuChoice(stored.name, lambda at: delete(at, stored))

    return [choice(stored) for stored in context.panels.store.all()]


@command("panels.reset", tr("Reset layout"), "View/4/layout")
def reset_layout(context: CommandContext) -> None:
    """Arrange all panels as in a new window."""
    context.panels.reset()


@command("view.bigger", tr("Text bigger"), "View/4/text", keys=("Ctrl+Alt+=",))
def bigger(context: CommandContext) -> None:
    """Make all text bigger; while presenting, that of presenting alone."""
    _scale_text(context, TEXT_STEP)


@command("view.smaller", tr("Text smaller"), "View/4/text", keys=("Ctrl+Alt+-",))
def smaller(context: CommandContext) -> None:
    """Make all text smaller; while presenting, that of presenting alone."""
    _scale_text(context, 1 / TEXT_STEP)


@command("view.normal", tr("Text as usual"), "View/4/text", keys=("Ctrl+Alt+0",))
def normal(context: CommandContext) -> None:
    """Go back to the usual size of text."""
    context.settings.reset(_text_key(context))


def _scale_text(context: CommandContext, by: float) -> None:
    key = _text_key(context)
    kind = BY_KEY[key].kind
    assert isinstance(kind, NumberKind)
    wanted = round(context.settings.number(key) * by, 3)
    context.settings.put(key, max(kind.low, min(kind.high, wanted)))


def _text_key(context: CommandContext) -> str:
    return "presenting_text" if context.presentation.is_on else "text"


@submenu("view.theme", tr("Theme"), "View/4/text")
def themes(context: CommandContext) -> list[MenuChoice]:
    """Light, dark or the system's colours, with usual or high contrast."""

    def choice(title: str, name: str) -> MenuChoice:
        here = context.settings.text("theme") == name
        return MenuChoice(title, lambda at: at.settings.put("theme", name), checked=here)

    def strengthen(at: CommandContext) -> None:
        at.settings.put("contrast", "usual" if at.look.theme().high_contrast else "high")

    is_high = context.look.theme().high_contrast
    return [
        choice(tr("As the system"), "system"),
        choice(tr("Light"), "light"),
        choice(tr("Dark"), "dark"),
        MenuChoice(tr("High contrast"), strengthen, checked=is_high),
    ]


@command("doctor.open", tr("Findings"), "View/4", keys=("F8",))
def open_findings(context: CommandContext) -> None:
    """Show the doctor's findings, and go to the first one's line."""
    context.workspaces.show_workspace("program")
    context.show_findings()


def _has_op(context: CommandContext) -> bool:
    return bool(context.selected_lines())


@command("lab.open", tr("Shape lab"), "View/4", keys=("Ctrl+Shift+L",))
def open_lab(context: CommandContext) -> None:
    """See how the shape of a result follows from its inputs, cell by cell."""
    context.show_lab("")


@command(
    "lab.selected",
    tr("Selected op in the shape lab"),
    "View/6/selection",
    keys=("Ctrl+L",),
    when=_has_op,
    page="program",
)
def open_selected(context: CommandContext) -> None:
    """See the selected op's own tensors cell by cell."""
    context.show_lab(context.selected_lines())
