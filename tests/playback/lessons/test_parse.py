"""The format: what a teacher writes, and what they are told where it is wrong."""

import pytest

from gradscribe.playback.lessons.parse import BadLesson, parse_head, parse_lesson

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
    lesson = parse_lesson("07_two_uses.md", GOOD)
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
    assert parse_lesson("1_a.md", GOOD.replace("\n", "\r\n")) == parse_lesson("1_a.md", GOOD)


def test_a_choice_carries_what_must_hold():
    text = GOOD.replace('answer = "grad(x)"', 'choices = [["yes", "grad(x) == 1"], ["no", "1"]]')
    question = parse_lesson("a.md", text).steps[1].question
    assert question.kind == "choice"
    assert question.choices == (("yes", "grad(x) == 1"), ("no", "1"))


def test_a_question_about_a_shape_is_answered_with_one():
    question = parse_lesson("a.md", GOOD.replace('"grad(x)"', '"shape(y)"')).steps[1].question
    assert question.kind == "shape"


@pytest.mark.parametrize(
    ("old", "new", "told", "where"),
    [
        ("+++\ntitle", "title", "head", "title ="),
        ('title = "Two uses"\n', "", "needs title", "+++"),
        (
            'title = "Two uses"',
            "title = 3",
            "title in the head must be `str`, not `int`",
            "title = 3",
        ),
        ('title = "Two uses"', 'title = ""', "title in the head must be `str` of length", "title"),
        ('covers = ["A6"]', 'covers = "A6"', "covers in the head must be `array`", "covers"),
        ('covers = ["A6"]', 'covers = ["A6"]\nauthor = "me"', "has no key author", "author"),
        ('covers = ["A6"]', "covers = [A6]", "not TOML: invalid value$", "covers"),
        ('covers = ["A6"]', 'covers = ["A6"', "not TOML: unclosed array$", "+++"),
        ("## First", "Words before.\n\n## First", "before the first step", "Words before"),
        ("## Second", "##Second", "a blank and its title", "##Second"),
        ("## Second", "### Second", "begins with ##", "### Second"),
        ("## Second", "## ", "and its title", "## "),
        ("```look", "```lok", "no block is called 'lok'; there are python", "```lok"),
        ("```look", "```", "without a name", "```"),
        ("```look", "  ```look", "must begin its line", "  ```look"),
        ('open = "values"\n```', 'open = "values"', "not closed before line 30", "```look"),
        ('open = "values"', 'open = "nothing"', "open is one of", "open ="),
        ('at = "before backward"', "at = 3", "at in a block look must be `str`", "at = 3"),
        ('hint = "Think"', 'hnt = "Think"', "has no key hnt", "hnt"),
        ('hint = "Think"', 'hint = "Think', "not TOML", "hint"),
        ('question = "What is it?"\n', "", "needs question", "```ask"),
        ('answer = "grad(x)"\n', "", "either answer or choices", "```ask"),
        ("-y = x * x\n", "-y = x * q\n", "nowhere: y = x . q", "-y = x * q"),
        ("-y = x * x\n", "y = x * x\n", "a line of a diff begins", "y = x * x"),
        ("-y = x * x\n", "", "an unchanged or a removed line", "```diff"),
        ('goal = "grad(x) == 3"\n', "", "a block task needs goal", "```task"),
        ("```python solution", "```python", "needs a block python solution", "```task"),
        (
            "```task",
            "```task\ndo = 1\n```\n\n```task",
            "do in a block task must be `str`",
            "do = 1",
        ),
        ('answer = "grad(x)"', 'choices = [["yes", "1"]]', "2 to 6 choices, not 1", "choices"),
        ('answer = "grad(x)"', "choices = []", "2 to 6 choices, not 0", "choices"),
        ('answer = "grad(x)"', f"choices = {[['a', '1']] * 7}", "to 6 choices, not 7", "choices"),
        (
            'answer = "grad(x)"',
            'choices = ["yes", "no"]',
            r"choices\[0\] in a block ask must be `array`",
            "choices",
        ),
        (
            "tolerance = 0.5",
            "tolerance = -1",
            "tolerance in a block ask must be `float` >= 0",
            "tol",
        ),
        ("tolerance = 0.5", "tolerance = inf", "tolerance must be a number from 0 on", "tol"),
        ("tolerance = 0.5", f"tolerance = 1{'0' * 400}", "tolerance in .* is out of range", "tol"),
        (
            'answer = "grad(x)"',
            'answer = "1"\nkind = "poem"',
            "kind in .* must be number, shape or word, not 'poem'",
            "kind",
        ),
        ('answer = "grad(x)"', 'answer = "1"\nkind = "choice"', "no other kind", "kind"),
        ("```look", "```look\n```\n\n```look", "one block look", "```look"),
    ],
)
def test_a_mistake_is_named_with_its_line(old, new, told, where):
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    with pytest.raises(BadLesson, match=told) as refused:
        parse_lesson("a.md", text)
    assert text.splitlines()[refused.value.line - 1].startswith(where)


