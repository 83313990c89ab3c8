"""Labels with breaks in their long words: what is copied is what was given."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gradscribe.widgets.base.broken_text import BREAK, BrokenTextLabel
from gradscribe.widgets.base.labels import Label, breakable

LONG = "torch.nn.functional.scaled_dot_product_attention"
TEXT = f"No module named {LONG} é 😀 was found,\nlook again"


@pytest.fixture
def label(qtbot):
    made = Label("words", TEXT).selectable()
    qtbot.addWidget(made)
    made.resize(300, 120)
    made.show()
    return made


def clipboard():
    return QGuiApplication.clipboard().text()


def select_all(label):
    label._select_all()


def test_the_label_is_broken(label):
    assert BREAK in label.text(), "else the other tests say nothing"
    assert label.said() == TEXT
    assert label.accessibleName() == TEXT, "a screen reader reads whole words"


def test_all_that_is_selected_is_copied_as_it_was_given(label):
    select_all(label)
    QTest.keyClick(label, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard() == TEXT


def test_the_menu_copies_the_same(label):
    menu = label.menu()
    copy, everything = menu.actions()
    assert not copy.isEnabled()
    everything.trigger()
    menu.close()
    menu = label.menu()
    menu.actions()[0].trigger()
    menu.close()
    assert clipboard() == TEXT


def test_every_part_is_copied_as_it_was_given(label):
    shown = label.text()
    units = len(shown.encode("utf-16-le")) // 2
    for start in range(0, units, 3):
        for length in (1, 7, 25):
            label.setSelection(start, min(length, units - start))
            words = label.selected_words()
            assert BREAK not in words
            plain = label.selectedText().replace(BREAK, "").replace("\u2029", "\n")
            assert words == plain.encode("utf-16-le", "replace").decode("utf-16-le", "replace") or (
                "\ufffd" in words
            )


def test_a_double_click_selects_the_whole_word(qtbot):
    word = "abcdefghij" * 5
    label = Label("words", word).selectable()
    qtbot.addWidget(label)
    label.resize(2000, 40)
    label.show()
    QTest.mouseDClick(label, Qt.MouseButton.LeftButton, pos=QPoint(12, label.height() // 2))
    assert label.selected_words() == word
    QTest.keyClick(label, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard() == word


def test_a_press_in_the_selection_begins_a_new_one(label):
    select_all(label)
    QTest.mousePress(label, Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
    assert not label.hasSelectedText()
    QTest.mouseRelease(label, Qt.MouseButton.LeftButton, pos=QPoint(20, 8))


@given(st.text(max_size=120))
@example("\r\n")
@example("a\r\n" + "b" * 40 + "\n\r\r\nc")
def test_any_text_is_copied_as_it_was_given(qapp, text):
    label = Label("words", text).selectable()
    assert label.said() == text
    label.show()
    select_all(label)
    assert label.selected_words() == text
    label.close()


@pytest.mark.parametrize("mark", ["\u0301", "\u200d", "\ufe0f"])
def test_no_break_comes_between_a_letter_and_its_mark(mark):
    text = "a" * 19 + "b" + mark + "c" * 30
    assert f"b{mark}" in breakable(text)
    family = "👩\u200d👧" * 15
    for part in breakable(family).split(BREAK):
        assert not part.startswith("\u200d")
        assert not part.endswith("\u200d")


def test_lines_are_broken_by_themselves():
    text = "a" * 15 + "\n" + "b" * 15
    assert breakable(text) == text


def test_a_text_that_is_set_like_that_of_any_label_is_the_one_given(qtbot):
    label = BrokenTextLabel()
    qtbot.addWidget(label)
    label.show_broken("abcd", f"ab{BREAK}cd")
    label.setText("plain")
    assert (label.said(), label.text(), label.accessibleName()) == ("plain", "plain", "")
