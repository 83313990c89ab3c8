"""A lesson from elsewhere: nothing of it runs before the learner says so, and then guarded."""

import pytest

from gradscribe.app.commands import file, learn, run
from gradscribe.app.document.state import Doc
from gradscribe.app.lessons import catalogue
from tests.app.fakes import leaves

TEXT = """+++
title = "A strange one"
about = "From elsewhere"
part = "Autograd"
+++

## First

Words.

```python
x = param(2.0)
```

```ask
question = "What is it?"
answer = "value(x)"
```

## Second

Words.

```python
x = param(3.0)
```

```ask
question = "And now?"
answer = "value(x)"
unseen = true
```

## Third

```task
do = "Make it 4"
goal = "value(x) == 4"
```

```python solution
x = param(4.0)
```
"""
FIRST, SECOND, THIRD = (f"x = param({n}.0)\n" for n in (2, 3, 4))


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "01_tensor.md"
    made.write_text(TEXT, encoding="utf-8")
    return made


@pytest.fixture
def opened(settled, path):
    settled.answers["open"] = path
    learn.open_file(settled.context)
    return settled


def page(window):
    return window.lesson_dock.pane.page()


def policies(link, source):
    runs = zip(link.sources, link.limits, strict=True)
    return [limits["policy"] for one, limits in runs if one == source]


def test_opening_a_lesson_file_shows_it_and_runs_nothing(opened, link):
    assert opened.editor.toPlainText() == FIRST
    assert FIRST not in link.sources
    assert "came from outside" in opened.notices.notice.text
    assert page(opened).held
    assert "let its programs run" in opened.lesson_dock.pane.verdict.said()
    opened.context.lessons.answer("2")
    opened.context.lessons.next()
    opened.context.lessons.answer("3")
    opened.context.lessons.reveal()
    opened.context.lessons.next()
    opened.context.lessons.reveal()
    opened.session.edit("y = 1\n")
    opened.session._rest.timeout.emit()
    assert not set(link.sources) & {FIRST, SECOND, THIRD, "y = 1\n"}


def test_once_one_program_may_run_the_others_may_all_guarded(opened, link, record):
    run.run_now(opened.context)
    link.answer(record(FIRST))
    assert policies(link, FIRST) == [True]
    assert opened.notices.notice is None
    assert not page(opened).held
    opened.context.lessons.answer("2")
    assert page(opened).mood == "good"
    opened.context.lessons.next()
    opened.context.lessons.answer("3")
    assert policies(link, SECOND) == [True]
    link.answer(record(SECOND))
    assert page(opened).mood == "good"
    opened.context.lessons.next()
    opened.context.lessons.reveal()
    assert policies(link, THIRD) == [True]


def test_a_trusted_lesson_runs_as_ours_do_until_its_text_changes(opened, link, path):
    labels = [words for words, _ in opened.notices.notice.choices]
    assert labels == ["Let them run", "Trust this lesson"]
    file.trust(opened.context)
    assert policies(link, FIRST) == [False]
    link.answer(leaves(1))
    learn.leave(opened.context)
    link.answer(leaves(1))
    learn.open_file(opened.context)
    assert policies(link, FIRST) == [False, False]
    link.answer(leaves(1))
    learn.leave(opened.context)
    link.answer(leaves(1))
    path.write_text(TEXT.replace("param(2.0)", "param(2.5)"), encoding="utf-8")
    learn.open_file(opened.context)
    assert "x = param(2.5)\n" not in link.sources


def test_it_is_not_mixed_up_with_ours_of_the_same_name(opened, path):
    ours = catalogue.load()[0]
    assert catalogue.read_lesson(path).name == ours.name
    opened.context.lessons.next()
    assert opened.context.lessons.progress.of(ours.name).step == 0
    assert opened.context.lessons.progress.of(str(path)).step == 1
    assert " of " not in page(opened).place


def test_a_lesson_of_ours_after_it_runs_at_once(opened, link):
    ours = catalogue.load()[0]
    learn.open_lesson(opened.context, ours)
    assert policies(link, ours.steps[0].program) == [False]
    assert not opened.session.doc.foreign


def test_one_s_own_program_is_one_s_own_again_after_it(settled, link, path):
    settled.session.load(Doc(source="z = 1\n", saved="z = 1\n"))
    link.answer(leaves(1))
    settled.answers["open"] = path
    learn.open_file(settled.context)
    learn.leave(settled.context)
    assert settled.session.doc.source == "z = 1\n"
    assert not settled.session.doc.foreign


def test_a_lesson_is_seen_also_where_the_training_page_was(settled):
    settled.workspaces.current = "training"
    learn.open_lesson(settled.context, catalogue.builtin(catalogue.summaries()[0].file))
    assert settled.workspaces.current == "program"
