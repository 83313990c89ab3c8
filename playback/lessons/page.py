"""Page of a lesson as the learner sees it, from the lesson and the learner's progress."""

from html import escape
from typing import Literal

from msgspec import Struct

from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.lessons import answers, markup
from gradscribe.playback.lessons.lesson import Kind, Lesson, Question, Task
from gradscribe.playback.lessons.query import BadExpression, is_true
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

Mood = Literal["", "good", "bad", "told"]
"""Result of an answer: right, wrong, or revealed on request."""


class StepProgress(Struct, frozen=True):
    """Progress of the learner on a step: the answer given, the hint and answer shown."""

    answer: str = ""
    mood: Mood = ""
    hinted: bool = False
    tries: int = 0
    remark: str = ""

    @property
    def closed(self) -> bool:
        """True if the step's question is answered, or its answer revealed."""
        return self.mood in ("good", "told")


class LessonPage(Struct, frozen=True):
    """Page of the lesson pane; ``words``, ``asked``, ``verdict``, ``why`` and ``hint`` are HTML."""

    title: str
    place: str
    """``Autograd · lesson 9 of 26``"""
    heading: str
    number: int
    total: int
    words: str
    code: str = ""
    """A program that is shown in the page until the question is answered, and runs only then."""
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
    """True while the tape with the answer is being recorded."""
    held: bool = False
    """True while the programs of a lesson that is not built in are not allowed to run."""
    last: bool = False
    can_restore: bool = False
    """True if the program in the editor differs from the lesson's."""

    @property
    def asks(self) -> bool:
        """True if an answer can be given now."""
        return self.label == tr("Predict") and self.mood not in ("good", "told")


def build_page(
    lesson: Lesson,
    number: int,
    said: StepProgress,
    index: Index | None,
    place: str,
    waiting: bool = False,
    held: bool = False,
) -> LessonPage:
    """Return the page of a step; ``index`` is the tape of the program in the editor."""
    step = lesson.steps[number]
    shown = LessonPage(
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
        return _with_question(shown, step.question, said, index, code)
    if step.task is not None:
        return _with_task(shown, step.task, said, index)
    return shown


def _with_question(
    shown: LessonPage, question: Question, said: StepProgress, index: Index | None, code: str
) -> LessonPage:
    truth = answers.correct_answer(question, index) if index is not None and said.closed else ""
    shown_truth = markup.inline(truth) if question.kind == "choice" else escape(truth)
    verdict = {
        "good": tr("Yes: {shown_truth}", shown_truth=shown_truth),
        "told": _reveal_text(said, shown_truth),
        "bad": markup.inline(said.remark or tr("Not quite. Try again")),
        "": markup.inline(said.remark),
    }[said.mood]
    if question.kind == "choice" and said.mood == "good":
        verdict = tr("Yes")
    return replace(
        shown,
        code=code,
        label=tr("Predict"),
        asked=markup.html(question.text),
        kind=question.kind,
        choices=tuple(markup.inline(words) for words, _ in question.choices),
        said=_right_answer(question, index) if said.mood == "told" else said.answer,
        mood=said.mood,
        verdict=verdict,
        why=markup.html(question.why) if said.closed else "",
        hint=markup.html(question.hint) if said.hinted else "",
        can_hint=bool(question.hint) and not said.hinted and not said.closed,
        can_reveal=not said.closed,
    )


def _reveal_text(said: StepProgress, truth: str) -> str:
    """Return the HTML that shows the answer, after the remark on a wrong one."""
    remark = markup.inline(said.remark)
    if not truth:
        return (
            tr("{remark}. This tape has no answer", remark=remark)
            if remark
            else tr("This tape has no answer")
        )
    if not remark:
        return tr("It is {truth}", truth=truth)
    return (
        tr("{remark} It is {truth}.", remark=remark, truth=truth)
        if remark[-1] in ".?"
        else tr("{remark}: it is {truth}", remark=remark, truth=truth)
    )


def _right_answer(question: Question, index: Index | None) -> str:
    if index is None:
        return ""
    if question.kind == "choice":
        return str(answers.right_choice(question, index))
    return answers.correct_answer(question, index)


def _with_task(
    shown: LessonPage, task: Task, said: StepProgress, index: Index | None
) -> LessonPage:
    done = index is not None and is_goal_reached(task, index)
    closed = done or said.mood in ("good", "told")
    return replace(
        shown,
        label=tr("Try it"),
        asked=markup.html(task.text),
        mood="good" if done else said.mood,
        verdict=tr("Done: the tape agrees") if done else said.remark,
        why=markup.html(task.why) if closed else "",
        hint=markup.html(task.hint) if said.hinted else "",
        can_hint=bool(task.hint) and not said.hinted and not closed,
        can_reveal=not closed,
    )


def is_goal_reached(task: Task, index: Index) -> bool:
    """Return whether a task's goal holds on a tape."""
    try:
        return is_true(task.goal, index)
    except BadExpression:
        return False
