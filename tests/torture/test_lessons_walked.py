"""Every lesson is walked in the window, as a learner does. One always, all in `make torture`."""

import pytest

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons import catalogue
from gradscribe.app.lessons.progress import LessonProgress
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window
from tests.torture.learner import Learner

pytestmark = pytest.mark.e2e

LESSONS = catalogue.load()


@pytest.fixture
def window(qtbot, tmp_path):
    link = Link(spare=True)
    made = Window(link, Settings(tmp_path / "s.ini"), Drafts(None))
    qtbot.addWidget(made)
    made.painted.connect(link.start)
    made.open_first()
    made.show()
    yield made
    made.close()
    link.deleteLater()


def walk(window, lesson, tmp_path):
    own = window.editor.toPlainText()
    learner = Learner(window)
    learner.walk(lesson)
    window.context.lessons.leave()
    learner.settle()
    assert window.editor.toPlainText() == own
    window.settings.flush()
    assert LessonProgress(Settings(tmp_path / "s.ini")).of(lesson.key).done


def test_a_lesson_is_walked(window, tmp_path):
    walk(window, LESSONS[12], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_every_lesson_is_walked(window, tmp_path, lesson):
    walk(window, lesson, tmp_path)
