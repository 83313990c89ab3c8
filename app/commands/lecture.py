"""A lecture: its slides, and gradients that are blank until they are revealed."""

from gradscribe.app.commands import command, saved_run
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.translation import tr


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
