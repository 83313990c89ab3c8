"""Lessons with a translation next to them: the same lesson in other words."""

import re
from importlib import resources

import pytest

from gradscribe.app.lessons import catalogue
from gradscribe.playback import translation
from gradscribe.playback.lessons.parse import parse_lesson

FOLDER = resources.files("gradscribe.assets") / "lessons"
TRANSLATED = sorted(
    entry.name for entry in FOLDER.iterdir() if re.fullmatch(r"\d\d_\w+\.\w+\.md", entry.name)
)


@pytest.fixture(autouse=True)
def _read_anew():
    catalogue.builtin.cache_clear()
    catalogue.summaries.cache_clear()
    yield
    translation.choose("en")
    catalogue.builtin.cache_clear()
    catalogue.summaries.cache_clear()


def parts(lesson):
    """Return what a translation leaves as it is."""
    return [
        (
            step.program,
            step.select,
            step.question and (step.question.answer, [c[1] for c in step.question.choices]),
            step.question and [mistake.answer for mistake in step.question.mistakes],
            step.task and (step.task.goal, step.task.solution),
        )
        for step in lesson.steps
    ]


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translation_has_the_programs_answers_and_goals_of_the_lesson(name):
    original = f"{name.split('.')[0]}.md"
    one, other = (
        parse_lesson(original, (FOLDER / file).read_text(encoding="utf-8"))
        for file in (original, name)
    )
    assert parts(other) == parts(one)
    assert (other.name, other.part, other.covers) == (one.name, one.part, one.covers)
    assert other.title != one.title


def test_the_first_lesson_is_shown_in_the_language_of_the_window():
    translation.choose("zh_CN")
    assert catalogue.builtin("01_tensor.md").title == "什么是张量"
    titles = [head.title for head in catalogue.summaries()]
    assert titles[0] == "什么是张量"
    assert len(titles) == len({head.name for head in catalogue.summaries()})


LESSON = """+++
title = "{title}"
about = "{title}"
part = "Tensors"
+++

## {title}

```python
a = tensor(5.0)
```
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of lessons of which the first has a translation, and a French one that is none."""
    for name, title in (
        ("01_one.md", "One"),
        ("01_one.zh_CN.md", "第一课"),
        ("02_two.md", "Two"),
        ("02_two.fr.md", "Deux"),
    ):
        (tmp_path / name).write_text(LESSON.format(title=title), encoding="utf-8")
    monkeypatch.setattr(catalogue, "_folder", lambda: tmp_path)
    return tmp_path


def test_a_translation_next_to_a_lesson_takes_its_place_and_adds_no_lesson(folder):
    translation.choose("zh_CN")
    assert [lesson.title for lesson in catalogue.summaries()] == ["第一课", "Two"]
    assert [catalogue.builtin(name).title for name in ("01_one.md", "02_two.md")] == [
        "第一课",
        "Two",
    ]


def test_a_spoilt_translation_of_a_lesson_gives_way_to_the_lesson(folder):
    (folder / "01_one.zh_CN.md").write_text("+++\nspoilt", encoding="utf-8")
    (folder / "02_two.zh_CN.md").write_bytes(b"\xff\xfe")
    translation.choose("zh_CN")
    assert [lesson.title for lesson in catalogue.summaries()] == ["One", "Two"]
    assert catalogue.builtin("01_one.md").title == "One"
    assert catalogue.builtin("02_two.md").title == "Two"


def test_lessons_are_english_without_a_language():
    assert catalogue.builtin("01_tensor.md").title.isascii()
