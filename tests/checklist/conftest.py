"""A window with a real engine that many programs are typed into, one after the other."""

import pytest
from pytestqt.qtbot import QtBot

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeDialogs
from tests.checklist.desk import Desk


@pytest.fixture(scope="module")
def shared_desk(request, qapp, tmp_path_factory):
    """One window and one engine for a file of tests."""
    link, bot = Link(), QtBot(request)
    settings = Settings(tmp_path_factory.mktemp("desk") / "settings.ini")
    window = Window(link, settings, Drafts(None))
    window.context.dialogs = FakeDialogs()
    # Fixes of findings are tried in engines of their own; the tests of the trials are elsewhere.
    window.findings_controller.fix_trials.start = lambda *_: None
    window.painted.connect(link.start)
    window.open_first()
    window.resize(1440, 900)
    window.show()
    bot.waitUntil(lambda: bool(window.session.result.shown_id), timeout=90_000)
    yield Desk(window, bot)
    window.close()
    window.deleteLater()


@pytest.fixture
def desk(shared_desk, qapp):
    """The window, with nothing left in it of the test before but its program."""
    window = shared_desk.window
    window.session.set_seed(0)
    window.session.set_breakpoints(())
    window.session.set_coloring("")
    return shared_desk
