"""A window with a link that does only what the test says."""

import pytest

from tests.app.fakes import FakeDialogs, FakeLink
from tests.app.homes import type_in


@pytest.fixture
def link(qapp):
    return FakeLink()


@pytest.fixture
def window(qtbot, link, tmp_path):
    """A fresh window whose engine is still starting; asking the user gets no answer."""
    from gradscribe.app.files.documents import Drafts
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.window.window import Window

    made = Window(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
    made.context.dialogs = FakeDialogs()
    made.answers = made.context.dialogs.answers
    qtbot.addWidget(made)
    yield made
    made.close()


@pytest.fixture
def open_window(qtbot, tmp_path):
    """Make windows of one user; each stays until the test ends."""
    from tests.app.homes import window_on

    made = []

    def make(path="", home="home"):
        one = window_on(tmp_path / home)
        qtbot.addWidget(one)
        made.append(one)
        one.open_first(str(path))
        return one

    yield make
    for one in made:
        one.recovery._warned = True
        one.close()


@pytest.fixture
def settled(window, link, sum_times):
    """A window that shows the first example, run to its end."""
    link.greet()
    window.open_first()
    link.answer(sum_times)
    return window


@pytest.fixture(scope="session")
def record():
    """Record a program by the real recorder, in this process."""
    from gradscribe.engine.run import run

    return run.record


@pytest.fixture(scope="session")
def sum_times(record):
    """The tape of ``L = (x + y) * z``."""
    from gradscribe.app.document import examples

    return record(examples.load()[0].source)


@pytest.fixture
def edited(open_window, tmp_path):
    """Return a window with an edit that is not saved, and its file."""
    path = tmp_path / "a.py"
    path.write_text("a = 1\n")
    window = open_window(path)
    type_in(window, "# mine\n")
    return window, path
