"""Lessons of strangers: refused with a line, or read in the time one waits; no question harms."""

import math
import random
import time
import warnings

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.code import places
from gradscribe.playback.lessons import answers, typed
from gradscribe.playback.lessons.lesson import Lesson, Question
from gradscribe.playback.lessons.page import StepProgress, build_page
from gradscribe.playback.lessons.parse import (
    LONGEST,
    LONGEST_PROGRAM,
    MOST_STEPS,
    BadLesson,
    parse_lesson,
)
from gradscribe.playback.lessons.query import BadExpression, evaluate
from gradscribe.playback.tape.index import index_of
from tests.playback.lessons.test_parse import GOOD

HEAD = '+++\ntitle = "t"\nabout = "a"\npart = "p"\n+++\n'
WAIT_S = 2.0
"""Of the processor's time. What is bounded here took from five seconds to all of the memory."""
ODD = ["```", "+++\n", "## ", "\n```ask\n", "=", "[", "1e999", '"""', "inf", "\x0c", "\u2028", "\0"]


def asking(body):
    return f'{HEAD}## s\n```python\nx = 1\n```\n```ask\nquestion = "q"\n{body}\n```\n'


def read(text):
    """Read a text as a lesson, within the time; returns it, or how it was refused."""
    begun = time.thread_time()
    try:
        found = parse_lesson("a.md", text)
    except BadLesson as refused:
        found = refused
    assert time.thread_time() - begun < WAIT_S
    assert isinstance(found, Lesson) or 1 <= found.line <= text.count("\n") + 2
    return found


def test_a_file_that_ends_anywhere_is_a_lesson_or_refused():
    found = [read(GOOD[:end]) for end in range(len(GOOD))]
    assert {type(one) for one in found} == {Lesson, BadLesson}


@pytest.mark.parametrize("seed", range(300))
def test_a_file_with_anything_in_it_is_a_lesson_or_refused(seed):
    dice = random.Random(seed)
    text = GOOD
    for _ in range(dice.randint(1, 6)):
        start = dice.randrange(len(text))
        stop = start + dice.randint(0, 60)
        new = dice.choice([*ODD, text[start:stop] * dice.randint(2, 40), chr(dice.randrange(9999))])
        text = text[:start] + new + text[dice.choice([start, stop]) :]
    read(text)


ENDLESS = {
    "too long": HEAD + "## a\n" + "words " * (LONGEST // 6),
    "steps": HEAD + "## a\n" * (MOST_STEPS + 1),
    "a program": HEAD + "## a\n```python\n" + "x = 1\n" * (LONGEST_PROGRAM // 6 + 1) + "```\n",
    "a program that grows": HEAD + "## a\n```python add\nx = 1000000000000000\n```\n" * 5000,
    "lists in lists": asking(f"choices = {'[' * 5000}{']' * 5000}"),
    "lists in the head": HEAD.replace('"t"', "[" * 100_000) + "## a\n",
    "tables in tables": asking(f"choices = {'{a=' * 5000}1{'}' * 5000}"),
    "a key of keys": asking(f"a{'.a' * 20_000} = 1"),
    "a table of tables": asking(f"[a{'.a' * 20_000}]"),
    "digits": asking(f'answer = "1"\ntolerance = {"9" * 5000}'),
    "a number past all": asking(f'answer = "1"\ntolerance = {"9" * 400}'),
    "a tolerance without end": asking('answer = "1"\ntolerance = inf'),
    "a tolerance that is none": asking('answer = "1"\ntolerance = nan'),
    "a tolerance below 0": asking('answer = "1"\ntolerance = -1'),
    "a date that is none": asking("answer = 1979-13-99"),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_has_no_end_is_refused_while_one_waits(what):
    assert isinstance(read(ENDLESS[what]), BadLesson)


def test_a_diff_of_many_lines_is_read_while_one_waits():
    lines = [f"a{i}" for i in range(8000)]
    program, hunks = "\n".join(lines), "".join(f"-{line}\n+b\n" for line in lines)
    found = read(f"{HEAD}## s\n```python\n{program}\n```\n```diff\n{hunks}```\n")
    assert found.steps[0].program == "b\n" * 8000


@pytest.mark.parametrize(
    ("diff", "times"), [("-y = 1\n", "2 times"), ("-x = 1\n-y\n", "nowhere"), ("-= 1\n", "nowhere")]
)
def test_a_diff_finds_whole_lines_and_one_place(diff, times):
    text = f"{HEAD}## s\n```python\nx = 1\ny = 1\ny = 1\n```\n```diff\n{diff}```\n"
    with pytest.raises(BadLesson, match=f"has this {times}"):
        parse_lesson("a.md", text)


@pytest.fixture(scope="module")
def tape():
    cube = "a, b, c = torch.ones(1020, 1), torch.ones(1, 1020), torch.ones(1020, 1, 1)\n"
    return index_of(record(f"{cube}x = param(2.0)\n(x * x).backward()"))


NINES = "9" * 390
SENSELESS = [
    *(
        NINES,
        f"-{NINES}",
        f"[{NINES}]",
        f"abs({NINES})",
        f"sum({NINES}, 1)",
        "value(a) * value(b) * value(c)",
        "value(a)",
        "values(a)",
    ),
    *(
        "value(a) * value(b) < value(c)",
        "near(value(a) * value(b), value(c))",
        "1 +",
        "grad(x) == ",
        "x.y",
        "value(q)",
    ),
    *("[" * 190 + "]" * 190, "not " * 90 + "1", "log(-1)", "exp(1e9)", "7 // 0", "'a' in 3"),
    *("1or 2", "error.hint + 1", "values(x)[99]", "count(at=3)", "min()", "value('\\ud800')"),
]


@pytest.mark.parametrize("expression", SENSELESS)
@pytest.mark.parametrize("kind", ["number", "shape", "word", "choice"])
def test_a_question_that_makes_no_sense_is_answered_by_a_word(tape, expression, kind):
    choices = (("yes", expression), ("no", "1 == 2")) if kind == "choice" else ()
    question = Question("q", kind, answer=expression, choices=choices)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for said in ("3", "(3, 4)", "0"):
            verdict = answers.check_answer(question, said, tape)
            assert verdict in ("right", "wrong", "unread", "unknown")
        lesson = parse_lesson("a.md", GOOD)
        step = lesson.steps[1].__class__("s", "words", question=question)
        shown = build_page(
            Lesson("a", "t", "a", "p", (), (step,)), 0, StepProgress("0", "told"), tape, "here"
        )
    assert shown.verdict


def test_numbers_of_more_than_one_table_are_not_worked_out(tape):
    with pytest.raises(BadExpression, match="more than"):
        evaluate("value(a) * value(b) * value(c)", tape)
    assert evaluate("sum(value(a) * value(b))", tape) == 1020**2
    assert math.isnan(evaluate("log(-1)", tape))


@pytest.mark.parametrize(
    "said", ["9" * 5000, "[" * 5000, "1," * 50_000, "1e999", "1or 2", "\ud800"]
)
def test_whatever_is_typed_is_read_or_not(tape, said):
    begun = time.thread_time()
    for kind in ("number", "shape", "word"):
        answers.check_answer(Question("q", kind, answer="grad(x)"), said, tape)
        typed.read_numbers(said)
        typed.unread_remark(kind, said)
    assert time.thread_time() - begun < 0.3


@pytest.mark.parametrize("words", [f"after line {'9' * 5000}", f"before x {'9' * 5000}"])
def test_a_place_past_all_numbers_is_none(tape, words):
    with pytest.raises(places.UnknownPlace):
        places.position_of(tape, words)
