"""The strip: one thing at a time, nothing lost, nothing said twice."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.documents import Refused
from app.notices import Notices
from app.shell import Notice


@pytest.fixture
def notices(qtbot):
    ground = QWidget()
    qtbot.addWidget(ground)
    yield Notices(ground)
    ground.close()


def labels(notices):
    return [button.text() for button in notices.buttons]


def press(notices, label):
    next(button for button in notices.buttons if button.text() == label).click()


def test_the_strip_hides_where_there_is_nothing_to_say(notices):
    assert notices.isHidden()
    notices.tell(Notice("a", "Something happened"))
    assert not notices.isHidden()
    assert notices.text.text() == "Something happened"
    notices.hide_button.click()
    assert notices.isHidden()


def test_notices_wait_for_each_other(notices):
    done = []
    notices.tell(Notice("a", "First", (("Keep", lambda: done.append("kept")),)))
    notices.tell(Notice("b", "Second"))
    assert notices.count.text() == "1 of 2"
    assert labels(notices) == ["Keep"]
    press(notices, "Keep")
    assert done == ["kept"]
    assert (notices.text.text(), labels(notices)) == ("Second", [])
    assert notices.count.isHidden()


def test_a_matter_stands_in_the_strip_once(notices):
    notices.tell(Notice("a", "Before"))
    notices.tell(Notice("b", "Other"))
    notices.tell(Notice("a", "After"))
    assert [one.text for one in notices.waiting] == ["After", "Other"]
    notices.tell_first(Notice("b", "Now"))
    assert [one.text for one in notices.waiting] == ["Now", "After"]
    notices.drop("b")
    notices.drop("never said")
    assert notices.text.text() == "After"


def test_what_is_refused_is_said_and_can_be_tried_again(notices):
    tries = []

    def save():
        tries.append(1)
        if len(tries) == 1:
            raise Refused("The disk is full")

    notices.tell(Notice("a", "Save?", (("Save", save),)))
    press(notices, "Save")
    assert notices.text.text() == "The disk is full"
    press(notices, "Save")
    assert notices.isHidden()
    assert len(tries) == 2


def test_the_strip_speaks_to_screen_readers_and_leaves_at_escape(notices):
    notices.tell(Notice("a", "<b>Recovered</b>", more="from a file"))
    assert notices.accessibleName() == "<b>Recovered</b>"
    assert notices.text.textFormat() == Qt.TextFormat.PlainText
    assert notices.card.toolTip() == "from a file"
    QTest.keyClick(notices, Qt.Key.Key_Escape)
    assert notices.isHidden()


def test_a_long_path_makes_nothing_wider(notices):
    notices.tell(Notice("a", "short"))
    before = notices.minimumSizeHint().width()
    for text in ("/folder" * 100, "x" * 2000):
        notices.tell(Notice("a", text))
        assert notices.minimumSizeHint().width() == before
    assert notices.notice.text == "x" * 2000
