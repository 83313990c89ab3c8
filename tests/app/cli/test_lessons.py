"""The lessons on the command line, and every lesson of ours against its tapes."""

import pytest

from gradscribe.app.cli import lessons as cli_lessons
from gradscribe.app.cli import main as command_line
from gradscribe.app.lessons import catalogue
from gradscribe.playback.lessons import answers
from gradscribe.playback.lessons.answers import right_choice
from gradscribe.playback.lessons.check import check_lesson
from gradscribe.playback.lessons.page import is_goal_reached
from gradscribe.playback.lessons.parse import parse_lesson
from gradscribe.playback.tape.index import Index

pytestmark = pytest.mark.e2e

GOOD = """+++
title = "T"
about = "a"
part = "P"
covers = ["A6"]
+++

## One

Words.

```python
x = param(2.0)
y = x * x
y.backward()
```

```ask
question = "?"
answer = "grad(x)"
```

```holds
grad(x) == 4
```
"""


@pytest.fixture(scope="module")
def tapes():
    return {}


@pytest.mark.parametrize("entry", catalogue.builtin_files(), ids=lambda entry: entry.name)
def test_every_lesson_of_ours_is_right(entry, record, tapes):
    def run(program):
        if program not in tapes:
            tapes[program] = record(program)
        return tapes[program]

    lesson = parse_lesson(entry.name, entry.read_text(encoding="utf-8"))
    assert check_lesson(lesson, run) == []
    assert len(lesson.steps) >= 3
    assert any(step.question or step.task for step in lesson.steps)


def test_no_two_lessons_have_one_name():
    names = [one.name for one in catalogue.load()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("old", "new", "told", "where"),
    [
        ("grad(x) == 4", "grad(x) == 5", "does not hold", "grad(x) == 5"),
        ("grad(x) == 4", "grad(q) == 5", "no tensor is called q", "grad(q)"),
        ("grad(x) == 4", "import os", "not an expression", "import"),
        ("grad(x) == 4", "grad(x, at=3) == 4", "grad(x, at=3) == 4", "grad(x, at=3)"),
        ("grad(x) == 4", "grad(x, 1, 2, 3)", "grad:", "grad(x, 1"),
        ('answer = "grad(x)"', 'answer = "open(x)"', "open(x): there is no open()", "```ask"),
        ('answer = "grad(x)"', 'answer = "values(x)[9]"', "values(x)[9]", "```ask"),
        (
            'answer = "grad(x)"',
            'answer = "grad(x)"\nplay_to = "after dinner"',
            "play_to: nothing on the tape is 'after dinner'",
            "```ask",
        ),
        ("```holds", '```look\nselect = "q"\n```\n\n```holds', "called q", "```look"),
        ("y.backward()", "y.backwards()", "the program fails: line 3", "```python"),
        (
            'answer = "grad(x)"',
            'choices = [["a", "grad(x) == 1"], ["b", "grad(x) == 2"]]',
            "one choice must hold, but 0 do",
            "```ask",
        ),
        (
            'answer = "grad(x)"',
            'choices = [["a", "grad(x) == 4"], ["b", "grad(x) > 2"]]',
            "one choice must hold, but 2 do: a, b",
            "```ask",
        ),
    ],
)
def test_what_is_wrong_is_found_on_its_line(record, old, new, told, where):
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    (flaw, *_) = check_lesson(parse_lesson("a.md", text), record)
    assert told in flaw.why
    assert text.splitlines()[flaw.line - 1].startswith(where)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('["grad(x)", "a"]', "this mistake is the right answer: grad(x)"),
        ('["2 + 2", "a"]', "this mistake is the right answer: 2 + 2"),
        ('["value(q)", "a"]', "no tensor is called q"),
        ('["open(x)", "a"]', "there is no open()"),
        ('["1 +", "a"]', "not an expression"),
        ('["1", "a"]', "1 gives 1, as grad(x) / 4 does"),
        ('["3", "No, it is 4"]', "the reply gives the answer away: No, it is 4"),
        ('["3", "No: 4."]', "the reply gives the answer away"),
    ],
)
def test_a_mistake_that_is_none_is_found_on_its_line(record, row, told):
    first = '["grad(x) / 4", "Neither 14 nor 4.5 nor x4 gives it away"]'
    mistakes = f'answer = "grad(x)"\nmistakes = [\n  {first},\n  {row},\n]'
    text = GOOD.replace('answer = "grad(x)"', mistakes)
    (flaw,) = check_lesson(parse_lesson("a.md", text), record)
    assert told in flaw.why
    assert text.splitlines()[flaw.line - 1].strip() == f"{row},"


