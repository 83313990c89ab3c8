"""The cards of findings."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gradscribe.engine.protocol.tape import Finding, Place
from gradscribe.playback.code.fix_diff import FixRow
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.findings import MAX_CARDS, MAX_LINES, FindingsPane

SOURCE = "a = 1\nb = 2\nif a:\n    c = a + b\n"
ONE = Finding(
    "id-one",
    "A title",
    Place(4, 4, 4, 13),
    "what was measured",
    "Why it matters.",
    (Place(1, 0, 1, 5),),
    SOURCE.replace("a + b", "a - b"),
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
    assert [link.text() for link in links] == ["Line 4", "1"]
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


def test_nothing_found_is_said(pane):
    pane.set_findings((), SOURCE)
    label = next(x for x in pane.findChildren(Label) if x.property("role") == "absent")
    assert (label.isVisibleTo(pane), pane.cards()) == (True, [])


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
