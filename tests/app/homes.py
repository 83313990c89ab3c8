"""Windows of one user on a home folder, and what one does in them."""

import os

from gradscribe.app.commands import file
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeDialogs, FakeLink

DAY_NS = 86_400 * 10**9


class Trusting(Settings):
    """Settings of somebody who wrote all the files."""

    def is_trusted(self, path, source):
        return True


def window_on(home):
    """A window, its engine not started, that keeps everything below the folder ``home``."""
    window = Window(FakeLink(), Trusting(), Drafts(home / "drafts"))
    window.context.dialogs = FakeDialogs()
    return window


def said(window):
    notice = window.notices.notice
    return notice.text if notice else ""


def press(window, label):
    next(one for one in window.notices.buttons if one.text() == label).click()
    window.recovery.file.finish()


def save(window):
    """Save, and wait until that is done or refused."""
    file.save(window.context)
    window.recovery.file.finish()


def type_in(window, text):
    window.editor.setFocus()
    window.editor.insertPlainText(text)


def sessions(tmp_path, home="home"):
    """The session files in a home."""
    return sorted((tmp_path / home / "sessions").glob("*.session"))


def ahead(*paths):
    """Give files the time that they have from a clock which went a day ahead."""
    for path in paths:
        at = path.stat().st_mtime_ns + DAY_NS
        os.utime(path, ns=(at, at))
