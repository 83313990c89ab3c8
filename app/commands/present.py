"""Presenting: full screen, large graph, what stays, pointer ring, spotlight and black screen."""

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.preferences.rows import CHOICES, Setting
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


@command("present.toggle", tr("Presenting"), "Lecture/1", keys=("Shift+F5",), checked=_presents)
def toggle(context: CommandContext) -> None:
    """Large type, a graph to read from afar and the keys of presenter remotes; Esc ends it."""
    context.presentation.toggle()


@submenu("present.stays", tr("Stays while presenting"), "Lecture/1")
def stays(context: CommandContext) -> list[MenuChoice]:
    """Choose the parts of the window that stay while presenting; the others are hidden."""

    def choice(row: Setting) -> MenuChoice:
        def flip(at: CommandContext) -> None:
            at.settings.put(row.key, not at.settings.flag(row.key))

        return MenuChoice(row.title, flip, row.sentence, checked=context.settings.flag(row.key))

    return [choice(row) for row in CHOICES if row.key.startswith("stays_")]


def _can_zoom(context: CommandContext) -> bool:
    return bool(context.graph.stage().boxes)


def _is_zoomed(context: CommandContext) -> bool:
    return context.lecture.zoom.is_on


@command(
    "present.zoom",
    tr("Zoom to a card"),
    "Lecture/4",
    keys=("Ctrl+Alt+Z",),
    bare=("Z",),
    when=_can_zoom,
    checked=_is_zoomed,
    page="program",
)
def zoom(context: CommandContext) -> None:
    """Show the selected card large, else the one that plays; the same key goes back."""
    context.lecture.zoom.toggle()


@command(
    "present.ring", tr("Pointer ring"), "Lecture/4/pointer", keys=("Ctrl+Alt+P",), checked=_has_ring
)
def ring(context: CommandContext) -> None:
    """Show a ring around the mouse, and a ripple at each click, while presenting."""
    context.settings.put("pointer_ring", not context.settings.flag("pointer_ring"))


@command(
    "present.spotlight",
    tr("Spotlight"),
    "Lecture/4/pointer",
    keys=("Ctrl+Alt+L",),
    checked=_has_spotlight,
)
def spotlight(context: CommandContext) -> None:
    """Dim all but a circle at the mouse; Ctrl+Shift with the wheel changes its size."""
    context.presentation.toggle_spotlight()


@command(
    "present.larger",
    tr("Spotlight larger"),
    "Lecture/4/pointer",
    keys=("Ctrl+Alt+Up",),
    when=_has_spotlight,
)
def larger(context: CommandContext) -> None:
    """Make the circle of the spotlight larger."""
    context.presentation.spotlight.grow(1)


@command(
    "present.smaller",
    tr("Spotlight smaller"),
    "Lecture/4/pointer",
    keys=("Ctrl+Alt+Down",),
    when=_has_spotlight,
)
def smaller(context: CommandContext) -> None:
    """Make the circle of the spotlight smaller."""
    context.presentation.spotlight.grow(-1)


@command(
    "present.black",
    tr("Black screen"),
    "Lecture/4",
    keys=("Ctrl+Alt+B",),
    bare=("B", "."),
    when=_presents,
)
def black(context: CommandContext) -> None:
    """Cover the window with black, while presenting; any key or click shows it again."""
    context.presentation.toggle_black()