def test_a_task_must_not_be_done_at_once_and_its_solution_must_do_it(record):
    task = "\n## Two\n\nWords.\n\n```task\ndo = 'd'\ngoal = 'grad(x) == {}'\n```\n"
    solution = "\n```python solution\nx = param(3.0)\n(x * x).backward()\n```\n"
    assert check_lesson(parse_lesson("a.md", GOOD + task.format(6) + solution), record) == []
    (flaw,) = check_lesson(parse_lesson("a.md", GOOD + task.format(5) + solution), record)
    assert "does not reach" in flaw.why
    found = check_lesson(parse_lesson("a.md", GOOD + task.format(4) + solution), record)
    assert "before the task is begun" in found[0].why


def test_an_expected_error_is_no_mistake(record):
    text = GOOD.replace("y.backward()\n", "y.backward()\ny.backward()\n")
    text = text.replace("grad(x) == 4", "error.type == 'RuntimeError' and error.line == 4")
    assert check_lesson(parse_lesson("a.md", text), record) == []


def test_the_list_names_every_lesson(capsys):
    assert command_line.main(["lessons"]) == 0
    out = capsys.readouterr().out
    for one in catalogue.load():
        assert one.title in out
        assert one.part in out


def test_a_folder_is_checked_by_the_engine(tmp_path, capsys):
    (tmp_path / "01_good.md").write_text(GOOD, encoding="utf-8")
    assert command_line.main(["lessons", "--check", str(tmp_path)]) == 0
    (tmp_path / "02_bad.md").write_text(GOOD.replace("== 4", "== 5"), encoding="utf-8")
    (tmp_path / "03_none.md").write_text("no lesson", encoding="utf-8")
    (tmp_path / "04_picture.md").write_bytes(b"\x89PNG\0")
    assert command_line.main(["lessons", "--check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "02_bad.md, line 24: this does not hold" in out
    assert "03_none.md, line 1: a lesson begins with a head" in out
    assert "is not text" in out
    assert "01_good.md: 1 step, all as said" in out
    assert "1 of 4 lessons are right" in out


@pytest.mark.parametrize(
    "words",
    [
        ["lessons", "--check", "nowhere"],
        ["lesson", "nothing_like_it"],
        ["lesson", "two_uses", "--step", "99"],
    ],
)
def test_bad_usage_is_refused(words, capsys, monkeypatch):
    assert command_line.main(words) == 2
    assert capsys.readouterr().err.startswith("gradscribe: ")


def test_a_lesson_is_found_by_name_or_by_file(tmp_path):
    first = catalogue.load()[0]
    assert catalogue.find(first.name) == first
    path = tmp_path / "04_mine.md"
    path.write_text(GOOD, encoding="utf-8")
    assert catalogue.find(str(path)).name == "mine"


def test_a_lesson_can_be_drawn_without_a_screen(tmp_path, qapp):
    out = tmp_path / "lesson.png"
    assert command_line.main(["lesson", "two_uses", "--step", "2", "--screenshot", str(out)]) == 0
    assert out.stat().st_size > 20_000


def test_the_listing_counts_through_the_parts():
    shown = cli_lessons.lessons_text(catalogue.load())
    assert f"{len(catalogue.load()):2}  " in shown


CURRICULUM = {"T": 20, "A": 18, "M": 20, "X": 24, "W": 8, "R": 7}
"""Rows of the curriculum: tensors, autograd, modules, mistakes, widgets, numbers to put right."""


def test_every_row_of_the_curriculum_is_covered_by_a_lesson():
    wanted = {f"{key}{row}" for key, rows in CURRICULUM.items() for row in range(1, rows + 1)}
    covered = {row for one in catalogue.load() for row in one.covers}
    assert covered == wanted


def test_lessons_stand_in_parts_that_are_not_torn_apart():
    parts = [one.part for one in catalogue.load()]
    changes = [part for before, part in zip(["", *parts], parts, strict=False) if part != before]
    assert len(changes) == len(set(changes))
    assert len(parts) >= 24


FORBIDDEN = GOOD.replace("x = param(2.0)", "import os\nx = param(2.0)")


def test_the_check_holds_a_lesson_from_elsewhere_to_the_policy(tmp_path, capsys):
    path = tmp_path / "01_bad.md"
    path.write_text(FORBIDDEN, encoding="utf-8")
    assert command_line.main(["lessons", "--check", str(path)]) == 1
    assert "01_bad.md, line 12: the program does not run: line 1: " in capsys.readouterr().out
    assert command_line.main(["lessons", "--check", str(path), "--trust"]) == 0


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x89PNG\0\xff\xfe", "is not text"),
        (b"+++\n" + b"a" * (3 << 20), "is longer than 2 MB"),
        (b"", "line 1: a lesson begins with a head"),
    ],
)
def test_a_file_that_is_no_lesson_is_refused(tmp_path, capsys, data, told):
    path = tmp_path / "x.md"
    path.write_bytes(data)
    assert command_line.main(["lesson", str(path), "--screenshot", "no.png"]) == 2
    assert told in capsys.readouterr().err


