"""Sections: their rows come in steps, and are seen all at once."""

from itertools import pairwise

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QLabel

from gradscribe.engine.protocol.setup import Part
from gradscribe.engine.protocol.training import CatalogueEntry, Option
from gradscribe.widgets.training.setup.option_row import OptionRow
from gradscribe.widgets.training.setup.sections import PartSection

POLISHED = Qt.WidgetAttribute.WA_WState_Polished
EIGHT = tuple(Option(f"o{i}", "float", 0.5) for i in range(8))
MANY = CatalogueEntry("optimizer", "many", "Many", "", EIGHT)
ONE = CatalogueEntry("optimizer", "one", "One", "", (Option("lr", "float", 0.1),))


def show_part(section, part):
    for _ in section.follow(part):
        pass


@pytest.fixture
def section(shown):
    made = shown(PartSection("Optimizer"), 280, 400)
    made.set_entries([MANY, ONE])
    show_part(made, Part("one", {"lr": 0.3}))
    made.told = []
    made.chosen.connect(made.told.append)
    return made


def test_many_rows_are_made_in_steps_and_seen_all_at_once(section):
    steps, seen = 0, []
    for _ in section.follow(Part("many", {"o7": 2.0})):
        steps += 1
        seen.append(tuple(section.by_name))
    assert steps >= 3
    assert seen[0] == ("lr",), "what stood there before, until all of them are there"
    assert tuple(section.by_name) == tuple(option.name for option in MANY.options)
    assert section.by_name["o7"].editor.number == 2.0
    assert all(row.isVisibleTo(section) for row in section.by_name.values())
    assert list(section.follow(Part("many", {"o7": 3.0}))) == [], "rows stay where the entry stays"
    assert section.by_name["o7"].editor.number == 3.0


def test_an_entry_has_no_name_of_the_file_before_its_title_is_known(shown):
    section = shown(PartSection("Optimizer"), 280, 400)
    show_part(section, Part("one"))
    assert section.choice.placeholderText() == "…"
    section.set_entries([MANY, ONE])
    show_part(section, Part("one"))
    assert section.choice.currentText() == "One"
    show_part(section, Part("of_a_plugin"))
    assert section.choice.placeholderText() == "of_a_plugin"


def test_rows_of_what_is_no_longer_chosen_change_nothing(section):
    old = section.by_name["lr"]
    steps = section.follow(Part("many"))
    next(steps)
    old.edited.emit("lr", 0.9)
    assert section.told == []
    for _ in steps:
        pass
    section.by_name["o2"].edited.emit("o2", 0.9)
    assert section.told == [Part("many", {"o2": 0.9})]


def test_another_choice_in_between_is_what_is_shown(section):
    next(section.follow(Part("many")))
    section.choice.activated.emit(section.choice.findData("one"))
    assert section.told == [Part("one")], "no longer what is wanted, though its rows still stand"
    show_part(section, Part("one", {"lr": 0.7}))
    assert tuple(section.by_name) == ("lr",)
    assert section.by_name["lr"].editor.number == 0.7
    assert section.choice.currentData() == "one"


def test_each_step_makes_one_row_and_dresses_one(section):
    counts, dressed = [1], [1]
    for _ in section.follow(Part("many")):
        rows = section.findChildren(OptionRow)
        counts.append(len(rows))
        dressed.append(sum(row.editor.testAttribute(POLISHED) for row in rows))
        whole = all(row.editor.testAttribute(POLISHED) for row in section.by_name.values())
        assert whole, "a row is seen before it has its look"
    for steps in (counts, dressed):
        assert max(later - now for now, later in pairwise(steps)) == 1
    assert all(row.isVisible() for row in section.by_name.values())


def test_rows_that_are_not_wanted_any_more_are_left_nowhere(section):
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    before = len(section.findChildren(OptionRow))
    for _ in range(3):
        steps = section.follow(Part("many"))
        next(steps)
        next(steps)
        steps.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert len(section.findChildren(OptionRow)) == before
    assert tuple(section.by_name) == ("lr",)


def test_rows_of_what_was_offered_before_do_not_stand_for_what_is_now(section):
    steps = section.follow(Part("many"))
    next(steps)
    fewer = replace(MANY, options=EIGHT[:2])
    section.set_entries([fewer, ONE])
    for _ in steps:
        pass
    show_part(section, Part("many"))
    assert tuple(section.by_name) == ("o0", "o1")


def test_a_row_has_no_label_for_what_is_not_said(shown):
    row = shown(OptionRow(Option("lr", "float", 0.1)), 280, 60)
    before = row.findChildren(QLabel)
    row.show_error("")
    assert row.findChildren(QLabel) == before == [row.label]
    row.show_error("too big")
    assert row.note.isVisible()
    row.show_error("")
    assert not row.note.isVisible()
