import numpy as np
import pytest

from gradscribe.engine.protocol.messages import Checked, Gradchecked, Peeked
from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.inspector import Inspector, Selection
from gradscribe.widgets.inspector.panes.check import CheckPane
from gradscribe.widgets.inspector.panes.numbers import NumbersPane
from gradscribe.widgets.inspector.panes.overview import OverviewPane
from gradscribe.widgets.inspector.panes.rows import RowWidget
from tests.widgets.inspector.panes.programs import FAN, NEURON, ODD, TRAIN, happened, named, taped


@pytest.fixture
def inspector(shown):
    return shown(Inspector(), 260, 720)


def said(inspector):
    labels = [label.said() for label in inspector.findChildren(Label) if label.isVisible()]
    rows = [
        " ".join(row.line()[:3]) for row in inspector.findChildren(RowWidget) if row.isVisible()
    ]
    return labels + rows


def pane(inspector, kind):
    return next(found for found in inspector.panes if isinstance(found, kind))


def clipped(inspector):
    """Return the rows that are less high than their text."""
    return [
        row.line()
        for row in inspector.findChildren(RowWidget)
        if row.isVisible() and row.height() < row.heightForWidth(row.width()) - 1
    ]


def leaf(source, name):
    return Selection("parameter", named(taped(source), name).id)


def test_without_a_tape_it_says_what_to_do(inspector):
    inspector.show_page(None, None, 0)
    assert said(inspector) == ["Inspector", "Run some code, then pick something to look at"]


def test_without_a_selection_it_explains_the_latest_event(inspector):
    tape = taped(NEURON)
    inspector.show_page(None, tape, happened(tape, "node", 3))
    texts = said(inspector)
    assert texts[:3] == [
        "Backward · node 4 of 5",
        "AddBackward0 hands on its gradient",
        "n = s + b",
    ]
    emphasised = [
        r.line() for r in inspector.findChildren(RowWidget) if r.line().tone == "backward"
    ]
    assert {line.label for line in emphasised} == {"∂L/∂s", "∂L/∂b"}
    assert len({line.number for line in emphasised}) == 1


@pytest.mark.parametrize("source", [NEURON, FAN, TRAIN, ODD])
def test_every_event_of_a_tape_has_a_page(inspector, source):
    tape = taped(source)
    for position in range(-1, len(tape.events) + 2):
        inspector.show_page(None, tape, position)
        assert pane(inspector, OverviewPane).heading.text()[0]
        assert len(said(inspector)) > 2, "an empty card"
        assert 0 <= inspector.page().position <= len(tape.events)


def test_a_value_not_computed_yet_does_not_look_like_zero(inspector):
    inspector.show_page(Selection("value", named(taped(NEURON), "n").id), taped(NEURON), 1)
    assert "Not computed yet" in said(inspector)
    assert not any(text.startswith("0.0") for text in said(inspector))


def test_one_look_at_the_gradient_is_kept_for_the_next_selection(inspector):
    tape = taped(FAN)
    inspector.show_page(leaf(FAN, "x"), tape, len(tape.events))
    assert "2.0000" in said(inspector)
    pane(inspector, OverviewPane).gradient_tab.click()
    assert "64.0000" in said(inspector)
    inspector.show_page(leaf(FAN, "y"), tape, len(tape.events))
    assert "32.0000" in said(inspector)


def test_scrubbing_back_takes_the_gradient_away_again(inspector):
    tape = taped(FAN)
    inspector.show_side("gradient")
    for position, text in ((len(tape.events), "64.0000"), (3, "No gradient yet")):
        inspector.show_page(leaf(FAN, "x"), tape, position)
        assert any(said_text.startswith(text) for said_text in said(inspector))
    assert "64.0000" not in said(inspector)


def test_a_check_is_asked_for_and_shown(inspector, qtbot):
    tape, b = taped(NEURON), named(taped(NEURON), "b")
    inspector.show_page(leaf(NEURON, "b"), tape, len(tape.events))
    block = pane(inspector, CheckPane).blocks[0]
    with qtbot.waitSignal(inspector.check_requested) as heard:
        block.button.click()
    assert heard.args == [b.id, 0]
    assert not block.button.isEnabled()
    inspector.set_check(Checked(1, b.id, 0, 0.2071, 0.2071, 1e-4, True))
    assert "✓ agrees" in said(inspector)
    inspector.show_page(leaf(NEURON, "w"), tape, len(tape.events))
    assert "✓ agrees" not in said(inspector)
    inspector.show_page(leaf(NEURON, "b"), tape, 3)
    assert "✓ agrees" in said(inspector)


