"""Presenting and lectures: what stays, pointer, spotlight, slides, gradients that are blank."""

from gradscribe.app.commands import MenuChoice, command, saved_run, submenu
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


def _has_run(context: CommandContext) -> bool:
    return saved_run.has_run(context) and context.presenter.is_drawn


def _has_slides(context: CommandContext) -> bool:
    return bool(context.lecture.slides.all)


def _has_current(context: CommandContext) -> bool:
    return context.lecture.slides.current is not None


def _can_replace(context: CommandContext) -> bool:
    return _has_current(context) and _has_run(context)


def _is_blank(context: CommandContext) -> bool:
    return context.lecture.blanks.is_on


def _can_blank(context: CommandContext) -> bool:
    return context.hand.can_hide() and context.hand.can_ask()


@command("lecture.slides", tr("Slides"), "Lecture/2", keys=("Ctrl+Alt+Y",), page="program")
def slides(context: CommandContext) -> None:
    """Show the list of slides, with a title and a note for each."""
    for key in ("left", "below"):
        if not context.settings.flag(key):
            context.settings.put(key, True)
    context.lecture.open()


@command(
    "lecture.add",
    tr("Add a slide"),
    "Lecture/2",
    keys=("Ctrl+Alt+I",),
    when=_has_run,
    page="program",
)
def add(context: CommandContext) -> None:
    """Make a slide of what is shown: place, view, open modules, selection, blank gradients."""
    context.lecture.add()


@command(
    "lecture.replace",
    tr("Replace the slide"),
    "Lecture/2/slide",
    keys=("Ctrl+Alt+J",),
    when=_can_replace,
    page="program",
)
def replace(context: CommandContext) -> None:
    """Let the current slide show what is shown now; its title and note stay."""
    context.lecture.slides.replace()


@command(
    "lecture.remove", tr("Remove the slide"), "Lecture/2/slide", when=_has_current, page="program"
)
def remove(context: CommandContext) -> None:
    """Remove the current slide; a button brings it back."""
    context.lecture.slides.remove()


@command(
    "lecture.up", tr("Move the slide up"), "Lecture/2/slide", when=_has_current, page="program"
)
def move_up(context: CommandContext) -> None:
    """Show the current slide earlier in the lecture."""
    context.lecture.slides.move(-1)


@command(
    "lecture.down", tr("Move the slide down"), "Lecture/2/slide", when=_has_current, page="program"
)
def move_down(context: CommandContext) -> None:
    """Show the current slide later in the lecture."""
    context.lecture.slides.move(1)


@command(
    "lecture.next",
    tr("Next slide"),
    "Lecture/2",
    keys=("Ctrl+Alt+PgDown",),
    when=_has_slides,
    page="program",
)
def next_slide(context: CommandContext) -> None:
    """Show the next slide; Page Down does so while presenting."""
    context.lecture.step(1)


@command(
    "lecture.previous",
    tr("Previous slide"),
    "Lecture/2",
    keys=("Ctrl+Alt+PgUp",),
    when=_has_slides,
    page="program",
)
def previous_slide(context: CommandContext) -> None:
    """Show the slide before; Page Up does so while presenting."""
    context.lecture.step(-1)


@command(
    "lecture.blank",
    tr("Blank gradients"),
    "Lecture/3",
    keys=("Ctrl+Alt+X",),
    when=_can_blank,
    checked=_is_blank,
    page="program",
)
def blank(context: CommandContext) -> None:
    """Show no gradient in any view until you reveal it."""
    context.lecture.blanks.switch()


@command(
    "lecture.reveal",
    tr("Reveal a gradient"),
    "Lecture/3",
    keys=("Ctrl+Alt+V",),
    bare=("V",),
    when=_is_blank,
    page="program",
)
def reveal(context: CommandContext) -> None:
    """Show the gradient of the selected card, else the next that the pass has computed."""
    if not context.lecture.blanks.reveal_next():
        context.say(tr("The pass has computed no other gradient up to here"))


@command(
    "lecture.reveal_all",
    tr("Reveal all gradients"),
    "Lecture/3",
    keys=("Ctrl+Alt+Shift+V",),
    bare=("A",),
    when=_is_blank,
    page="program",
)
def reveal_all(context: CommandContext) -> None:
    """Show all gradients that the pass has computed up to here."""
    if not context.lecture.blanks.reveal_all():
        context.say(tr("The pass has computed no other gradient up to here"))


@command("lecture.save", tr("Save the lecture…"), "Lecture/5", when=_has_slides, page="program")
def save(context: CommandContext) -> None:
    """Write the slides, with the program and every number of its run, to a file for students."""
    saved_run.save_run(context)