def wrong_answers(question, truth, index):
    """Yield what a learner might type or pick instead of the truth."""
    if question.kind == "choice":
        right = right_choice(question, index)
        yield from (str(n) for n in range(len(question.choices)) if n != right)
        return
    if question.kind == "word":
        yield from ("something else", truth + "x")
        return
    yield from ("nothing at all", "")
    if question.kind == "shape":
        yield from ("(1, 1, 1, 7)", truth.replace(")", ", 2)").replace(",,", ","))
        return
    if truth == "None":
        yield "0"
        return
    numbers = truth.replace("−", "-")
    if numbers.startswith("["):
        yield numbers.replace("]", ", 5]", 1)
        yield "0.123"
    else:
        value = float(numbers)
        apart = max(1.0, 2.5 * question.tolerance * abs(value), 1e-5 * abs(value))
        if value == 0:
            yield "0.00000001"
        yield from (str(value + apart), str(value - apart))


@pytest.mark.parametrize("entry", catalogue.builtin_files(), ids=lambda entry: entry.name)
def test_right_answers_are_taken_and_wrong_ones_refused(entry, record, tapes):
    def index_of(program):
        if program not in tapes:
            tapes[program] = record(program)
        return Index(tapes[program])

    for step in parse_lesson(entry.name, entry.read_text(encoding="utf-8")).steps:
        if step.question is not None:
            question, index = step.question, index_of(step.program)
            truth = answers.correct_answer(question, index)
            said = str(right_choice(question, index)) if question.kind == "choice" else truth
            assert answers.check_answer(question, said, index) == "right", (step.title, said)
            for wrong in wrong_answers(question, truth, index):
                verdict = answers.check_answer(question, wrong, index)
                assert verdict in ("wrong", "unread"), (step.title, wrong)
        if step.task is not None:
            assert is_goal_reached(step.task, index_of(step.task.solution)), step.title
            for program in (
                step.program,
                "pass",
                "1 / 0",
                "x = torch.zeros(2)\nx.sum().backward()",
            ):
                assert not is_goal_reached(step.task, index_of(program)), (step.title, program)