def test_the_rows_of_a_curriculum_may_be_left_out():
    assert parse_lesson("a.md", GOOD.replace('covers = ["A6"]\n', "")).covers == ()
    assert parse_lesson("a.md", GOOD.replace('covers = ["A6"]', "covers = []")).covers == ()


def test_each_block_knows_its_line():
    first, second, third = parse_lesson("a.md", GOOD).steps
    lines = GOOD.splitlines()
    wanted = {
        first.program_line: "```python",
        first.look_line: "```look",
        second.program_line: "```diff",
        second.question.line: "```ask",
        second.holds_lines[0]: "value(y) == 8",
        third.program_line: "```python add",
        third.task.line: "```task",
    }
    assert {line: lines[line - 1] for line in wanted} == wanted


def test_an_open_block_is_told_with_its_line():
    with pytest.raises(BadLesson, match="not closed") as refused:
        parse_lesson("a.md", GOOD[: GOOD.rindex("```")])
    assert GOOD.splitlines()[refused.value.line - 1] == "```python solution"


@pytest.mark.parametrize("text", ["", "\n", "+++", "+++\n+++\n", "## a", "\0"])
def test_what_is_no_lesson_at_all_is_refused(text):
    with pytest.raises(BadLesson):
        parse_lesson("a.md", text)


def test_a_block_may_hold_a_line_that_looks_like_a_heading():
    text = GOOD.replace("x = param(2.0)\ny = x * x\n", "## no heading\nx = param(2.0)\ny = x * x\n")
    lesson = parse_lesson("a.md", text)
    assert len(lesson.steps) == 3
    assert "## no heading" in lesson.steps[0].program


def test_the_head_of_a_lesson_is_told_without_its_steps():
    whole, head = parse_lesson("07_two_uses.md", GOOD), parse_head("07_two_uses.md", GOOD)
    told = (head.name, head.title, head.about, head.part, head.steps)
    assert told == (whole.name, whole.title, whole.about, whole.part, len(whole.steps))
    assert head.file == "07_two_uses.md"
    spoilt = GOOD.replace("-y = x * x", "-y = x * 9")
    again = parse_head("07_two_uses.md", spoilt)
    assert (again.title, again.steps) == (head.title, head.steps), "steps are read with the lesson"
    assert head.topics == ("First", "Second", "Third")
    assert head.minutes == 3
    with pytest.raises(BadLesson):
        parse_lesson("07_two_uses.md", spoilt)


@pytest.mark.parametrize(
    ("old", "new"), [("+++", "++"), ('title = "Two uses"', "title = 1"), ("## ", "### ")]
)
def test_a_file_that_is_no_lesson_has_no_head(old, new):
    with pytest.raises(BadLesson):
        parse_head("07_two_uses.md", GOOD.replace(old, new))


ASK = '```ask\nquestion = "q"\nanswer = "1"\n'


def step_with(block):
    return f'+++\ntitle = "t"\nabout = "a"\npart = "p"\n+++\n\n## s\n\n{block}```\n'


def test_mistakes_are_read_with_their_lines():
    block = ASK + 'mistakes = [\n  ["2", "Two"],\n\n  ["shares(x)[0]", """One\nshare"""],\n]\n'
    question = parse_lesson("01_a.md", step_with(block)).steps[0].question
    assert [(m.answer, m.reply, m.line) for m in question.mistakes] == [
        ("2", "Two", 13),
        ("shares(x)[0]", "One\nshare", 15),
    ]


@pytest.mark.parametrize(
    ("block", "line", "part"),
    [
        (ASK + 'mistakes = [["2", ""]]\n', 12, "neither is empty"),
        (ASK + 'mistakes = [\n["2", "a"],\n["", "b"],\n]\n', 14, "neither is empty"),
        (ASK + "mistakes = [\n['2', 'a'],\n['3', ' '],\n]\n", 14, "neither is empty"),
        (ASK + 'mistakes = [["2"]]\n', 12, "mistakes[0] in a block ask must be"),
        (ASK + 'mistakes = "2"\n', 12, "mistakes in a block ask must be"),
        (ASK + f"mistakes = {[['2', 'a']] * 13}\n", 12, "12 mistakes at most, not 13"),
        (
            '```ask\nquestion = "q"\nchoices = [["a", "1"], ["b", "0"]]\nmistakes = [["2", "a"]]\n',
            12,
            "choices has no mistakes",
        ),
        (ASK + 'errors = [["2", "a"]]\n', 12, "no key errors"),
    ],
)
def test_mistakes_of_another_form_are_refused_at_their_line(block, line, part):
    with pytest.raises(BadLesson) as refused:
        parse_lesson("01_a.md", step_with(block))
    assert part in str(refused.value)
    assert refused.value.line == line
