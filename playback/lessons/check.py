"""Is a lesson right? Its programs are run, its answers and claims are asked of their tapes."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from engine.tape import Tape
from playback.index import Index, index_of
from playback.lessons import answers, facts, places
from playback.lessons.lesson import Lesson, Question, Step, Task
from playback.lessons.query import BadExpression, evaluate, holds

Run = Callable[[str], Tape]
"""Run a program and return its tape."""


class Flaw(Struct, frozen=True):
    """Something wrong with a lesson: the line of the step it is in, and what it is."""

    line: int
    why: str


def check(lesson: Lesson, run: Run) -> list[Flaw]:
    """Return what is wrong with a lesson; nothing where each step is as it says."""
    tapes: dict[str, Tape] = {}

    def recorded(program: str) -> Index:
        if program not in tapes:
            tapes[program] = run(program)
        return index_of(tapes[program])

    found: list[Flaw] = []
    for step in lesson.steps:
        if step.program.strip():
            found += [Flaw(step.line, why) for why in _step(step, recorded)]
        elif step.question or step.task or step.holds or step.at or step.select:
            found.append(Flaw(step.line, "there is no program yet to ask or to look at"))
        if not (step.text or step.question or step.task):
            found.append(Flaw(step.line, "a step needs words"))
    return found


def _step(step: Step, recorded: Callable[[str], Index]) -> Iterator[str]:
    index = recorded(step.program)
    yield from _ends(step, index)
    yield from _looks(step, index)
    for claim in step.holds:
        yield from _claim(claim, index)
    if step.question is not None:
        yield from _question(step.question, index)
    if step.task is not None:
        yield from _task(step.task, index, recorded)


def _ends(step: Step, index: Index) -> Iterator[str]:
    """Tell of a program that fails where the step does not speak of its error."""
    question = step.question
    asked = [question.answer, *(goal for _, goal in question.choices)] if question else []
    speaks = any("error" in words for words in (*step.holds, *asked))
    problem = index.tape.error
    if problem is not None and not (speaks or step.task):
        yield f"the program fails: line {problem.place.line}: {problem.type}: {problem.message}"
    if index.tape.truncated:
        yield f"the tape is not whole: {index.tape.truncated}"


def _looks(step: Step, index: Index) -> Iterator[str]:
    wanted = [step.at, step.question.play_to if step.question else ""]
    for words in filter(None, wanted):
        try:
            places.position(index, words)
        except places.NoPlace as error:
            yield str(error)
    if step.select and not any(
        step.select in (v.name, index.values[index.home(v.id)].name) for v in index.tape.values
    ):
        yield f"no tensor is called {step.select}"


def _claim(claim: str, index: Index) -> Iterator[str]:
    try:
        evaluate(claim, index)
        if not holds(claim, index):
            yield f"this does not hold: {claim}"
    except (BadExpression, facts.Missing) as error:
        yield str(error)


def _question(question: Question, index: Index) -> Iterator[str]:
    if question.choices:
        right = []
        for words, goal in question.choices:
            try:
                right += [words] if holds(goal, index) else []
            except BadExpression as error:
                yield str(error)
        if len(right) != 1:
            yield f"one choice must hold, but {len(right)} do: {', '.join(right)}"
        return
    try:
        evaluate(question.answer, index)
    except (BadExpression, facts.Missing) as error:
        yield str(error)
        return
    shown = answers.truth(question, index)
    if answers.judge(question, shown, index) != "right":
        yield f"the answer {shown!r} does not count as right when it is typed"


def _task(task: Task, index: Index, recorded: Callable[[str], Index]) -> Iterator[str]:
    try:
        if holds(task.goal, index):
            yield f"the task is done before it is begun: {task.goal}"
        if not holds(task.goal, recorded(task.solution)):
            yield f"the solution does not reach {task.goal}"
    except BadExpression as error:
        yield str(error)
