"""Undo and redo of the training setup and of edited weights."""

from gradscribe.app.training.session.setup_history import MOST_UNDO, SetupHistory, WeightChange
from gradscribe.engine.protocol.setup import Setup

EDIT = WeightChange(1, "0.weight", 0, before=0.5, after=1.0)


def test_there_is_an_end_to_undo():
    history, now = SetupHistory(), MOST_UNDO + 30
    for batch in range(1, now):
        history.push(Setup(batch=batch))
    setup = Setup(batch=now)
    while (before := history.undo(setup)) is not None:
        setup = before
    assert setup == Setup(batch=now - MOST_UNDO)
    while (after := history.redo(setup)) is not None:
        setup = after
    assert setup == Setup(batch=now)


def test_an_edited_weight_leaves_the_setup_alone():
    history = SetupHistory()
    history.push(Setup(batch=1))
    history.push(EDIT)
    assert history.undo(Setup(batch=2)) == WeightChange(1, "0.weight", 0, before=1.0, after=0.5)
    assert history.undo(Setup(batch=2)) == Setup(batch=1)
    assert history.redo(Setup(batch=1)) == Setup(batch=2)
    assert history.redo(Setup(batch=2)) == EDIT
    assert history.redo(Setup()) is None


def test_a_new_change_forgets_the_undone_ones():
    history = SetupHistory()
    history.push(Setup(batch=1))
    history.undo(Setup(batch=2))
    history.push(Setup(batch=1))
    assert history.redo(Setup()) is None


def test_weights_that_a_rewind_has_reverted_are_forgotten():
    history = SetupHistory()
    for change in (Setup(batch=1), EDIT, EDIT):
        history.push(change)
    history.undo(Setup(batch=2))
    history.forget_weights()
    assert history.redo(Setup()) is None
    assert history.undo(Setup(batch=2)) == Setup(batch=1)
    assert history.undo(Setup()) is None


def test_a_drag_is_one_change():
    history = SetupHistory()
    history.push(Setup(batch=1))
    history.push(Setup(batch=2), merge=True)
    assert history.undo(Setup(batch=3)) == Setup(batch=1)
    assert history.undo(Setup()) is None
