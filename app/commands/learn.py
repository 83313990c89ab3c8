"""Lessons, and gradients found by hand: open them, go through them, leave them."""

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files.documents import Refused
from gradscribe.app.lessons import catalogue
from gradscribe.playback.by_hand.exercises import LEVELS
from gradscribe.playback.lessons.lesson import Lesson, LessonSummary
from gradscribe.playback.lessons.parse import BadLesson
from gradscribe.playback.translation import tr


def open_lesson(
    context: CommandContext, lesson: Lesson, step: int | None = None, trusted: bool = False
) -> None:
    """Open a lesson on the program page, where it was left or at a step.

    ``trusted``: run its programs unrestricted.
    """
    known = trusted or not lesson.path or context.settings.is_trusted(lesson.path, lesson.text)
    context.lessons.open(lesson, position_text(lesson), step, foreign=not known)
    context.workspaces.show_workspace("program")


def position_text(lesson: Lesson) -> str:
    """Return the lesson's part, and its number among the built-in lessons."""
    names = [listed.name for listed in catalogue.summaries()]
    if lesson.path or lesson.name not in names:
        return lesson.part
    return tr(
        "{part} · {value} of {names_count}",
        part=lesson.part,
        value=names.index(lesson.name) + 1,
        names_count=len(names),
    )


def _in_lesson(context: CommandContext) -> bool:
    return context.lessons.lesson is not None


def _can_go_back(context: CommandContext) -> bool:
    return _in_lesson(context) and context.lessons.number > 0


@command("learn.lessons", tr("Lessons…"), menu="Learn/1", keys=("Ctrl+Shift+T",))
def show_lessons(context: CommandContext) -> None:
    """See all lessons and your progress."""
    context.show_lessons()


@submenu("learn.open", tr("Open lesson"), menu="Learn/1")
def list_lessons(context: CommandContext) -> list[MenuChoice]:
    """All lessons, the first one first."""

    def choice(number: int, one: LessonSummary) -> MenuChoice:
        done = context.lessons.progress.of(one.name).done
        title = f"{number}. {one.title}"
        return MenuChoice(
            title, lambda at: open_lesson(at, catalogue.builtin(one.file)), one.about, checked=done
        )

    return [choice(number, one) for number, one in enumerate(catalogue.summaries(), 1)]


@command("learn.file", tr("Open a lesson file…"), menu="Learn/1")
def open_file(context: CommandContext) -> None:
    """Open a lesson from a file."""
    if path := context.dialogs.ask_open(tr("Open a lesson"), tr("Lessons (*.md);;All files (*)")):
        try:
            open_lesson(context, catalogue.read_lesson(path))
        except BadLesson as error:
            raise Refused(str(error)) from error


@command("learn.next", tr("Next step"), menu="Learn/2", keys=("Ctrl+PgDown",), when=_in_lesson)
def go_on(context: CommandContext) -> None:
    """Go to the next step of the lesson."""
    context.lessons.next()


@command("learn.back", tr("Previous step"), menu="Learn/2", keys=("Ctrl+PgUp",), when=_can_go_back)
def go_back(context: CommandContext) -> None:
    """Go back to the previous step."""
    context.lessons.back()


@command("learn.restore", tr("Put its program back"), menu="Learn/2", when=_in_lesson)
def restore(context: CommandContext) -> None:
    """Undo what you changed in the program of the lesson."""
    context.lessons.restore()


@command("learn.leave", tr("Leave the lesson"), menu="Learn/3", when=_in_lesson)
def leave(context: CommandContext) -> None:
    """Close the lesson and go back to your own program."""
    context.lessons.leave()


@command("learn.forget", tr("Forget all progress"), menu="Learn/3")
def forget(context: CommandContext) -> None:
    """Delete the progress in all lessons."""
    context.lessons.progress.forget()
    context.say(tr("All progress is deleted"))


def _has_questions(context: CommandContext) -> bool:
    return context.hand.can_ask()


def _can_hide(context: CommandContext) -> bool:
    return context.hand.can_hide()


def _can_reveal(context: CommandContext) -> bool:
    return context.hand.can_reveal()


def _hides(context: CommandContext) -> bool:
    return context.session.hiding.is_on


def _in_exercise(context: CommandContext) -> bool:
    return context.hand.exercise.is_open


def _has_passes(context: CommandContext) -> bool:
    return context.backward_code.can_show()


def _show_pane(context: CommandContext) -> None:
    context.workspaces.show_workspace("program")
    context.settings.put("left", True)
    context.settings.put("below", True)


@command(
    "hand.find",
    tr("Find a gradient by hand"),
    menu="Learn/4",
    keys=("Ctrl+Alt+G",),
    when=_has_questions,
)
def find_gradient(context: CommandContext) -> None:
    """Type the gradient of the selected tensor, and see where the chain breaks."""
    _show_pane(context)
    context.hand.open()


@command(
    "hand.hide",
    tr("Hide gradients until found"),
    menu="Learn/4",
    when=_can_hide,
    checked=_hides,
)
def hide_gradients(context: CommandContext) -> None:
    """Show no gradient of this program before you have found it by hand."""
    context.hand.hide(not context.session.hiding.is_on)
    if context.session.hiding.is_on:
        _show_pane(context)
        context.hand.open()


@command("hand.reveal", tr("Show the hidden gradient"), menu="Learn/4", when=_can_reveal)
def reveal_gradient(context: CommandContext) -> None:
    """Show the gradient that is asked for; it counts as not found."""
    context.hand.reveal()


@command("hand.code", tr("Backward code by hand…"), menu="Learn/4", when=_has_passes)
def show_backward_code(context: CommandContext) -> None:
    """Write the backward pass in Python, compared with autograd's gradients."""
    context.backward_code.show()


@submenu("hand.exercise", tr("New gradient exercise"), menu="Learn/4")
def list_levels(_context: CommandContext) -> list[MenuChoice]:
    """Programs from templates, with their gradients hidden."""

    def choice(level: int, title: str) -> MenuChoice:
        return MenuChoice(
            f"{level}. {title}",
            lambda at: _begin(at, level),
            tr("Exercises of level {level}", level=level),
        )

    return [choice(level, title) for level, title in enumerate(LEVELS, 1)]


@command("hand.next", tr("Next gradient exercise"), menu="Learn/4")
def next_exercise(context: CommandContext) -> None:
    """Open another exercise of the level that is chosen in the pane."""
    _begin(context, context.hand.level)


def _begin(context: CommandContext, level: int) -> None:
    _show_pane(context)
    context.hand.begin_exercise(level)


@command("hand.leave", tr("Back to my program"), menu="Learn/4", when=_in_exercise)
def leave_exercise(context: CommandContext) -> None:
    """Leave the exercise and go back to your own program."""
    context.hand.leave_exercise()


@command("hand.forget", tr("Reset the score by hand"), menu="Learn/4")
def forget_score(context: CommandContext) -> None:
    """Set the score of gradients found by hand back to nothing."""
    context.hand.forget_score()
    context.say(tr("The score is reset"))
