"""The history as plain data: it always leads to the text, and the text can be had back from it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.edit_history import (
    MAX_CHARACTERS,
    MAX_STEPS,
    EditHistory,
    EditStep,
    original_text,
    step_between,
)

LETTERS = st.text("ab\n🙂", max_size=12)


@given(LETTERS, LETTERS)
def test_a_difference_leads_there_and_back(old, new):
    step = step_between(old, new)
    assert step.redo(old) == new
    assert step.undo(new) == old
    assert not (step.removed and step.inserted) or step.removed[0] != step.inserted[0]


def test_a_step_refuses_a_text_it_is_not_about():
    for step in (EditStep(2, "b", ""), EditStep(-1, "", "x"), EditStep(9, "", "x")):
        with pytest.raises(ValueError, match="not about"):
            step.redo("aaa")


def test_typing_grows_one_step_and_a_pause_begins_another():
    history = EditHistory()
    history.reset("")
    for text, undo in (("a", 1), ("ab", 1), ("ab\n", 2), ("ab\nc", 3)):
        history.note(text, undo, 0)
    assert history.steps == (EditStep(0, "", "ab"), EditStep(2, "", "\n"), EditStep(3, "", "c"))
    assert original_text("ab\nc", history.steps, history.done) == ""


def test_undo_and_redo_move_along_the_steps_and_an_edit_cuts_them():
    history = EditHistory()
    history.reset("")
    for count, text in enumerate(("a", "a b", "a b c"), 1):
        history.note(text, count, 0)
    history.note("a b", 2, 1)
    history.note("a", 1, 2)
    assert (len(history.steps), history.done) == (3, 1)
    history.note("a b", 2, 1)
    assert history.done == 2
    history.note("a b!", 3, 0)
    assert history.steps[-1] == EditStep(3, "", "!")
    assert len(history.steps) == history.done == 3


def test_the_oldest_steps_are_forgotten():
    history = EditHistory()
    history.reset("")
    text = ""
    for count in range(2 * MAX_STEPS):
        text += "x"
        history.note(text, count + 1, 0)
    assert len(history.steps) == MAX_STEPS
    assert original_text(text, history.steps, history.done) == "x" * MAX_STEPS
    history.note("y" * (MAX_CHARACTERS + 1), 10_000, 0)
    assert history.steps == ()
    assert not history.is_heavy


def walk(editor):
    """Every text that undo leads to, then every one that redo leads to."""
    texts = set()
    for able, go in (("isUndoAvailable", editor.undo), ("isRedoAvailable", editor.redo)):
        while getattr(editor.document(), able)():
            go()
            texts.add(editor.source())
    return texts


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_the_editor_can_be_had_back(qtbot, seed):
    dice = random.Random(seed)
    editor, other = CodeEdit(), CodeEdit()
    qtbot.addWidget(editor)
    qtbot.addWidget(other)
    editor.set_source("a = 1\nb = '🙂'\n", fresh=True)
    keys = (Qt.Key.Key_Return, Qt.Key.Key_Backspace, Qt.Key.Key_Left, Qt.Key.Key_Up)
    for turn in range(80):
        match dice.randrange(8):
            case 0 | 1 | 2:
                QTest.keyClicks(editor, dice.choice(("ab", "(", "'", " 1")))
            case 3:
                QTest.keyClick(editor, dice.choice(keys))
            case 4 | 5:
                (editor.undo if dice.random() < 0.6 else editor.redo)()
            case 6:
                editor.set_source(editor.source().replace("a", f"b{turn}", 1))
            case _:
                editor.selectAll()
                QTest.keyClicks(editor, "x")
        assert original_text(editor.source(), editor.history.steps, editor.history.done) is not None
    source, steps, done = editor.source(), editor.history.steps, editor.history.done
    told = []
    other.edited.connect(told.append)
    other.restore(source, steps, done)
    assert other.source() == source
    assert not told
    # Qt may make one step of two, but the way back and forth ends at the same texts.
    ends = walk(other)
    assert original_text(source, steps, done) in ends | {source}
    assert ends <= walk(editor) | {source}


def test_a_history_that_does_not_fit_is_dropped(qtbot):
    editor = CodeEdit()
    qtbot.addWidget(editor)
    editor.restore("abc", (EditStep(0, "zz", "y"),), 1)
    assert editor.source() == "abc"
    assert not editor.document().isUndoAvailable()


def test_a_heavy_history_is_made_light(qtbot, monkeypatch):
    monkeypatch.setattr("gradscribe.widgets.editor.edit_history.MAX_WEIGHT", 3000)
    editor = CodeEdit()
    qtbot.addWidget(editor)
    editor.set_source("", fresh=True)
    for turn in range(40):
        editor.set_source(f"{turn}" * 100)
    editor.set_caret(2, 5)
    assert editor.history.is_heavy
    monkeypatch.setattr("gradscribe.widgets.editor.edit_history.MAX_STEPS", 5)
    QTest.keyClicks(editor, "y")
    editor.compact_history()
    assert editor.document().availableUndoSteps() < 20
    assert not editor.history.is_heavy
    assert editor.caret() == (3, 3)
    editor.undo()
    assert editor.source() == "39" * 100
