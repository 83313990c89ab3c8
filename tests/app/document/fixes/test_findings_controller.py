"""Findings in the window: the tab, the marks, the fix, the comparison."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.app.compare.controller import CompareCard
from gradscribe.app.document.fixes import fix_trials
from gradscribe.app.document.side_run import SideRun
from gradscribe.app.document.state import Doc, Limits
from gradscribe.app.link.client import Link
from gradscribe.engine.run import run
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.editor.diff_lines import DiffLines
from tests.app.fakes import FakeLink

SICK = "x = param([1.0, 2.0])\ny = x**2\ny.sum().backward()\nprint(y.grad)"
BROKEN = "x = param([1.0, 2.0])\ny = x**2\ny.backward()"


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Let trials begin in the next turn of the event loop."""
    monkeypatch.setattr(fix_trials, "SETTLE_MS", 0)


def show(window, link, record, source):
    """Run a program in the window."""
    window.session.edit_live(source)
    window.editor.set_source(source)
    link.answer(record(source))


def try_fixes(window, link, record, qtbot):
    """Answer the second engine until every fix was tried; return the programs that it ran."""
    trials, ran = window.findings_controller.fix_trials, []
    while trials.is_busy:
        qtbot.waitUntil(lambda: bool(link.companions) and len(link.companions[-1].runs) > len(ran))
        ran.append(link.companions[-1].answer_trial(record))
    return ran


@pytest.fixture
def untried(settled, link, record):
    """A window with a finding whose fix was not tried yet."""
    show(settled, link, record, SICK)
    return settled


@pytest.fixture
def sick(untried, link, record, qtbot):
    try_fixes(untried, link, record, qtbot)
    return untried


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
    try_fixes(settled, link, record, qtbot)
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


def test_findings_of_a_tape_that_was_recorded_elsewhere_are_shown(settled, record, link, qtbot):
    settled.session.load(Doc(source=SICK, saved=SICK), tape=record(SICK))
    assert [card.finding.id for card in settled.findings.cards()] == ["grad-of-non-leaf"]
    assert settled.editor.findings.lines() == {4}
    try_fixes(settled, link, record, qtbot)
    assert settled.findings.cards()[0].apply.isEnabled()


def words(card):
    return [label.said() for label in card.findChildren(Label) if label.isVisibleTo(card)]


def test_a_finding_is_shown_at_once_and_its_fix_once_it_has_worked(untried, link, record, qtbot):
    card = untried.findings.cards()[0]
    assert (card.apply.isEnabled(), card.show_me.isEnabled()) == (False, False)
    assert any("being tried" in text for text in words(card))
    ran = try_fixes(untried, link, record, qtbot)
    assert ran == [SICK, card.finding.fix]
    assert link.companions[0].limits[0]["brief"]
    assert (card.apply.isEnabled(), card.show_me.isEnabled()) == (True, True)
    assert not any("being tried" in text for text in words(card))
    assert untried.findings.cards() == [card]


def test_a_fix_that_does_not_work_gives_way_to_the_reason(untried, link, record, qtbot):
    card = untried.findings.cards()[0]
    fix = card.finding.fix

    def answer(source):
        return record("1 / 0" if source == fix else source)

    try_fixes(untried, link, answer, qtbot)
    assert (card.apply, card.show_me) == (None, None)
    (said,) = (text for text in words(card) if text.startswith("No automatic fix."))
    assert said.endswith(
        "With the change that usually helps, it stops on line 1 with "
        "ZeroDivisionError: division by zero."
    )


def test_the_same_program_is_not_tried_twice(sick, link, record, qtbot):
    ran = len(link.companions[0].runs)
    show(sick, link, record, SICK + "\n")
    show(sick, link, record, SICK)
    card = sick.findings.cards()[0]
    assert card.apply.isEnabled()
    assert len(link.companions[0].runs) == ran
    assert not sick.findings_controller.fix_trials.is_busy


def test_typing_gives_a_trial_up(untried, link, record, qtbot):
    qtbot.waitUntil(lambda: bool(link.companions))
    untried.session.edit_live(SICK + "\nz = 1")
    assert link.companions[0].stops == 1
    assert not untried.findings_controller.fix_trials.is_busy
    link.companions[0].answer_trial(record)
    assert len(link.companions[0].runs) == 1


def test_a_program_that_may_not_run_is_not_tried(settled, record, link, qtbot):
    doc = Doc(source=SICK, saved=SICK, foreign=True)
    settled.session.load(doc, tape=record(SICK))
    trials = settled.findings_controller.fix_trials
    assert not trials.is_busy
    for card in settled.findings.cards():
        assert not card.apply.isEnabled()
        assert any("Run the program to try this fix" in text for text in words(card))


def test_an_engine_that_never_answers_is_said(untried, link, record, qtbot):
    qtbot.waitUntil(lambda: bool(link.companions))
    trials = untried.findings_controller.fix_trials
    trials._late.start(0)
    qtbot.waitUntil(lambda: not trials.is_busy)
    card = untried.findings.cards()[0]
    assert card.apply is None
    assert any("could not be tried: Python does not start" in text for text in words(card))
    assert link.companions[0].closed


def test_an_idle_engine_is_ended(sick, link, qtbot):
    trials = sick.findings_controller.fix_trials
    assert not link.companions[0].closed
    trials._idle.start(0)
    qtbot.waitUntil(lambda: link.companions[0].closed)


def test_closing_the_window_ends_the_trials(untried, link, qtbot):
    qtbot.waitUntil(lambda: bool(link.companions))
    untried.close()
    assert link.companions[0].closed


@pytest.mark.e2e
def test_the_spare_engine_tries_a_fix(qtbot):
    main = Link(spare=True)
    main.start()
    trials, found = fix_trials.FixTrials(None, main.companion), []
    trials.tried.connect(lambda *pair: found.append(pair))
    finding = run.record(SICK).findings[0]
    with qtbot.waitSignal(trials.tried, timeout=90_000):
        trials.start((finding,), SICK, Doc(source=SICK), Limits())
    ((first, result),) = found
    assert (first, result.fix, result.tried) == (finding, finding.fix, "whole")
    trials.close()
    main.close()