def test_checks_are_asked_for_one_after_the_other(inspector):
    tape = taped(NEURON)
    inspector.show_page(leaf(NEURON, "b"), tape, len(tape.events))
    pane = next(one for one in inspector.panes if isinstance(one, CheckPane))
    heard = []
    inspector.check_requested.connect(lambda *asked: heard.append(asked))
    for at in range(3):
        pane.check_requested.emit(7, at)
    assert heard == [(7, 0)]
    inspector.set_check(Checked(1, 7, 0, 1.0, 1.0, 1e-4, True))
    inspector.set_check(Checked(1, 7, 1, 1.0, 1.0, 1e-4, True))
    assert heard == [(7, 0), (7, 1), (7, 2)]
    inspector.set_check(Checked(1, 7, 2, 1.0, 1.0, 1e-4, True))
    pane.check_requested.emit(7, 0)
    assert heard[-1] == (7, 0)


def test_checks_are_forgotten_with_their_tape(inspector):
    tape, b = taped(NEURON), named(taped(NEURON), "b")
    inspector.show_page(leaf(NEURON, "b"), tape, len(tape.events))
    pane(inspector, CheckPane).blocks[0].button.click()
    inspector.set_check(Checked(1, b.id, 0, 0.2071, 0.2071, 1e-4, True))
    assert "✓ agrees" in said(inspector)
    inspector.show_page(leaf(NEURON, "b"), taped(NEURON + "\n"), len(tape.events))
    assert "✓ agrees" not in said(inspector)


def test_checks_nobody_asked_for_are_left_aside(inspector):
    tape, b = taped(NEURON), named(taped(NEURON), "b")
    inspector.show_page(leaf(NEURON, "b"), tape, len(tape.events))
    before = said(inspector)
    for at in range(3):
        inspector.set_check(Checked(1, b.id, at, 0.2071, 0.2071, 1e-4, True))
        inspector.set_check(Gradchecked(1, at, "Cube", agrees=True))
    assert said(inspector) == before
    assert not inspector.page().checked
    assert not inspector.page().gradchecked


def test_all_numbers_are_fetched_once_asked_for(inspector, qtbot):
    tape, big = taped(ODD), named(taped(ODD), "big")
    inspector.show_page(Selection("value", big.id), tape, len(tape.events))
    numbers = pane(inspector, NumbersPane)
    with qtbot.waitSignal(inspector.peek_requested) as heard:
        numbers.fetch.click()
    assert heard.args == [big.snapshot]
    full = Snapshot((50, 80), "float32", "<f4", np.arange(4000, dtype="<f4").tobytes())
    inspector.set_fetched(Peeked(1, big.snapshot, full))
    assert numbers.model.rowCount() == 50
    assert not numbers.fetch.isVisible()


def test_numbers_whose_engine_is_gone_are_gone(inspector):
    tape, big = taped(ODD), named(taped(ODD), "big")
    inspector.show_page(Selection("value", big.id), tape, len(tape.events))
    inspector.drop_pending_fetches()
    numbers = pane(inspector, NumbersPane)
    assert numbers.fetch.isVisible()
    numbers.fetch.click()
    inspector.drop_pending_fetches()
    assert inspector.page().fetched == {big.snapshot: None}
    assert not inspector.page().waiting
    assert not numbers.fetch.isVisible()


def test_numbers_nobody_asked_for_are_left_aside(inspector):
    tape, big = taped(ODD), named(taped(ODD), "big")
    inspector.show_page(Selection("value", big.id), tape, len(tape.events))
    full = Snapshot((50, 80), "float32", "<f4", bytes(16_000))
    inspector.set_fetched(Peeked(1, big.snapshot, full))
    assert pane(inspector, NumbersPane).fetch.isVisible()


@pytest.mark.parametrize(
    "full",
    [
        Snapshot((80, 50), "float32", "<f4", bytes(16_000)),
        Snapshot((50,), "float32", "<f4", bytes(200)),
        Snapshot((50, 80), "int64", "<i8", bytes(32_000)),
    ],
)
def test_numbers_of_another_tensor_are_taken_for_gone(inspector, full):
    tape, big = taped(ODD), named(taped(ODD), "big")
    inspector.show_page(Selection("value", big.id), tape, len(tape.events))
    pane(inspector, NumbersPane).fetch.click()
    inspector.set_fetched(Peeked(1, big.snapshot, full))
    assert inspector.page().fetched == {big.snapshot: None}
    assert not inspector.page().waiting


