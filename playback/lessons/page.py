"""What the learner sees of a step: a lesson and how far one is in it -> one page of words."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from playback.index import Index
from playback.lessons import answers, markup
from playback.lessons.lesson import Kind, Lesson, Question, Task
from playback.lessons.query import BadExpression, holds

Mood = Literal["", "good", "bad", "told"]
"""How an answer came out: right, not right, or shown without having been found."""


class Said(Struct, frozen=True):
    """What the learner did on a step: the answer given, and what has been shown to them."""

    answer: str = ""
    mood: Mood = ""
    hinted: bool = False
    tries: int = 0
    remark: str = ""

    @property
    def closed(self) -> bool:
        """Whether the step's question is answered, or its answer shown."""
        return self.mood in ("good", "told")


class Page(Struct, frozen=True):
    """One page of the pane; ``words``, ``asked``, ``verdict``, ``why`` and ``hint`` are HTML."""

    title: str
    place: str
    """``Autograd · lesson 9 of 26``"""
    heading: str
    number: int
    total: int
    words: str
    code: str = ""
    """A program that is shown here until the question is answered, and runs only then."""
    label: str = ""
    """``Predict`` above a question, ``Try it`` above a task."""
    asked: str = ""
    kind: Kind = "number"
    choices: tuple[str, ...] = ()
    said: str = ""
    mood: Mood = ""
    verdict: str = ""
    why: str = ""
    hint: str = ""
    can_hint: bool = False
    can_reveal: bool = False
    waiting: bool = False
    """Whether the tape that has the answer is still being recorded."""
    held: bool = False
    """Whether the lesson is from elsewhere and nobody has let its programs run yet."""
    last: bool = False
    can_restore: bool = False
    """Whether the program in the editor is no longer the lesson's."""

    @property
    def asks(self) -> bool:
        """Whether an answer can be given now."""
        return self.label == "Predict" and self.mood not in ("good", "told")


def page(
    lesson: Lesson,
    number: int,
    said: Said,
    index: Index | None,
    place: str,
    waiting: bool = False,
    held: bool = False,
) -> Page:
    """Return the page of a step; ``index`` is the tape of the program in the editor."""
    step = lesson.steps[number]
    shown = Page(
        lesson.title,
        place,
        step.title,
        number + 1,
        len(lesson.steps),
        markup.html(step.text),
        waiting=waiting or held,
        held=held,
        last=number + 1 == len(lesson.steps),
    )
    if step.question is not None:
        code = step.program if step.question.unseen and not said.closed else ""
        return _asking(shown, step.question, said, index, code)
    if step.task is not None:
        return _setting(shown, step.task, said, index)
    return shown


def _asking(shown: Page, question: Question, said: Said, index: Index | None, code: str) -> Page:
    truth = answers.truth(question, index) if index is not None and said.closed else ""
    verdict = {
        "good": f"Yes: {truth}",
        "told": _told(said, truth),
        "bad": said.remark or "Not quite. Try again",
        "": said.remark,
    }[said.mood]
    if question.kind == "choice" and said.mood == "good":
        verdict = "Yes"
    return replace(
        shown,
        code=code,
        label="Predict",
        asked=markup.html(question.text),
        kind=question.kind,
        choices=tuple(markup.inline(words) for words, _ in question.choices),
        said=_right(question, index) if said.mood == "told" else said.answer,
        mood=said.mood,
        verdict=markup.inline(verdict) if question.kind == "choice" else verdict,
        why=markup.html(question.why) if said.closed else "",
        hint=markup.html(question.hint) if said.hinted else "",
        can_hint=bool(question.hint) and not said.hinted and not said.closed,
        can_reveal=not said.closed,
    )


def _told(said: Said, truth: str) -> str:
    if not truth:
        return "This tape does not tell"
    return f"{said.remark}: it is {truth}" if said.remark else f"It is {truth}"


def _right(question: Question, index: Index | None) -> str:
    if index is None:
        return ""
    if question.kind == "choice":
        return str(answers.right_choice(question, index))
    return answers.truth(question, index)


def _setting(shown: Page, task: Task, said: Said, index: Index | None) -> Page:
    done = index is not None and reached(task, index)
    closed = done or said.mood in ("good", "told")
    return replace(
        shown,
        label="Try it",
        asked=markup.html(task.text),
        mood="good" if done else said.mood,
        verdict="Done: the tape agrees" if done else said.remark,
        why=markup.html(task.why) if closed else "",
        hint=markup.html(task.hint) if said.hinted else "",
        can_hint=bool(task.hint) and not said.hinted and not closed,
        can_reveal=not closed,
    )


def reached(task: Task, index: Index) -> bool:
    """Tell whether a task's goal holds on a tape."""
    try:
        return holds(task.goal, index)
    except BadExpression:
        return False
