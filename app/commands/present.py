"""Presenting: full screen, large graph, pointer ring, spotlight and black screen."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.translation import tr


def _presents(context: CommandContext) -> bool:
    return context.presentation.is_on


def _is_full(context: CommandContext) -> bool:
    return context.presentation.is_full_screen


def _has_ring(context: CommandContext) -> bool:
    return context.settings.flag("pointer_ring")


def _has_spotlight(context: CommandContext) -> bool:
    return context.presentation.has_spotlight


@command("present.full_screen", tr("Full screen"), "View/6", keys=("F11",), checked=_is_full)
def full_screen(context: CommandContext) -> None:
    """Let the window cover the screen; Esc ends it."""
    context.presentation.toggle_full_screen()


@command(
    "present.toggle", tr("Presenting"), "View/6/present", keys=("Shift+F5",), checked=_presents
)
def toggle(context: CommandContext) -> None:
    """Large type, a graph to read from afar and the keys of presenter remotes; Esc ends it."""
    context.presentation.toggle()


@command(
    "present.ring", tr("Pointer ring"), "View/6/present", keys=("Ctrl+Alt+P",), checked=_has_ring
)
def ring(context: CommandContext) -> None:
    """Show a ring around the mouse, and a ripple at each click, while presenting."""
    context.settings.put("pointer_ring", not context.settings.flag("pointer_ring"))


@command(
    "present.spotlight",
    tr("Spotlight"),
    "View/6/present",
    keys=("Ctrl+Alt+L",),
    checked=_has_spotlight,
)
def spotlight(context: CommandContext) -> None:
    """Dim all but a circle at the mouse; Ctrl+Shift with the wheel changes its size."""
    context.presentation.toggle_spotlight()


@command(
    "present.larger",
    tr("Spotlight larger"),
    "View/6/present",
    keys=("Ctrl+Alt+Up",),
    when=_has_spotlight,
)
def larger(context: CommandContext) -> None:
    """Make the circle of the spotlight larger."""
    context.presentation.spotlight.grow(1)


@command(
    "present.smaller",
    tr("Spotlight smaller"),
    "View/6/present",
    keys=("Ctrl+Alt+Down",),
    when=_has_spotlight,
)
def smaller(context: CommandContext) -> None:
    """Make the circle of the spotlight smaller."""
    context.presentation.spotlight.grow(-1)


@command(
    "present.black",
    tr("Black screen"),
    "View/6/present",
    keys=("Ctrl+Alt+B",),
    bare=("B", "."),
    when=_presents,
)
def black(context: CommandContext) -> None:
    """Cover the window with black, while presenting; any key or click shows it again."""
    context.presentation.toggle_black()
