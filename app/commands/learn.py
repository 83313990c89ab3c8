"""Lessons: open one, go through it, leave it."""

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files.documents import Refused
from gradscribe.app.lessons import catalogue
from gradscribe.playback.lessons.lesson import Lesson, LessonSummary
from gradscribe.playback.lessons.parse import BadLesson


def open_lesson(
    context: CommandContext, lesson: Lesson, step: int | None = None, trusted: bool = False
) -> None:
    """Open a lesson where it was left, or at a step; ``trusted``: run its programs unrestricted."""
    known = trusted or not lesson.path or context.settings.is_trusted(lesson.path, lesson.text)
    context.lessons.open(lesson, position_text(lesson), step, foreign=not known)


def position_text(lesson: Lesson) -> str:
    """Return the lesson's part, and its number among the built-in lessons."""
    names = [listed.name for listed in catalogue.summaries()]
    if lesson.path or lesson.name not in names:
        return lesson.part
    return f"{lesson.part} · {names.index(lesson.name) + 1} of {len(names)}"


def _in_lesson(context: CommandContext) -> bool:
    return context.lessons.lesson is not None


def _can_go_back(context: CommandContext) -> bool:
    return _in_lesson(context) and context.lessons.number > 0


@command("learn.lessons", "Lessons…", menu="Learn/1", keys=("Ctrl+Shift+T",))
def show_lessons(context: CommandContext) -> None:
    """See all lessons and your progress."""
    context.show_lessons()


@submenu("learn.open", "Open lesson", menu="Learn/1")
def list_lessons(context: CommandContext) -> list[MenuChoice]:
    """All lessons, the first one first."""

    def choice(number: int, one: LessonSummary) -> MenuChoice:
        done = context.lessons.progress.of(one.name).done
        title = f"{number}. {one.title}"
        return MenuChoice(
            title, lambda at: open_lesson(at, catalogue.builtin(one.file)), one.about, checked=done
        )

    return [choice(number, one) for number, one in enumerate(catalogue.summaries(), 1)]


@command("learn.file", "Open a lesson file…", menu="Learn/1")
def open_file(context: CommandContext) -> None:
    """Open a lesson from a file."""
    if path := context.dialogs.ask_open("Open a lesson", "Lessons (*.md);;All files (*)"):
        try:
            open_lesson(context, catalogue.read_lesson(path))
        except BadLesson as error:
            raise Refused(str(error)) from error


@command("learn.next", "Next step", menu="Learn/2", keys=("Ctrl+PgDown",), when=_in_lesson)
def go_on(context: CommandContext) -> None:
    """Go to the next step of the lesson."""
    context.lessons.next()


@command("learn.back", "Previous step", menu="Learn/2", keys=("Ctrl+PgUp",), when=_can_go_back)
def go_back(context: CommandContext) -> None:
    """Go back to the previous step."""
    context.lessons.back()


@command("learn.restore", "Put its program back", menu="Learn/2", when=_in_lesson)
def restore(context: CommandContext) -> None:
    """Undo what you changed in the program of the lesson."""
    context.lessons.restore()


@command("learn.leave", "Leave the lesson", menu="Learn/3", when=_in_lesson)
def leave(context: CommandContext) -> None:
    """Close the lesson and go back to your own program."""
    context.lessons.leave()


@command("learn.forget", "Forget all progress", menu="Learn/3")
def forget(context: CommandContext) -> None:
    """Delete the progress in all lessons."""
    context.lessons.progress.forget()
    context.say("All progress is deleted")
