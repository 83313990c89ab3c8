"""The strip: one thing at a time, nothing lost, nothing said twice."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget

from gradscribe.app.files.documents import Refused
from gradscribe.app.runtime.notice import Notice
from gradscribe.app.ui.notifications import NotificationBar


@pytest.fixture
def notices(qtbot):
    ground = QWidget()
    qtbot.addWidget(ground)
    yield NotificationBar(ground)
    ground.close()


def labels(notices):
    return [button.text() for button in notices.buttons]


def press(notices, label):
    next(button for button in notices.buttons if button.text() == label).click()


def test_the_strip_hides_where_there_is_nothing_to_say(notices):
    assert notices.isHidden()
    notices.post(Notice("a", "Something happened"))
    assert not notices.isHidden()
    assert notices.text.text() == "Something happened"
    notices.hide_button.click()
    assert notices.isHidden()


def test_notices_wait_for_each_other(notices):
    done = []
    notices.post(Notice("a", "First", (("Keep", lambda: done.append("kept")),)))
    notices.post(Notice("b", "Second"))
    assert notices.count.text() == "1 of 2"
    assert labels(notices) == ["Keep"]
    press(notices, "Keep")
    assert done == ["kept"]
    assert (notices.text.text(), labels(notices)) == ("Second", [])
    assert notices.count.isHidden()


def test_a_matter_stands_in_the_strip_once(notices):
    notices.post(Notice("a", "Before"))
    notices.post(Notice("b", "Other"))
    notices.post(Notice("a", "After"))
    assert [one.text for one in notices.waiting] == ["After", "Other"]
    notices.show_now(Notice("b", "Now"))
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

    notices.post(Notice("a", "Save?", (("Save", save),)))
    press(notices, "Save")
    assert notices.text.text() == "The disk is full"
    press(notices, "Save")
    assert notices.isHidden()
    assert len(tries) == 2


def test_the_strip_speaks_to_screen_readers_and_leaves_at_escape(notices):
    notices.post(Notice("a", "<b>Recovered</b>", more="from a file"))
    assert notices.accessibleName() == "<b>Recovered</b>"
    assert notices.text.textFormat() == Qt.TextFormat.PlainText
    assert notices.card.toolTip() == "from a file"
    QTest.keyClick(notices, Qt.Key.Key_Escape)
    assert notices.isHidden()


def test_a_long_path_makes_nothing_wider(notices):
    notices.post(Notice("a", "short"))
    before = notices.minimumSizeHint().width()
    for text in ("/folder" * 100, "x" * 2000):
        notices.post(Notice("a", text))
        assert notices.minimumSizeHint().width() == before
    assert notices.notice.text == "x" * 2000


def test_what_stays_in_the_strip_is_not_made_anew(notices):
    done = []
    first = Notice("a", "First", (("Keep", lambda: done.append("a")),))
    notices.post(first)
    notices.buttons[0].setText("as it was")
    for key in ("b", "c"):
        notices.post(Notice(key, "Other", (("Drop", lambda: done.append("other")),)))
        assert notices.count.text() == "1 of 2"
        notices.drop(key)
        assert notices.count.isHidden()
    notices.drop("never said")
    assert labels(notices) == ["as it was"]
    press(notices, "as it was")
    assert done == ["a"]


def test_a_choice_of_the_next_notice_is_its_own(notices):
    done = []
    for key in "ab":
        choices = tuple((f"{key}{i}", lambda word=f"{key}{i}": done.append(word)) for i in range(2))
        notices.post(Notice(key, key, choices))
    press(notices, "a1")
    assert labels(notices) == ["b0", "b1"]
    press(notices, "b0")
    assert done == ["a1", "b0"]


class Below(QWidget):
    """The page below the strip; it notes each size that it is given."""

    def __init__(self):
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.sizes = []

    def resizeEvent(self, happened):
        self.sizes.append(happened.size().height())


@pytest.fixture
def seen(qtbot):
    """A strip in sight, with something below it."""
    around = QWidget()
    qtbot.addWidget(around)
    around.resize(500, 400)
    ground = QWidget(around)
    ground.resize(500, 400)
    rows, strip, below = QVBoxLayout(ground), NotificationBar(), Below()
    rows.addWidget(strip)
    rows.addWidget(below, 1)
    around.show()
    qtbot.waitUntil(lambda: bool(below.sizes))
    yield strip, below
    around.close()


def test_what_is_below_the_strip_is_laid_out_once_for_a_notice(seen, qtbot):
    strip, below = seen
    before = below.height()
    below.sizes.clear()
    text = "many words that take more lines than one in a strip so narrow " * 6
    strip.post(Notice("a", text, (("Keep", print), ("Drop", print))))
    for key in ("b", "c"):
        strip.drop(key)
    qtbot.waitUntil(lambda: below.height() < before)
    QApplication.processEvents()
    assert len(below.sizes) == 1
    assert strip.text.height() >= strip.text.heightForWidth(strip.text.width())


def test_the_keyboard_leaves_the_choice_that_was_made(seen):
    strip, _ = seen
    for key in "ab":
        strip.post(Notice(key, key, (("Keep", lambda: None),)))
    strip.buttons[0].setFocus()
    press(strip, "Keep")
    assert labels(strip) == ["Keep"]
    assert not strip.buttons[0].hasFocus()


def test_a_mouse_that_is_held_down_chooses_nothing_of_another_notice(seen, qtbot):
    notices, done = seen[0], []
    notices.post(Notice("a", "Saved twice", (("Keep", lambda: done.append("kept")),)))
    button = notices.buttons[0]
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    notices.show_now(Notice("b", "Found", (("Discard", lambda: done.append("discarded")),)))
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    assert done == []
    assert notices.notice.key == "b"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert done == ["discarded"]


def test_the_keyboard_goes_back_to_where_it_was(qtbot):
    ground = QWidget()
    qtbot.addWidget(ground)
    QPushButton("Program", ground)
    bar, editor = NotificationBar(ground), QLineEdit(ground)
    ground.show()
    ground.activateWindow()
    qtbot.waitUntil(ground.isActiveWindow)
    editor.setFocus()
    bar.post(Notice("a", "From outside", (("Run", lambda: None),)))
    bar.buttons[0].setFocus()
    press(bar, "Run")
    assert bar.isHidden()
    assert ground.focusWidget() is editor


def test_choices_that_leave_no_space_for_the_text_stand_below_it(notices, qtbot):
    notices.parentWidget().resize(1200, 300)
    notices.parentWidget().show()
    name = "a run with a long name"
    notices.post(
        Notice(
            "a",
            f"Work that was not saved: {name} at step 149 and {name} at step 26,970",
            ((f"Continue {name}", print), (f"Continue {name}", print)),
        )
    )
    needed = sum(button.sizeHint().width() + 8 for button in notices.buttons)
    for width, rows in ((3 * needed, 1), (needed + 150, 2), (needed, 3)):
        notices.resize(width, 300)

        def arranged(width=width, rows=rows):
            boxes = [part.geometry() for part in (notices.text, *notices.buttons)]
            assert all(notices.card.rect().contains(box) for box in boxes)
            hints = [button.sizeHint().width() for button in notices.buttons]
            assert [box.width() for box in boxes[1:]] >= hints
            assert boxes[0].width() > width // 3
            assert len({box.center().y() // 8 for box in boxes}) == rows

        qtbot.waitUntil(lambda arranged=arranged: arranged() is None)
