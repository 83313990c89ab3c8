"""The list of names, driven by keys."""

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QKeyEvent

from gradscribe.engine.protocol.language import (
    Complete,
    Completed,
    Describe,
    Described,
    KnownName,
    TorchNames,
)
from gradscribe.widgets.editor.completion import completion as module
from tests.widgets.editor.completion.conftest import PROGRAM

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


def test_the_list_opens_after_two_letters_with_the_shapes_of_the_last_run(user):
    user.type("l")
    assert not user.is_open
    user.type("o")
    assert user.is_open
    assert user.names[0] == "loss"
    assert user.help.completion.list.current().detail == "scalar"


def test_the_list_opens_after_a_dot_with_the_members_of_a_tensor(user):
    user.type("x.")
    assert user.is_open
    assert {"sum", "backward", "shape"} <= set(user.names)
    user.type("backw")
    assert user.names == ["backward"]
    assert "gradient=None" in user.about


@pytest.mark.parametrize("key", [Key.Key_Tab, Key.Key_Return, Key.Key_Enter])
def test_a_key_inserts_the_name_and_one_undo_takes_it_back(user, key):
    user.type("lo")
    user.press(key)
    assert user.edit.source() == PROGRAM + "loss"
    assert not user.is_open
    user.edit.undo()
    assert user.edit.source() == PROGRAM + "lo"
    user.edit.redo()
    assert user.edit.source() == PROGRAM + "loss"


def test_a_name_after_a_dot_is_taken_back_without_the_dot(user):
    user.type("x.")
    user.press(Key.Key_Tab)
    inserted = user.edit.source()
    assert inserted.startswith(PROGRAM + "x.")
    assert len(inserted) > len(PROGRAM) + 2
    user.edit.undo()
    assert user.edit.source() == PROGRAM + "x."


def test_a_name_in_the_middle_of_a_line_leaves_the_rest(user):
    user.put("y = lo + 1")
    cursor = user.edit.textCursor()
    cursor.setPosition(len("y = l"))
    user.edit.setTextCursor(cursor)
    user.press(Key.Key_Delete)
    user.type("o")
    user.press(Key.Key_Tab)
    assert user.edit.source() == "y = locals + 1"


def test_letters_that_are_no_ascii_and_outside_the_basic_plane_are_counted_rightly(user):
    user.put('größe = 1\ns = "🙂🙂"; y = 1\n')
    user.type('t = "🙂"; grö')
    assert user.names == ["größe"]
    user.press(Key.Key_Tab)
    assert user.edit.source().endswith('t = "🙂"; größe')


def test_escape_closes_the_list_until_the_next_word(user):
    user.type("lo")
    user.press(Key.Key_Escape)
    assert not user.is_open
    user.type("s")
    assert not user.is_open
    assert user.edit.source() == PROGRAM + "los"
    user.type(" + lo")
    assert user.is_open


def test_escape_on_the_list_does_not_make_the_next_tab_leave_the_editor(user):
    user.type("lo")
    user.press(Key.Key_Escape, Key.Key_Tab)
    assert user.edit.hasFocus()


def test_return_behind_a_whole_word_begins_a_line(user):
    user.type("loss")
    assert user.is_open
    user.press(Key.Key_Return)
    assert user.edit.source() == PROGRAM + "loss\n"
    user.type("for i in range")
    user.press(Key.Key_Return)
    assert user.edit.source() == PROGRAM + "loss\nfor i in range\n"


def test_arrows_move_in_the_list_and_wrap_around(user):
    user.type("x.")
    first, count = user.names[0], len(user.names)
    user.press(Key.Key_Down)
    assert user.selected == user.names[1]
    user.press(Key.Key_Up, Key.Key_Up)
    assert user.selected == user.names[count - 1]
    user.press(Key.Key_Down)
    assert user.selected == first
    user.press(Key.Key_PageDown)
    assert 3 < user.names.index(user.selected) < 12
    user.press(Key.Key_PageUp, Key.Key_PageUp)
    assert user.selected == first
    assert user.edit.source() == PROGRAM + "x."


def test_a_selection_stays_while_the_list_narrows(user):
    user.type("x.s")
    while user.selected != "sum":
        user.press(Key.Key_Down)
    user.type("u")
    assert user.selected == "sum"


@pytest.mark.parametrize("text", [" ", "(", ")", ",", "=", ":", "+"])
def test_other_letters_close_the_list_and_are_typed(user, text):
    user.type("loc" + text)
    assert not user.is_open
    closed = ")" if text == "(" else ""
    assert user.edit.source() == PROGRAM + "loc" + text + closed


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ('"lo', '"'),
        ("'x.", "'"),
        ("# loss", ""),
        ('"""loss', '"""'),
        ('f"{x.', '"'),
        ("3.", ""),
        ("1e", ""),
        ("x = 0x", ""),
        ("def lo", ""),
        ("class Ne", ""),
    ],
)
def test_nothing_opens_in_strings_comments_numbers_and_new_names(user, text, closed):
    user.type(text)
    assert not user.is_open
    assert user.edit.source() == PROGRAM + text + closed


