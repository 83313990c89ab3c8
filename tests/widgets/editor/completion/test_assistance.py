"""Help with typing is never in the way of typing."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from gradscribe.engine.protocol.language import (
    Complete,
    Completed,
    Described,
    Explain,
    Explained,
    KnownName,
    Located,
    TorchNames,
)
from tests.widgets.editor.completion.conftest import PROGRAM

Key = Qt.Key
LETTERS = st.sampled_from(list("abelnorstx_.(),[]:= \"'#0123é🙂"))
KEYS = st.sampled_from(
    [Key.Key_Backspace, Key.Key_Delete, Key.Key_Left, Key.Key_Right, Key.Key_Home, Key.Key_Escape]
)


def perform(user, keys):
    user.help.dismiss()
    user.put(PROGRAM)
    for key in keys:
        if isinstance(key, str):
            user.type(key)
        else:
            user.press(key)
    return user.edit.source()


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(LETTERS | KEYS, max_size=25))
def test_the_text_is_what_was_typed_with_the_list_or_without_it(user, keys):
    user.help.is_automatic = False
    plain = perform(user, keys)
    user.help.is_automatic = True
    assert perform(user, keys) == plain


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.lists(
        LETTERS
        | KEYS
        | st.sampled_from(
            [Key.Key_Tab, Key.Key_Return, Key.Key_Down, Key.Key_PageDown, Key.Key_Up]
        ),
        max_size=25,
    ),
    st.integers(0, 40),
)
def test_any_keys_and_any_answers_leave_a_text_that_undo_takes_back(user, keys, offset):
    user.help.dismiss()
    user.put(PROGRAM)
    user.edit.setFocus()
    for key in keys:
        if isinstance(key, str):
            user.type(key)
        elif user.edit.hasFocus():
            user.press(key)
        serial = user.help._serial - offset % 3
        user.help.take(Completed(serial, (KnownName("answer", "function"), KnownName("x"))))
        user.help.take(Explained(serial, KnownName("f", "function", ("(a, *b, c=1)", "nonsense"))))
        user.help.take(Described(serial, KnownName("answer", "class", ("()",), "Words")))
        user.help.take(Located(serial, offset, offset))
        shown = user.help.completion.list
        assert not shown.isVisible() or user.host.rect().contains(shown.geometry())
    for _ in range(200):
        if not user.edit.document().isUndoAvailable():
            break
        user.edit.undo()
    assert user.edit.source() == PROGRAM


def test_it_begins_once_with_the_first_letter(user):
    begun = []
    user.help.begun.connect(lambda: begun.append(1))
    user.press(Key.Key_Left)
    assert begun == []
    user.type("ab")
    assert begun == [1]


def test_letters_with_control_are_commands(user):
    user.press(Key.Key_C, modifier=Qt.KeyboardModifier.ControlModifier)
    user.help.is_automatic = True
    assert not user.is_open
    assert user.asked == []


def test_names_of_torch_that_arrive_are_used(user):
    user.help.take(TorchNames({"torch": (KnownName("only_this", "function"),)}))
    user.type("torch.")
    assert user.names == ["only_this"]


def test_another_theme_or_a_larger_text_closes_everything(user):
    from gradscribe.widgets.base.theme import Theme

    user.type("torch.matmul(lo")
    assert user.is_open
    assert user.signature
    user.edit.set_theme(Theme.load("dark"))
    assert not user.is_open
    assert not user.signature


@pytest.mark.parametrize("text", ["x." * 2_000, "(" * 3_000, "f(" * 400, "lo, " * 2_000])
def test_a_long_line_does_not_stall_typing(user, text):
    import time

    user.put(text)
    begun = time.process_time()
    user.type("xlo")
    assert time.process_time() - begun < 2.0


def test_each_letter_asks_at_most_one_question_of_a_kind(user):
    user.type("something.other(value")
    for kind in (Complete, Explain):
        columns = [one.column for one in user.asked if isinstance(one, kind)]
        assert len(columns) == len(set(columns))


@pytest.mark.parametrize("late", ["d()", "d(), 3"])
def test_keys_that_come_while_the_window_is_busy_do_not_accept_a_name(user, late):
    user.put("x = torch.ones(1)\n")
    user.type("x.backwar")
    user.help.take(Completed(user.help._serial, (KnownName("backward", "function"),)))
    assert user.is_open
    for letter in late:
        user.send(letter)
    user.send("\r", Key.Key_Return)
    user.settle()
    assert user.edit.source().splitlines()[1] == "x.backwar" + late
