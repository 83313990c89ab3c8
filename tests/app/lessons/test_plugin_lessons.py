"""Lessons of plug-ins stand after the built-in ones; broken files are left out with a reason."""

import pytest

from gradscribe.app.lessons import catalogue
from gradscribe.engine import plugins
from tests.plugins import install

__all__ = ["install"]

LESSON = """\
+++
title = "A lesson from elsewhere"
about = "Lessons travel"
part = "Elsewhere"
+++

## One step

It has a program.

```python
x = param(1.0)
```
"""


@pytest.fixture
def lessons(install):
    """Return a function that installs a package with lessons, by file."""

    def add(files):
        install([("lessons", "travel = others")], files)
        catalogue.summaries.cache_clear()

    yield add
    catalogue.summaries.cache_clear()
    catalogue.builtin.cache_clear()


def test_a_lesson_of_another_package_is_listed_and_opened(lessons):
    own = catalogue.summaries()
    lessons({"01_travel.md": LESSON})
    found = catalogue.summaries()
    assert found[: len(own)] == own
    (added,) = found[len(own) :]
    assert (added.name, added.title, added.file) == (
        "travel",
        "A lesson from elsewhere",
        "others:01_travel.md",
    )
    assert catalogue.builtin(added.file).steps[0].program.strip() == "x = param(1.0)"
    assert catalogue.find("travel").title == "A lesson from elsewhere"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("01_travel.md", "no head", "01_travel.md"),
        ("01_tensor.md", LESSON, "there is a lesson tensor already"),
    ],
)
def test_a_broken_lesson_is_left_out(lessons, name, text, reason):
    own = catalogue.summaries()
    lessons({name: text})
    assert catalogue.summaries() == own
    assert reason in plugins.broken()[0].reason
