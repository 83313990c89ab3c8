"""View commands: zoom, modules, layers, panes, text size and theme."""

from collections.abc import Callable

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import Shell
from gradscribe.app.document.state import Layer
from gradscribe.playback.graph import coloring
from gradscribe.playback.text import formatting

TEXT_STEP = 1.1
MAX_DEPTH = 9
"""Most levels of modules that are offered."""


def _layer(name: str) -> Callable[[Shell], bool]:
    return lambda shell: bool(getattr(shell.session.view, name))


def _flag(key: str) -> Callable[[Shell], bool]:
    return lambda shell: shell.settings.flag(key)


def _has_frames(shell: Shell) -> bool:
    return bool(shell.module_keys())


def _flip(shell: Shell, key: str) -> None:
    shell.settings.put(key, not shell.settings.flag(key))


@command("view.fit", "Fit the graph", "View/1", keys=("Ctrl+0",))
def fit(shell: Shell) -> None:
    """Make the whole graph visible."""
    shell.graph.fit()


@command("view.zoom_in", "Zoom in", "View/1", keys=("Ctrl+=", "Ctrl++"))
def zoom_in(shell: Shell) -> None:
    """Make the graph bigger."""
    shell.graph.zoom_by(1.25)


@command("view.zoom_out", "Zoom out", "View/1", keys=("Ctrl+-",))
def zoom_out(shell: Shell) -> None:
    """Make the graph smaller."""
    shell.graph.zoom_by(0.8)


@command(
    "view.zoom_selection",
    "Zoom to the selection",
    "View/1",
    keys=("Ctrl+9",),
    when=lambda shell: bool(shell.session.view.selection),
)
def zoom_selection(shell: Shell) -> None:
    """Show the selection with its neighbours; a module with its whole content."""
    shell.zoom_to_selection()


@command("view.expand", "Expand all modules", "View/2", keys=("Ctrl+Shift+E",), when=_has_frames)
def expand(shell: Shell) -> None:
    """Show the inside of every module."""
    shell.expand_modules()


@command(
    "view.collapse", "Collapse all modules", "View/2", keys=("Ctrl+Shift+W",), when=_has_frames
)
def collapse(shell: Shell) -> None:
    """Show every module as one card."""
    shell.session.open_calls(frozenset())


def _sideways(shell: Shell) -> bool:
    return shell.session.view.flow == "right"


@command("view.sideways", "Left to right", "View/2", keys=("Ctrl+Alt+R",), checked=_sideways)
def sideways(shell: Shell) -> None:
    """Let values run from left to right instead of from top to bottom."""
    shell.session.set_flow("down" if _sideways(shell) else "right")
    shell.settings.put("sideways", _sideways(shell))


@submenu("view.depth", "Expand to depth", "View/2")
def depths(shell: Shell) -> list[MenuChoice]:
    """Open modules down to a depth, and fold those inside them."""

    def choice(depth: int) -> MenuChoice:
        def choose(at: Shell) -> None:
            at.expand_modules(depth)

        return MenuChoice(formatting.count(depth, "level"), choose)

    return [choice(depth) for depth in range(1, min(shell.levels, MAX_DEPTH) + 1)]


@command("view.values", "Values", "View/3", keys=("Ctrl+1",), checked=_layer("values"))
def values(shell: Shell) -> None:
    """Show the values of the forward pass."""
    _flip_layer(shell, "values")


@command("view.gradients", "Gradients", "View/3", keys=("Ctrl+2",), checked=_layer("gradients"))
def gradients(shell: Shell) -> None:
    """Show the gradients of the backward pass."""
    _flip_layer(shell, "gradients")


@command("view.shapes", "Shapes", "View/3", keys=("Ctrl+3",), checked=_layer("shapes"))
def shapes(shell: Shell) -> None:
    """Show the shape of the tensor on each wire."""
    _flip_layer(shell, "shapes")


@submenu("view.coloring", "Colour by", "View/3")
def colorings(shell: Shell) -> list[MenuChoice]:
    """Choose what the colours of the cards mean."""

    def choice(mode: coloring.Mode, title: str) -> MenuChoice:
        def choose(at: Shell) -> None:
            at.session.set_coloring(mode)
            at.settings.put("coloring", mode)

        return MenuChoice(title, choose, checked=shell.session.view.coloring == mode)

    return [choice(mode, title) for mode, title in coloring.MODES.items()]


def _flip_layer(shell: Shell, name: Layer) -> None:
    shown = not getattr(shell.session.view, name)
    shell.session.show_layers({name: shown})
    shell.settings.put(name, shown)


@command("view.left", "Program", "View/4", keys=("Ctrl+Shift+1",), checked=_flag("left"))
def left(shell: Shell) -> None:
    """Show or hide the column with the program."""
    _flip(shell, "left")


@command(
    "view.below", "Output and legend", "View/4", keys=("Ctrl+Shift+2",), checked=_flag("below")
)
def below(shell: Shell) -> None:
    """Show or hide the pane under the program."""
    _flip(shell, "below")


@command("view.right", "Inspector", "View/4", keys=("Ctrl+Shift+3",), checked=_flag("right"))
def right(shell: Shell) -> None:
    """Show or hide the column with the inspector and the tables."""
    _flip(shell, "right")


@command("view.bigger", "Text bigger", "View/5", keys=("Ctrl+Alt+=",))
def bigger(shell: Shell) -> None:
    """Make all text bigger."""
    _scale_text(shell, TEXT_STEP)


@command("view.smaller", "Text smaller", "View/5", keys=("Ctrl+Alt+-",))
def smaller(shell: Shell) -> None:
    """Make all text smaller."""
    _scale_text(shell, 1 / TEXT_STEP)


@command("view.normal", "Text as usual", "View/5", keys=("Ctrl+Alt+0",))
def normal(shell: Shell) -> None:
    """Go back to the usual size of text."""
    shell.settings.put("text", 1.0)


def _scale_text(shell: Shell, by: float) -> None:
    shell.settings.put("text", max(0.7, min(2.5, round(shell.settings.number("text") * by, 3))))


@command("view.lecture", "Lecture mode", "View/5", keys=("F11",), checked=_flag("lecture"))
def lecture(shell: Shell) -> None:
    """Large type and few controls, for presentations."""
    _flip(shell, "lecture")


@submenu("view.theme", "Theme", "View/5")
def themes(shell: Shell) -> list[MenuChoice]:
    """Light, dark, or the system's."""

    def choice(title: str, name: str) -> MenuChoice:
        here = shell.settings.text("theme") == name
        return MenuChoice(title, lambda at: at.settings.put("theme", name), checked=here)

    return [choice("As the system", "system"), choice("Light", "light"), choice("Dark", "dark")]
