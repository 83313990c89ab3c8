"""Validation of a lesson: runs its programs, and evaluates its answers and claims on the tapes."""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.playback.code import places
from gradscribe.playback.lessons import answers, tape_functions
from gradscribe.playback.lessons.lesson import Lesson, LessonStep, Question, Task
from gradscribe.playback.lessons.query import BadExpression, evaluate, is_true
from gradscribe.playback.lessons.tape_functions import Answer
from gradscribe.playback.tape.index import Index, index_of

RunProgram = Callable[[str], Tape]
"""Function that runs a program and returns its tape."""


class LessonProblem(Struct, frozen=True):
    """A problem of a lesson: its line in the file, and a message."""

    line: int
    why: str


def check_lesson(lesson: Lesson, run: RunProgram) -> list[LessonProblem]:
    """Return the problems of a lesson; empty for a valid lesson."""
    tapes: dict[str, Tape] = {}

    def recorded(program: str) -> Index:
        if program not in tapes:
            tapes[program] = run(program)
        return index_of(tapes[program])

    found: list[LessonProblem] = []
    for step in lesson.steps:
        if step.program.strip():
            found += _step(step, recorded)
        elif step.question or step.task or step.holds or step.at or step.select:
            found.append(LessonProblem(step.line, "there is no program yet to ask or to look at"))
        if not (step.text or step.question or step.task):
            found.append(LessonProblem(step.line, "a step needs text"))
    return found


def _step(step: LessonStep, recorded: Callable[[str], Index]) -> Iterator[LessonProblem]:
    index = recorded(step.program)
    begun = step.program_line or step.line
    yield from (LessonProblem(begun, why) for why in _ends(step, index))
    yield from (LessonProblem(step.look_line or step.line, why) for why in _looks(step, index))
    for line, claim in zip(step.holds_lines, step.holds, strict=True):
        yield from (LessonProblem(line, why) for why in _claim(claim, index))
    if step.question is not None:
        at = step.question.line or step.line
        yield from (LessonProblem(at, why) for why in _question(step.question, index))
        yield from _mistakes(step.question, index)
    if step.task is not None:
        at = step.task.line or step.line
        yield from (LessonProblem(at, why) for why in _task(step.task, index, recorded))


def _ends(step: LessonStep, index: Index) -> Iterator[str]:
    """Yield problems of a program that fails in a step that does not mention its error."""
    question = step.question
    asked = [question.answer, *(goal for _, goal in question.choices)] if question else []
    speaks = any("error" in expression for expression in (*step.holds, *asked))
    tape, problem = index.tape, index.tape.error
    if tape.status in ("refused", "timeout", "died"):
        yield f"the program does not run: {_problem_text(problem)}"
    elif problem is not None and not (speaks or step.task):
        yield f"the program fails: {_problem_text(problem)}"
    if tape.truncated:
        yield f"the tape is incomplete: {tape.truncated}"


def _problem_text(problem: Problem | None) -> str:
    if problem is None:
        return "the reason is unknown"
    where = f"line {problem.place.line}: " if problem.place.line else ""
    return f"{where}{problem.type}: {problem.message}"


def _looks(step: LessonStep, index: Index) -> Iterator[str]:
    if step.at and (why := _place_error(step.at, index)):
        yield why
    if step.select and not any(
        step.select in (v.name, index.values[index.first_version(v.id)].name)
        for v in index.tape.values
    ):
        yield f"no tensor is called {step.select}"


def _place_error(place: str, index: Index) -> str:
    try:
        places.position_of(index, place)
    except places.UnknownPlace as error:
        return str(error)
    return ""


def _claim(claim: str, index: Index) -> Iterator[str]:
    try:
        evaluate(claim, index)
        if not is_true(claim, index):
            yield f"this does not hold: {claim}"
    except (BadExpression, tape_functions.NotOnTape) as error:
        yield _with_expression(claim, error)


def _with_expression(expression: str, error: Exception) -> str:
    """Return the message of an error together with its expression."""
    message = str(error)
    return message if expression in message else f"{expression}: {message}"


def _question(question: Question, index: Index) -> Iterator[str]:
    if question.play_to and (why := _place_error(question.play_to, index)):
        yield f"play_to: {why}"
    if question.choices:
        yield from _choices(question, index)
        return
    try:
        evaluate(question.answer, index)
    except (BadExpression, tape_functions.NotOnTape) as error:
        yield _with_expression(question.answer, error)
        return
    shown = answers.correct_answer(question, index)
    if answers.check_answer(question, shown, index) != "right":
        yield f"the answer {shown!r} does not count as right when it is typed"


def _mistakes(question: Question, index: Index) -> Iterator[LessonProblem]:
    """Yield problems of the mistakes that a question replies to."""
    try:
        truth = evaluate(question.answer, index) if question.mistakes else None
    except (BadExpression, tape_functions.NotOnTape):
        return
    seen: dict[str, str] = {answers.answer_text(truth): "the right answer"}
    for mistake in question.mistakes:
        try:
            wrong = evaluate(mistake.answer, index)
        except (BadExpression, tape_functions.NotOnTape) as error:
            yield LessonProblem(mistake.line, _with_expression(mistake.answer, error))
            continue
        shown = answers.answer_text(wrong)
        if answers.compare(question, answers.answer_text(wrong), truth) == "right":
            yield LessonProblem(mistake.line, f"this mistake is the right answer: {mistake.answer}")
        elif shown in seen:
            why = f"{mistake.answer} gives {shown}, as {seen[shown]} does"
            yield LessonProblem(mistake.line, why)
        elif says(mistake.reply, truth):
            yield LessonProblem(mistake.line, f"the reply gives the answer away: {mistake.reply}")
        seen.setdefault(shown, mistake.answer)


def says(reply: str, truth: Answer) -> bool:
    """Return whether a text contains an answer as a word of its own."""
    shown = re.escape(answers.answer_text(truth).strip("[]()"))
    return bool(shown) and bool(re.search(rf"(?<![\w.]){shown}(?!\w|\.\d)", reply))


def _choices(question: Question, index: Index) -> Iterator[str]:
    right: list[str] = []
    for words, goal in question.choices:
        try:
            right += [words] if is_true(goal, index) else []
        except BadExpression as error:
            yield _with_expression(goal, error)
    if len(right) != 1:
        yield f"one choice must hold, but {len(right)} do{': ' if right else ''}{', '.join(right)}"


def _task(task: Task, index: Index, recorded: Callable[[str], Index]) -> Iterator[str]:
    try:
        if is_true(task.goal, index):
            yield f"the goal holds before the task is begun: {task.goal}"
        solved = recorded(task.solution)
        if not is_true(task.goal, solved):
            error = solved.tape.error
            yield f"the solution does not reach {task.goal}" + (
                f": it fails: {_problem_text(error)}" if error is not None else ""
            )
    except BadExpression as error:
        yield _with_expression(task.goal, error)
