"""Findings in the window: the tab, the marks, the fix, the comparison."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.app.compare.controller import CompareCard
from gradscribe.app.document.side_run import SideRun
from gradscribe.app.document.state import Doc
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.editor.diff_lines import DiffLines
from tests.app.fakes import FakeLink

SICK = "x = param([1.0, 2.0])\ny = x**2\ny.sum().backward()\nprint(y.grad)"
BROKEN = "x = param([1.0, 2.0])\ny = x**2\ny.backward()"


@pytest.fixture
def sick(settled, link, record):
    settled.session.edit_live(SICK)
    settled.editor.set_source(SICK)
    link.answer(record(SICK))
    return settled


@pytest.fixture
def trials(sick):
    """Links that trials were given."""
    links = []

    def make(_parent):
        links.append(FakeLink())
        return links[-1]

    sick.findings_controller._trial._make = make
    return links


def tab(window):
    return window.below.tabText(2)


def test_a_healthy_program_has_no_findings(settled):
    assert tab(settled) == "Findings"
    assert settled.findings.cards() == []
    assert settled.editor.findings.lines() == frozenset()


def test_findings_are_counted_listed_and_marked(sick):
    assert tab(sick) == "Findings · 1"
    assert "Line 4" in sick.below.tabToolTip(2)
    assert [card.finding.id for card in sick.findings.cards()] == ["grad-of-non-leaf"]
    assert sick.editor.findings.lines() == {4}


def test_the_tab_stays_where_it_was(sick):
    assert sick.below.currentIndex() != 2


def test_a_program_that_failed_has_findings_too(settled, link, record):
    settled.session.edit_live(BROKEN)
    settled.editor.set_source(BROKEN)
    link.answer(record(BROKEN))
    assert [card.finding.id for card in settled.findings.cards()] == ["backward-on-vector"]
    assert settled.editor.findings.lines() == {3}


def test_apply_changes_the_text_in_one_step_that_undo_takes_back(sick, link, record, qtbot):
    card = sick.findings.cards()[0]
    qtbot.mouseClick(card.apply, Qt.MouseButton.LeftButton)
    mended = sick.editor.source()
    assert "y.retain_grad()" in mended
    assert link.sources[-1] == mended == sick.session.doc.source
    link.answer(record(mended))
    assert tab(sick) == "Findings"
    sick.editor.undo()
    assert sick.editor.source() == SICK


def test_a_fix_waits_for_the_run_of_the_text_as_it_is(sick, qtbot):
    card = sick.findings.cards()[0]
    sick.session.edit_live(SICK + "\nz = 1")
    assert not card.apply.isEnabled()
    sick.session.edit_live(SICK)
    assert card.apply.isEnabled()


def test_show_me_runs_the_mended_program_and_compares(sick, trials, record, qtbot):
    card = sick.findings.cards()[0]
    qtbot.mouseClick(card.show_me, Qt.MouseButton.LeftButton)
    assert card.show_me.text() == "Running…"
    assert trials[0].sources == [card.finding.fix]
    trials[0].answer(record(card.finding.fix))
    assert card.show_me.text() == "Show me"
    assert "1 finding" in card._table.accessibleName()
    assert trials[0].closed


def test_typing_gives_a_comparison_up(sick, trials, qtbot):
    card = sick.findings.cards()[0]
    qtbot.mouseClick(card.show_me, Qt.MouseButton.LeftButton)
    sick.session.edit_live(SICK + "\nz = 1")
    assert trials[0].closed
    assert card.show_me.text() == "Show me"


def test_the_command_brings_the_tab_and_the_line(sick):
    sick.menus.perform_by("doctor.open")
    assert sick.below.currentIndex() == 2
    assert sick.editor.textCursor().blockNumber() + 1 == 4


def test_a_link_goes_to_its_line(sick):
    sick.findings.line_requested.emit(2)
    assert sick.editor.textCursor().blockNumber() + 1 == 2


def test_closing_ends_a_comparison(sick, trials, qtbot):
    qtbot.mouseClick(sick.findings.cards()[0].show_me, Qt.MouseButton.LeftButton)
    sick.close()
    assert trials[0].closed
    assert isinstance(sick.findings_controller._trial, SideRun)


def test_show_me_opens_both_runs_side_by_side(sick, trials, record, qtbot):
    card = sick.findings.cards()[0]
    qtbot.mouseClick(card.show_me, Qt.MouseButton.LeftButton)
    trials[0].answer(record(card.finding.fix))
    (shown,) = sick.ground.findChildren(CompareCard)
    assert shown.left.tape is sick.session.result.latest
    assert "y.retain_grad()" in [strip.rows for strip in shown.findChildren(DiffLines)][1]
    shown.leave()


def test_show_me_of_a_program_that_failed_has_two_sides_too(settled, link, record, qtbot):
    links = []
    settled.findings_controller._trial._make = lambda _parent: links.append(FakeLink()) or links[-1]
    settled.session.edit_live(BROKEN)
    settled.editor.set_source(BROKEN)
    link.answer(record(BROKEN))
    card = settled.findings.cards()[0]
    qtbot.mouseClick(card.show_me, Qt.MouseButton.LeftButton)
    links[0].answer(record(card.finding.fix))
    (shown,) = settled.ground.findChildren(CompareCard)
    assert [strip.rows for strip in shown.findChildren(DiffLines)] == [
        ["y.backward()"],
        ["y.sum().backward()"],
    ]
    shown.leave()


def test_where_nothing_can_be_mended_the_card_says_why(settled, link, record):
    source = "s = torch.randn(2, 3, requires_grad=True)\nF.cross_entropy(s, tensor([0, 7]))"
    settled.session.edit_live(source)
    settled.editor.set_source(source)
    link.answer(record(source))
    card = settled.findings.cards()[0]
    assert card.show_me is None
    said = [label.said() for label in card.findChildren(Label)]
    assert any("last layer has too few outputs" in text for text in said)


def test_findings_of_a_tape_that_was_recorded_elsewhere_are_shown(settled, record):
    settled.session.load(Doc(source=SICK, saved=SICK), tape=record(SICK))
    assert [card.finding.id for card in settled.findings.cards()] == ["grad-of-non-leaf"]
    assert settled.editor.findings.lines() == {4}
    assert settled.findings.cards()[0].apply.isEnabled()
