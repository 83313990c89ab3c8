"""The format: what a teacher writes, and what they are told where it is wrong."""

import pytest

from playback.lessons.parse import BadLesson, parse

GOOD = """+++
title = "Two uses"
about = "Shares are added"
part = "Autograd"
covers = ["A6"]
+++

## First

Some `code` and words.

- one
- two

```python
x = param(2.0)
y = x * x
y.backward()
```

```look
at = "before backward"
select = "y"
open = "values"
```

## Second

Change it.

```diff
-y = x * x
+y = x * x * x
```

```ask
question = "What is it?"
answer = "grad(x)"
hint = "Think"
tolerance = 0.5
```

```holds
value(y) == 8
```

## Third

```python add
print(x.grad)
```

```task
do = "Make it 3"
goal = "grad(x) == 3"
```

```python solution
x = param(1.0)
y = x * x * x
y.backward()
```
"""


def test_a_lesson_is_read_whole():
    lesson = parse("07_two_uses.md", GOOD)
    assert (lesson.name, lesson.title, lesson.covers) == ("two_uses", "Two uses", ("A6",))
    first, second, third = lesson.steps
    assert first.program == "x = param(2.0)\ny = x * x\ny.backward()\n"
    assert (first.at, first.select, first.open) == ("before backward", "y", "values")
    assert "```" not in first.text
    assert first.text.startswith("Some `code`")
    assert second.program == first.program.replace("x * x", "x * x * x")
    assert second.question.answer == "grad(x)"
    assert second.question.kind == "number"
    assert second.holds == ("value(y) == 8",)
    assert third.program == second.program + "print(x.grad)\n"
    assert third.task.goal == "grad(x) == 3"
    assert third.task.solution.startswith("x = param(1.0)")
    assert [GOOD.splitlines()[step.line - 1] for step in lesson.steps] == [
        "## First",
        "## Second",
        "## Third",
    ]


def test_windows_line_ends_make_no_difference():
    assert parse("1_a.md", GOOD.replace("\n", "\r\n")) == parse("1_a.md", GOOD)


def test_a_choice_carries_what_must_hold():
    text = GOOD.replace('answer = "grad(x)"', 'choices = [["yes", "grad(x) == 1"], ["no", "1"]]')
    question = parse("a.md", text).steps[1].question
    assert question.kind == "choice"
    assert question.choices == (("yes", "grad(x) == 1"), ("no", "1"))


def test_a_question_about_a_shape_is_answered_with_one():
    question = parse("a.md", GOOD.replace('"grad(x)"', '"shape(y)"')).steps[1].question
    assert question.kind == "shape"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("+++\ntitle", "title", "head"),
        ('title = "Two uses"\n', "", "needs title"),
        ('covers = ["A6"]', 'covers = ["A6"]\nauthor = "me"', "knows no author"),
        ('covers = ["A6"]', "covers = [A6]", "not TOML"),
        ("## First", "Words before.\n\n## First", "before the first step"),
        ("```look", "```lok", "no block is called"),
        ('open = "values"', 'open = "nothing"', "open is one of"),
        ('at = "before backward"', "at = 3", "must be a str"),
        ('hint = "Think"', 'hnt = "Think"', "knows no hnt"),
        ('question = "What is it?"\n', "", "needs a question"),
        ('answer = "grad(x)"\n', "", "an answer or choices"),
        ("-y = x * x\n", "-y = x * q\n", "nowhere"),
        ('goal = "grad(x) == 3"\n', "", "needs do and goal"),
        ("```python solution", "```python", "needs a solution"),
        ('answer = "grad(x)"', 'choices = [["yes", "1"]]', "one choice"),
        ('answer = "grad(x)"', 'choices = ["yes", "no"]', "a choice is"),
        ('answer = "grad(x)"', 'answer = "1"\nkind = "poem"', "of the kind"),
    ],
)
def test_a_mistake_is_named_with_its_line(old, new, told):
    assert old in GOOD
    with pytest.raises(BadLesson, match=told) as refused:
        parse("a.md", GOOD.replace(old, new, 1))
    assert 1 <= refused.value.line <= GOOD.count("\n") + 3


def test_an_open_block_is_told_with_its_line():
    with pytest.raises(BadLesson, match="not closed") as refused:
        parse("a.md", GOOD[: GOOD.rindex("```")])
    assert GOOD.splitlines()[refused.value.line - 1] == "```python solution"


@pytest.mark.parametrize("text", ["", "\n", "+++", "+++\n+++\n", "## a", "\0"])
def test_what_is_no_lesson_at_all_is_refused(text):
    with pytest.raises(BadLesson):
        parse("a.md", text)


def test_a_block_may_hold_a_line_that_looks_like_a_heading():
    text = GOOD.replace("x = param(2.0)\ny = x * x\n", "## no heading\nx = param(2.0)\ny = x * x\n")
    lesson = parse("a.md", text)
    assert len(lesson.steps) == 3
    assert "## no heading" in lesson.steps[0].program
