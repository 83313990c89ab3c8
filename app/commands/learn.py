"""Lessons: open one, go through it, leave it."""

from app import lessons
from app.commands import Choice, command, submenu
from app.documents import Refused
from app.shell import Shell
from playback.lessons.lesson import Lesson, Listed
from playback.lessons.parse import BadLesson


def open_lesson(
    shell: Shell, lesson: Lesson, step: int | None = None, trusted: bool = False
) -> None:
    """Open a lesson where it was left, or at a step; ``trusted``: its programs run as ours do."""
    known = trusted or not lesson.path or shell.settings.is_trusted(lesson.path, lesson.text)
    shell.learning.open(lesson, place_of(lesson), step, foreign=not known)


def place_of(lesson: Lesson) -> str:
    """Return where a lesson stands: its part, and its number among ours."""
    names = [one.name for one in lessons.listed()]
    if lesson.path or lesson.name not in names:
        return lesson.part
    return f"{lesson.part} · {names.index(lesson.name) + 1} of {len(names)}"


def _in_lesson(shell: Shell) -> bool:
    return shell.learning.lesson is not None


def _can_go_back(shell: Shell) -> bool:
    return _in_lesson(shell) and shell.learning.number > 0


@command("learn.lessons", "Lessons…", menu="Learn/1", keys=("Ctrl+Shift+T",))
def show_lessons(shell: Shell) -> None:
    """See all lessons and how far you are."""
    shell.show_lessons()


@submenu("learn.open", "Open lesson", menu="Learn/1")
def list_lessons(shell: Shell) -> list[Choice]:
    """All lessons, the first one first."""

    def choice(number: int, one: Listed) -> Choice:
        done = shell.learning.progress.of(one.name).done
        title = f"{number}. {one.title}"
        return Choice(
            title, lambda at: open_lesson(at, lessons.ours(one.file)), one.about, checked=done
        )

    return [choice(number, one) for number, one in enumerate(lessons.listed(), 1)]


@command("learn.file", "Open a lesson file…", menu="Learn/1")
def open_file(shell: Shell) -> None:
    """Open a lesson that you or somebody else wrote."""
    if path := shell.ask_open("Open a lesson", "Lessons (*.md);;All files (*)"):
        try:
            open_lesson(shell, lessons.read_lesson(path))
        except BadLesson as error:
            raise Refused(str(error)) from error


@command("learn.next", "Next step", menu="Learn/2", keys=("Ctrl+PgDown",), when=_in_lesson)
def go_on(shell: Shell) -> None:
    """Go to the next step of the lesson."""
    shell.learning.next()


@command("learn.back", "Step before", menu="Learn/2", keys=("Ctrl+PgUp",), when=_can_go_back)
def go_back(shell: Shell) -> None:
    """Go back to the step before."""
    shell.learning.back()


@command("learn.restore", "Put its program back", menu="Learn/2", when=_in_lesson)
def restore(shell: Shell) -> None:
    """Undo what you changed in the program of the lesson."""
    shell.learning.restore()


@command("learn.leave", "Leave the lesson", menu="Learn/3", when=_in_lesson)
def leave(shell: Shell) -> None:
    """Close the lesson and have your own program back."""
    shell.learning.leave()


@command("learn.forget", "Forget all progress", menu="Learn/3")
def forget(shell: Shell) -> None:
    """Begin all lessons anew."""
    shell.learning.progress.forget()
    shell.say("All lessons begin anew")
