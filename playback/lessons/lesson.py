"""What a lesson is made of, once its file has been read."""

from typing import Literal

from msgspec import Struct

Kind = Literal["number", "shape", "choice", "word"]
MOST_CHOICES = 6
"""So many a question may have."""


class Question(Struct, frozen=True):
    """Something to predict. ``answer`` is an expression on the tape; see `playback.lessons.query`.

    For a *choice* each of ``choices`` is a text and the expression that must hold where it is
    right; ``tolerance`` is relative. ``unseen``: the step's program runs only once the learner has
    answered. ``play_to``: where the tape is played to when the answer is shown.
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
    line: int = 0


class Task(Struct, frozen=True):
    """Something to do to the program, until ``goal`` holds on its tape; ``solution`` shows how."""

    text: str
    goal: str
    hint: str = ""
    why: str = ""
    solution: str = ""
    line: int = 0


class Step(Struct, frozen=True):
    """One page: words, the program it is about, where to look, and what to predict or to do.

    ``program`` is whole, also where the file only says what changes. ``at`` is a place on the tape,
    ``select`` a name, ``open`` the table to bring to the front. ``holds`` are claims about the
    tape, for the checker. ``line`` is the step's line in the file; ``program_line``, ``look_line``
    and ``holds_lines`` are those of its blocks and claims, 0 where it has none.
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


class Listed(Struct, frozen=True):
    """What a list tells of a lesson of ours: its head, and how many ``steps`` it has.

    ``file`` is the name of its file, ``name`` the same without number and ending.
    """

    file: str
    name: str
    title: str
    about: str
    part: str
    steps: int


class Lesson(Struct, frozen=True):
    """A lesson. ``name`` is its file's name without number and ending."""

    name: str
    title: str
    about: str
    part: str
    covers: tuple[str, ...]
    steps: tuple[Step, ...]
    path: str = ""
    """Where the file of a lesson from elsewhere lies; empty for ours."""
    text: str = ""
    """What that file held when it was read; empty for ours."""

    @property
    def key(self) -> str:
        """What tells it from every other lesson, also from one of ours with its name."""
        return self.path or self.name
