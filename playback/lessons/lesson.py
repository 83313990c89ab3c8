"""Types of a parsed lesson."""

from typing import Literal

from msgspec import Struct

Kind = Literal["number", "shape", "choice", "word"]
MAX_CHOICES = 6
"""Most choices of a question."""
MAX_MISTAKES = 12
"""Most mistakes that a question replies to."""


class WrongAnswer(Struct, frozen=True):
    """A mistake that learners make: the expression that gives their answer, and the reply.

    ``line`` is its line in the file.
    """

    answer: str
    reply: str
    line: int = 0


class Question(Struct, frozen=True):
    """A prediction to make. ``answer`` is an expression on the tape; see `playback.lessons.query`.

    For a *choice* each of ``choices`` is a text and the expression that holds if it is right;
    ``tolerance`` is relative. ``unseen``: the step's program runs only after the learner has
    answered. ``play_to``: the place to which the tape plays when the answer is shown.
    """

    text: str
    kind: Kind
    answer: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    tolerance: float = 0.01
    hint: str = ""
    why: str = ""
    play_to: str = "end"
    unseen: bool = False
    mistakes: tuple[WrongAnswer, ...] = ()
    """Mistakes to reply to, before those that every question knows; see `lessons.mistakes`."""
    line: int = 0


class Task(Struct, frozen=True):
    """A change to make to the program until ``goal`` holds on its tape; ``solution`` does so."""

    text: str
    goal: str
    hint: str = ""
    why: str = ""
    solution: str = ""
    line: int = 0


class LessonStep(Struct, frozen=True):
    """A page of a lesson: text, program, what to show, and a question or task.

    ``program`` is complete even where the file only has a change. ``at`` is a place on the tape,
    ``select`` a name, ``open`` the table to bring to the front. ``holds`` are claims about the
    tape, for the checker. ``line`` is the step's line in the file; ``program_line``, ``look_line``
    and ``holds_lines`` are the lines of its blocks and claims, 0 for none.
    """

    title: str
    text: str
    program: str = ""
    at: str = ""
    select: str = ""
    open: str = ""
    question: Question | None = None
    task: Task | None = None
    holds: tuple[str, ...] = ()
    line: int = 0
    program_line: int = 0
    look_line: int = 0
    holds_lines: tuple[int, ...] = ()


class LessonSummary(Struct, frozen=True):
    """Entry of a built-in lesson in a list: its head, and its number of ``steps``.

    ``file`` is the name of its file, ``name`` the same without number and extension. ``minutes``
    is an estimate, ``topics`` are the titles of the steps, ``text`` is the whole file, to search.
    """

    file: str
    name: str
    title: str
    about: str
    part: str
    steps: int
    minutes: int = 1
    topics: tuple[str, ...] = ()
    text: str = ""


class Lesson(Struct, frozen=True):
    """A lesson. ``name`` is its file's name without number and extension."""

    name: str
    title: str
    about: str
    part: str
    covers: tuple[str, ...]
    steps: tuple[LessonStep, ...]
    path: str = ""
    """Path of the file of a lesson that is not built in; empty for built-in lessons."""
    text: str = ""
    """Content of that file when it was read; empty for built-in lessons."""

    @property
    def key(self) -> str:
        """Unique key: the path, else the name of a built-in lesson."""
        return self.path or self.name
