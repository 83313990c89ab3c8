"""The cards of findings."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Place
from gradscribe.playback.code.fix_diff import TRIED_IN_PART, FixRow
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.findings import (
    INDENT,
    MAX_CARDS,
    MAX_LINES,
    NOT_TRIED,
    TRYING,
    FindingsPane,
)

SOURCE = "a = 1\nb = 2\nif a:\n    c = a + b\n"
ONE = Finding(
    "id-one",
    "A title",
    Place(4, 4, 4, 13),
    "what was measured",
    "Why it matters.",
    (Place(1, 0, 1, 5),),
    SOURCE.replace("a + b", "a - b"),
    tried="whole",
)
TWO = Finding("id-two", "Another", Place(2, 0, 2, 5), "m", "w.", severity="hint")


@pytest.fixture
def pane(shown):
    made = shown(FindingsPane(), 300, 500)
    made.set_findings((ONE, TWO), SOURCE)
    return made


def texts(card):
    return [label.said() for label in card.findChildren(Label)]


def test_a_card_has_title_measure_reason_and_the_lines_that_change(pane):
    assert texts(pane.cards()[0]) == [
        "A title",
        "what was measured.",
        "Why it matters.",
        "− c = a + b",
        "+ c = a - b",
    ]


def test_a_hint_asks_and_has_no_buttons_without_a_fix(pane):
    card = pane.cards()[1]
    assert texts(card)[0] == "Another?"
    assert card.apply is None
    assert card.show_me is None


def test_a_click_on_a_line_asks_for_it(pane, qtbot):
    links = [b for b in pane.cards()[0].findChildren(QPushButton) if b.property("link")]
    assert [link.text() for link in links] == ["Lines 4", "1"]
    for link, line in zip(links, (4, 1), strict=True):
        with qtbot.waitSignal(pane.line_requested) as asked:
            qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
        assert asked.args == [line]


def test_the_buttons_ask_for_the_fix_and_for_the_comparison(pane, qtbot):
    card = pane.cards()[0]
    for button, signal in ((card.apply, pane.fix_requested), (card.show_me, pane.demo_requested)):
        with qtbot.waitSignal(signal) as asked:
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert asked.args == [ONE]


def test_the_same_findings_keep_their_cards(pane):
    cards = pane.cards()
    pane.set_findings((ONE, TWO), SOURCE)
    assert pane.cards() == cards
    pane.set_findings((TWO,), SOURCE)
    assert [card.finding for card in pane.cards()] == [TWO]
    assert pane.card(ONE) is None


def test_nothing_found_is_said_of_a_run_and_not_before_the_first(pane):
    def words(pane):
        return next(x for x in pane.findChildren(Label) if x.property("role") == "absent")

    pane.set_findings((), SOURCE)
    assert (words(pane).isVisibleTo(pane), pane.cards()) == (True, [])
    assert words(pane).said() == "Nothing found in the last run"
    unused = FindingsPane()
    unused.set_findings((), "")
    assert words(unused).isVisibleTo(unused)
    assert words(unused).said() == "Mistakes that a run finds appear here"
    unused.deleteLater()


def test_a_fix_for_another_text_cannot_be_applied(pane):
    pane.set_current(False)
    assert not pane.cards()[0].apply.isEnabled()
    pane.set_current(True)
    assert pane.cards()[0].apply.isEnabled()


def test_both_runs_are_shown_side_by_side(pane):
    card = pane.cards()[0]
    card.set_running(True)
    assert (card.show_me.text(), card.show_me.isEnabled()) == ("Running…", False)
    card.set_running(False)
    card.show_rows([FixRow("loss", "4", "1")])
    assert texts(card)[-3:] == ["loss", "4", "1"]


def test_long_changes_are_cut_and_counted(shown):
    fix = "\n".join(f"x{n} = {n}" for n in range(MAX_LINES + 5))
    many = Finding("i", "T", Place(1, 0, 1, 1), "m", "w.", (), fix)
    pane = shown(FindingsPane(), 300, 500)
    pane.set_findings((many,), "a")
    assert texts(pane.cards()[0])[-1] == "and 6 more lines"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_cards_made_before_the_first_show_have_the_theme_s_colours(shown, name):
    theme, pane = Theme.load(name), FindingsPane()
    pane.set_theme(theme)
    pane.set_findings((TWO,), SOURCE)
    shown(pane, 300, 300)
    assert pane.grab().toImage().pixelColor(150, 18).name() == theme.color("panel2").name()


def test_both_themes_and_a_narrow_pane(pane):
    pane.set_theme(Theme.load("dark"))
    pane.resize(180, 500)
    assert pane.minimumSizeHint().width() <= 252


def test_of_very_many_findings_the_first_are_shown_and_the_rest_counted(pane):
    many = tuple(
        Finding("id", f"Title {i}", Place(i + 1, 0, i + 1, 5), "went 1 → …", "w.")
        for i in range(40)
    )
    pane.set_findings(many, SOURCE)
    assert len(pane.cards()) == MAX_CARDS
    assert pane._more.said() == f"and {40 - MAX_CARDS} more, once some of these are fixed"
    assert pane._more.isVisible()
    # A sentence that ends in dots gets no full stop behind them.
    assert texts(pane.cards()[0])[1] == "went 1 → …"
    pane.set_findings((ONE,), SOURCE)
    assert not pane._more.isVisible()


UNTRIED = replace(ONE, tried="no")


@pytest.fixture
def untried(shown):
    made = shown(FindingsPane(), 300, 500)
    made.set_findings((UNTRIED, TWO), SOURCE)
    made.set_may_try(True)
    return made


def test_a_fix_that_was_not_tried_cannot_be_applied(untried):
    card = untried.cards()[0]
    assert (card.apply.isEnabled(), card.show_me.isEnabled()) == (False, False)
    assert TRYING in texts(card)
    untried.set_may_try(False)
    assert NOT_TRIED in texts(card)
    untried.set_current(False)
    untried.set_current(True)
    assert not card.apply.isEnabled()


def test_once_a_fix_has_worked_it_can_be_applied(untried, qtbot):
    card = untried.cards()[0]
    untried.settle(UNTRIED, ONE)
    assert card.apply.isEnabled()
    with qtbot.waitSignal(untried.fix_requested) as asked:
        qtbot.mouseClick(card.apply, Qt.MouseButton.LeftButton)
    assert asked.args == [ONE]
    # The same findings of another run keep what is known.
    untried.set_findings((UNTRIED, TWO), SOURCE)
    assert untried.cards()[0] is card
    assert card.apply.isEnabled()


def test_a_fix_that_was_tried_in_part_says_so(untried):
    untried.settle(UNTRIED, replace(ONE, tried="part"))
    assert f"{TRIED_IN_PART}." in texts(untried.cards()[0])


def test_in_place_of_a_fix_that_failed_stands_the_reason(untried, qtbot):
    card = untried.cards()[0]
    untried.settle(UNTRIED, replace(ONE, fix="", why_no_fix="It stops"))
    assert (card.apply, card.show_me) == (None, None)
    qtbot.waitUntil(lambda: not any(text.startswith("+") for text in texts(card)))
    assert "No automatic fix. It stops." in texts(card)


def test_a_result_for_an_older_text_changes_nothing(untried):
    untried.set_current(False)
    untried.settle(UNTRIED, ONE)
    assert not untried.cards()[0].apply.isEnabled()
    untried.settle(TWO, TWO)
    untried.settle(ONE, UNTRIED)


def test_a_finding_that_follows_from_another_is_grouped_under_it(shown, qtbot):
    follower = replace(TWO, follows="id-one", why_no_fix="Fix line 4 first: this follows from it")
    pane = shown(FindingsPane(), 300, 500)
    pane.set_findings((ONE, follower), SOURCE)
    first, second = pane.cards()

    def left(card):
        return card.mapTo(pane, card.rect().topLeft()).x()

    qtbot.waitUntil(lambda: left(second) - left(first) == INDENT)
    margin = left(first)
    assert "follows from the finding above" in second.accessibleName()
    assert "No automatic fix. Fix line 4 first: this follows from it." in texts(second)
    pane.set_findings((TWO,), SOURCE)
    qtbot.waitUntil(lambda: left(pane.cards()[0]) == margin)


def test_what_a_trial_measured_is_added_to_the_message(pane):
    card = pane.cards()[0]
    pane.settle(ONE, replace(ONE, message="Without the cut w gets 12, and not 4"))
    assert texts(card)[1] == "Without the cut w gets 12, and not 4."
    assert "Without the cut w gets 12, and not 4." in card.said()
