"""Edits that cross with other changes: each side's differences hold, the edit's where both do."""

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.setup_changes import rebase

BASE = Setup(optimizer=Part("adam", {"lr": 0.1, "eps": 1e-6}), batch=16)


def adam(**options):
    return Part("adam", options)


def test_what_was_not_edited_is_what_it_became():
    became = Setup(optimizer=adam(lr=0.2, eps=1e-6), batch=32)
    edited = Setup(optimizer=adam(lr=0.1, eps=1e-3), batch=16, seed=4)
    merged = rebase(became, BASE, edited)
    assert merged == Setup(optimizer=adam(lr=0.2, eps=1e-3), batch=32, seed=4)


def test_of_two_changes_of_one_option_the_edit_holds():
    became = Setup(optimizer=adam(lr=0.2, eps=1e-6), batch=32)
    edited = Setup(optimizer=adam(lr=0.7, eps=1e-6), batch=8)
    assert rebase(became, BASE, edited) == edited


def test_an_option_that_was_removed_is_gone():
    became = Setup(optimizer=adam(lr=0.2, eps=1e-6), batch=16)
    edited = Setup(optimizer=adam(lr=0.1), batch=16)
    assert rebase(became, BASE, edited).optimizer == adam(lr=0.2)


def test_another_part_is_taken_whole():
    became = Setup(optimizer=adam(lr=0.2), batch=16)
    edited = Setup(optimizer=Part("sgd", {"lr": 0.1}), batch=16, schedule=Part("cosine"))
    merged = rebase(became, BASE, edited)
    assert (merged.optimizer, merged.schedule) == (edited.optimizer, Part("cosine"))
    back = rebase(merged, edited, BASE)
    assert (back.optimizer, back.schedule) == (BASE.optimizer, None)


def test_nothing_edited_changes_nothing():
    became = Setup(optimizer=adam(lr=0.2), batch=4)
    assert rebase(became, BASE, BASE) == became
