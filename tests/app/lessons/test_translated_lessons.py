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


def test_a_lesson_is_shown_in_the_language_of_the_window_where_it_is_translated():
    translation.choose("zh_CN")
    assert catalogue.builtin("16_vectors.md").title == "当结果不是一个数"
    assert catalogue.builtin("01_tensor.md").title.isascii()
    titles = [head.title for head in catalogue.summaries()]
    assert "当结果不是一个数" in titles
    assert len(titles) == len({head.name for head in catalogue.summaries()})


def test_lessons_are_english_without_a_language():
    assert catalogue.builtin("16_vectors.md").title.isascii()