def test_nothing_opens_in_a_string_over_several_lines(user):
    user.put('text = """\n')
    user.type("x.lo")
    assert not user.is_open


def test_backspace_widens_the_list_and_closes_it_at_the_end(user):
    user.type("x.sum")
    user.press(Key.Key_Backspace)
    assert "sub" in user.names
    user.press(Key.Key_Backspace, Key.Key_Backspace)
    assert user.is_open
    user.press(Key.Key_Backspace)
    assert not user.is_open


def test_moving_away_closes_the_list(user):
    user.type("x = lo")
    user.press(Key.Key_Left)
    assert user.is_open
    user.press(Key.Key_Home)
    assert not user.is_open
    user.type("lo")
    user.press(Key.Key_Z, modifier=CONTROL)
    assert not user.is_open


def test_a_click_elsewhere_scrolling_and_losing_the_focus_close_it(user, qtbot):
    user.type("lo")
    qtbot.mouseClick(user.edit.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    assert not user.is_open
    user.put(PROGRAM * 40)
    user.edit.go_to_line(60, 0)
    user.edit.verticalScrollBar().setValue(50)
    user.type("lo ")
    user.type("lo")
    assert user.is_open
    before = user.help.completion.list.y()
    user.edit.verticalScrollBar().setValue(user.edit.verticalScrollBar().value() - 3)
    assert user.help.completion.list.y() > before
    user.edit.verticalScrollBar().setValue(0)
    assert not user.is_open
    user.edit.moveCursor(user.edit.textCursor().MoveOperation.End)
    user.type(" lo")
    assert user.is_open
    user.edit.clearFocus()
    assert not user.is_open


def test_text_that_arrives_without_typing_opens_nothing(user):
    user.edit.insertPlainText("lo")
    user.settle()
    assert not user.is_open
    user.edit.set_source("lo")
    user.settle()
    assert not user.is_open


def test_nothing_opens_by_itself_if_that_is_switched_off(user):
    user.help.is_automatic = False
    user.type("lo")
    assert not user.is_open
    user.type("x.")
    assert not user.is_open
    user.type("sum(")
    assert not user.signature
    assert user.asked == []
    user.help.complete()
    assert user.is_open


def test_on_demand_all_names_are_offered(user):
    user.help.complete()
    assert user.is_open
    assert {"loss", "x", "print", "for", "torch"} <= set(user.names)
    user.press(Key.Key_Escape)
    user.type("l")
    user.help.complete()
    assert user.names[0] == "loss"


def test_on_demand_a_list_says_that_there_is_nothing(user):
    user.type("qqq")
    user.help.complete()
    assert user.is_open
    assert user.names == []
    assert user.about == module.WAITING
    user.help.take(Completed(user.last(Complete).serial))
    assert user.about == module.NOTHING
    user.press(Key.Key_Tab)
    assert user.edit.source().startswith(PROGRAM + "qqq")


def test_nothing_is_inserted_into_a_text_that_is_only_read(user):
    user.edit.setReadOnly(True)
    user.help.complete()
    assert not user.is_open
    user.type("lo")
    assert user.edit.source() == PROGRAM


# What the language process adds


def test_it_is_asked_once_for_a_word_and_again_for_less(user):
    user.type("los")
    assert [(one.line, one.column) for one in user.completes] == [(6, 2)]
    user.press(Key.Key_Backspace, Key.Key_Backspace)
    assert [one.column for one in user.completes] == [2, 1]
    assert user.completes[0].source == PROGRAM + "lo"


def test_torchs_own_names_need_no_question(user):
    user.put("torch")
    user.type(".re")
    assert user.is_open
    assert "relu" in user.names
    assert user.completes == []


def test_names_that_it_knows_are_added_and_the_selected_one_stays(user):
    user.type("lo")
    user.press(Key.Key_Down)
    selected = user.selected
    known = (KnownName("local_one", "parameter"), KnownName("loss"), KnownName(selected))
    user.help.take(Completed(user.last(Complete).serial, known))
    assert "local_one" in user.names
    assert user.selected == selected


def test_names_out_of_scope_go_once_it_has_answered(user):
    user.type("fi")
    assert {"first", "filter"} <= set(user.names)
    user.help.take(Completed(user.last(Complete).serial, (KnownName("filter", "function"),)))
    assert "filter" in user.names
    assert "first" not in user.names


def test_a_late_answer_of_another_word_is_dropped(user):
    user.type("lo")
    serial = user.last(Complete).serial
    user.type(" x")
    user.help.take(Completed(serial, (KnownName("loose"),)))
    assert not user.is_open
    user.type(" he")
    user.help.take(Completed(serial, (KnownName("heap"),)))
    assert "heap" not in user.names


def test_a_list_that_nobody_asked_for_does_not_open_late(user, monkeypatch):
    monkeypatch.setattr(module, "LATE_MS", -1)
    user.type("thing.")
    assert not user.is_open
    user.help.take(Completed(user.last(Complete).serial, (KnownName("part"),)))
    assert not user.is_open
    user.help.complete()
    user.help.take(Completed(user.last(Complete).serial, (KnownName("part"),)))
    assert user.names == ["part"]


def test_an_answer_in_time_opens_the_list(user):
    user.type("thing.")
    user.help.take(Completed(user.last(Complete).serial, (KnownName("part", "function"),)))
    assert user.names == ["part"]
    user.qtbot.waitUntil(lambda: any(isinstance(one, Describe) for one in user.asked))
    about = KnownName("part", "function", ("(a, b)",), "Does a part.")
    user.help.take(Described(user.last(Describe).serial, about))
    assert user.about == "part(a, b)\nDoes a part."


def test_the_result_of_a_call_that_nobody_knows_is_taken_for_a_tensor(user):
    user.type("net(x).")
    assert not user.is_open
    user.help.take(Completed(user.last(Complete).serial))
    assert {"sum", "backward"} <= set(user.names)
    user.type("backw")
    assert user.names == ["backward"]
    user.put("")
    user.type('"".')
    user.help.take(Completed(user.last(Complete).serial, (KnownName("join", "function"),)))
    assert user.names == ["join"]


def test_without_a_process_it_is_taken_for_a_tensor_at_once(user):
    user.help.has_answers = False
    user.type("net(x).")
    assert "backward" in user.names
    assert user.asked == []


def test_a_name_that_nobody_knows_is_not_taken_for_a_tensor(user):
    user.type("thing.")
    user.help.take(Completed(user.last(Complete).serial))
    assert not user.is_open


# The look


@pytest.mark.parametrize("user", ["light", "dark"], indirect=True)
def test_the_list_is_painted_in_the_theme_within_the_window(user):
    user.type("lo")
    shown = user.help.completion.list
    picture = user.host.grab().toImage()
    inside = shown.geometry().adjusted(8, 8, -8, -8)
    assert user.host.rect().contains(shown.geometry())
    panel = user.edit.look.theme.panel
    corner = picture.pixelColor(inside.bottomRight())
    assert abs(corner.lightness() - panel.lightness()) < 12


def test_near_the_bottom_the_list_is_above_the_line(user):
    user.put("a\n" * 60)
    user.type("loc")
    shown = user.help.completion.list.geometry()
    caret = user.edit.cursorRect().translated(user.edit.viewport().mapTo(user.host, QPoint(0, 0)))
    assert shown.bottom() < caret.top()
    assert user.host.rect().contains(shown)


def test_in_a_small_window_the_list_stays_inside(user):
    user.host.resize(430, 200)
    user.edit.resize(420, 200)
    user.type("x.")
    assert user.host.rect().contains(user.help.completion.list.geometry())


def test_larger_text_has_larger_rows(user):
    user.type("x.")
    before = user.help.completion.list.view.sizeHintForRow(0)
    user.edit.set_text_size(26)
    assert not user.is_open
    user.press(Key.Key_Backspace)
    user.type(".")
    assert user.help.completion.list.view.sizeHintForRow(0) >= 2 * before - 2


def test_a_click_inserts_a_name_and_the_editor_stays_focused(user, qtbot):
    user.type("x.su")
    view = user.help.completion.list.view
    index = view.model().index(user.names.index("sub"), 0)
    qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center()
    )
    assert user.edit.source() == PROGRAM + "x.sub"
    assert user.edit.hasFocus()


def test_a_row_is_spoken_with_kind_and_shape(user):
    user.type("lo")
    view = user.help.completion.list.view
    assert view.accessibleName() == "Completions"
    text = view.model().data(view.currentIndex(), Qt.ItemDataRole.AccessibleTextRole)
    assert text == "loss, tensor, scalar"


def test_keys_of_the_list_are_no_shortcuts_while_it_is_open(user):
    def claimed(key):
        override = QKeyEvent(QKeyEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        override.ignore()
        QCoreApplication.sendEvent(user.edit, override)
        return override.isAccepted()

    assert not claimed(Key.Key_Escape)
    user.type("lo")
    assert claimed(Key.Key_Escape)
    assert claimed(Key.Key_Return)


def test_the_editor_can_go_while_the_list_is_open(user, qtbot):
    user.type("lo")
    assert user.is_open
    user.host.hide()
    assert not user.help.completion.is_open


def test_an_open_list_gets_the_names_of_torch_when_they_come(user, torch_names):
    user.help.knowledge.owners = {}
    user.type("zz = torch.softm")
    user.help.complete()
    assert user.is_open
    assert "softmax" not in user.names
    assert user.about == "Reading names…"
    user.help.take(TorchNames(torch_names))
    assert user.selected == "softmax"