def test_numbers_that_come_after_the_tape_changed_are_left_aside(inspector):
    tape, big = taped(ODD), named(taped(ODD), "big")
    inspector.show_page(Selection("value", big.id), tape, len(tape.events))
    pane(inspector, NumbersPane).fetch.click()
    inspector.show_page(Selection("value", big.id), taped(ODD + "\n"), len(tape.events))
    full = Snapshot((50, 80), "float32", "<f4", bytes(16_000))
    inspector.set_fetched(Peeked(1, big.snapshot, full))
    assert pane(inspector, NumbersPane).fetch.isVisible()


def test_a_slice_is_chosen_and_forgotten_with_the_selection(inspector):
    tape = taped(ODD)
    inspector.show_page(Selection("value", named(tape, "six").id), tape, len(tape.events))
    inspector.panes[0].slice_requested.emit(3, 2)
    assert inspector.page().slices == (0, 0, 0, 2)
    numbers = pane(inspector, NumbersPane)
    expected = np.arange(288.0).reshape(2, 3, 2, 4, 3, 2)[0, 0, 0, 2]
    np.testing.assert_array_equal(numbers.model.matrix, expected)
    inspector.show_page(Selection("value", named(tape, "whole").id), tape, len(tape.events))
    assert inspector.page().slices == ()


def test_the_quoted_line_leads_to_the_editor(inspector, qtbot):
    from gradscribe.widgets.inspector.panes.facts import FactsPane

    inspector.set_source(NEURON)
    inspector.show_page(leaf(NEURON, "b"), taped(NEURON), 3)
    with qtbot.waitSignal(inspector.line_requested) as heard:
        pane(inspector, FactsPane).link.click()
    assert NEURON.splitlines()[heard.args[0] - 1].startswith("b = ")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [260, 440])
def test_nothing_is_clipped_at_the_narrowest(inspector, qtbot, theme, width):
    inspector.set_theme(Theme.load(theme))
    inspector.resize(width, 720)
    for source in (NEURON, FAN, ODD, TRAIN):
        tape = taped(source)
        for value in tape.values:
            inspector.show_page(Selection("value", value.id), tape, len(tape.events))
            qtbot.waitUntil(lambda: not clipped(inspector))
            assert inspector.widget().width() <= inspector.viewport().width(), value.name


def test_a_selection_of_another_tape_is_harmless(inspector):
    for chosen in (
        Selection("op", 10**6, 10**6),
        Selection("wire", 10**6, 10**6, edges=((10**6, 3),)),
        Selection("module", call=10**6),
        Selection("value", 10**6),
    ):
        inspector.show_page(chosen, taped(FAN), 5)
        assert said(inspector)


def test_a_gradcheck_waits_in_the_same_line_as_checks(inspector):
    tape = taped(NEURON)
    inspector.show_page(leaf(NEURON, "b"), tape, len(tape.events))
    pane = next(one for one in inspector.panes if isinstance(one, CheckPane))
    heard = []
    inspector.check_requested.connect(lambda *asked: heard.append(asked))
    inspector.gradcheck_requested.connect(lambda op: heard.append(op))
    pane.check_requested.emit(7, 0)
    pane.gradcheck_requested.emit(3)
    pane.check_requested.emit(7, 1)
    # The engine died: what waits is asked for all the same, and gets an answer of its own.
    inspector.set_check(Checked(1, 7, 0, 0, 0, 0, False, "Python ended"))
    assert heard == [(7, 0), 3]
    inspector.set_check(Gradchecked(1, 3, "", problem="Python ended"))
    assert heard == [(7, 0), 3, (7, 1)]
    inspector.set_check(Checked(1, 7, 1, 0, 0, 0, False, "Python ended"))
    assert not inspector.page().waiting
    assert inspector.page().gradchecked[3].problem


def test_another_theme_is_put_on_pane_by_pane(inspector):
    dark = Theme.load("dark")

    def dark_ones():
        return [pane.theme.name for pane in inspector.panes].count("dark")

    dressed = [dark_ones() for _ in inspector.apply_theme_in_steps(dark)]
    assert dressed == list(range(1, len(inspector.panes) + 1))
