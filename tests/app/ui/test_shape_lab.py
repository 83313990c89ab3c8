"""The shape lab over the window, with a link that answers when it is told to."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from gradscribe.app.commands import load
from gradscribe.app.ui.shape_lab import LabCard, starting_points
from gradscribe.engine.inspect import lab
from gradscribe.engine.protocol import messages
from gradscribe.widgets.inspector.panes.explain import ExplainPane
from gradscribe.widgets.lab.page import ShapeLab


@pytest.mark.parametrize(
    ("title", "source"), starting_points(), ids=[title for title, _ in starting_points()]
)
def test_every_start_shows_tensors_and_their_links(title, source):
    probed = lab.probe(messages.Probe(1, source))
    assert title
    assert probed.inputs
    if "view on a transposed" in title:
        assert "view" in probed.problem.message
    else:
        assert probed.problem is None
        assert {link.input for link in probed.links} == set(range(len(probed.inputs)))


def opened(window):
    """Return the card that was opened last, with all that is on it."""
    card = window.ground.findChildren(LabCard)[-1]
    card.making.finish()
    return card


def answer(link, number=-1):
    _, probe_id, source = link.asked[number]
    link.received.emit(lab.probe(messages.Probe(probe_id, source)))


def test_the_lab_asks_the_engine_and_shows_its_answer(settled, link):
    settled.context.show_lab("")
    card = opened(settled)
    answer(link)
    assert [one.key for one in card.lab.canvas.cards] == ["a", "b", "result"]


def test_an_answer_to_older_lines_is_not_shown(settled, link):
    settled.context.show_lab("x = torch.zeros(2)\nx")
    opened(settled)
    settled.session.probe("y = torch.zeros(3)\ny")
    answer(link, -2)
    assert not opened(settled).lab.canvas.cards
    answer(link)
    assert [one.key for one in opened(settled).lab.canvas.cards] == ["y", "result"]


def test_lines_made_from_a_program_from_elsewhere_are_guarded(settled, link):
    settled.session.doc = replace(settled.session.doc, foreign=True, seen=True)
    settled.context.show_lab("x = torch.zeros(2)\nx")
    card = opened(settled)
    assert link.guarded
    card.leave()
    settled.context.show_lab("")
    opened(settled)
    assert not link.guarded


def test_lines_wait_while_a_program_runs(settled, link, sum_times):
    settled.session.run_now()
    settled.context.show_lab("x = torch.zeros(2)\nx")
    opened(settled)
    assert not any(asked[0] == "probe" for asked in link.asked)
    link.answer(sum_times)
    answer(link)
    assert opened(settled).lab.canvas.cards


def test_the_selected_op_is_shown_with_its_own_tensors(settled, link):
    command = next(one for one in load() if one.id == "lab.selected")
    assert not command.when(settled.context)
    op = next(card for card in settled.presenter.picture.cards if card.op is not None)
    settled.session.select(op.key)
    assert command.when(settled.context)
    command.run(settled.context)
    opened(settled)
    assert "torch.tensor" in link.asked[-1][2]
    answer(link)
    assert opened(settled).lab.problem.isHidden()


def test_the_inspector_leads_to_the_lab(settled, link):
    op = next(card for card in settled.presenter.picture.cards if card.op is not None)
    settled.session.select(op.key)
    pane = settled.inspector.findChildren(ExplainPane)[0]
    assert not pane.lab.isHidden()
    pane.lab.click()
    opened(settled)
    answer(link)
    assert opened(settled).lab.jacobians.accessibleDescription().startswith("∂result/∂")
    settled.session.select("")
    assert pane.lab.isHidden()


def test_the_starting_points_stand_as_their_style_wants_it(settled):
    settled.look.apply()
    settled.context.show_lab("")
    shown = opened(settled).lab.list
    tops = [shown.visualItemRect(shown.item(row)).top() for row in range(5)]
    assert tops == [row * shown.sizeHintForRow(0) for row in range(5)]


def test_the_lab_comes_in_turns_of_its_own_and_takes_the_keyboard(settled, link, qtbot):
    with qtbot.waitExposed(settled):
        settled.show()
    settled.context.show_lab("")
    card = settled.ground.findChildren(LabCard)[-1]
    assert card.isVisible()
    assert not card.findChildren(ShapeLab), "the turn that opens the card makes nothing on it"
    card.card.layout().activate()
    heading = next(one for one in card.findChildren(QLabel) if one.text() == "Shape lab")
    place = heading.geometry()
    qtbot.waitUntil(lambda: not card.making.busy)
    qtbot.waitUntil(card.lab.isVisible)
    assert card.lab.updatesEnabled()
    assert settled.focusWidget() is card.lab.list
    card.card.layout().activate()
    assert heading.geometry() == place
    answer(link)
    assert [one.key for one in card.lab.canvas.cards] == ["a", "b", "result"]


def test_a_lab_that_is_left_before_it_is_there_asks_nothing(settled, link, qtbot):
    before = [one for one in link.asked if one[0] == "probe"]
    settled.context.show_lab("")
    card = settled.ground.findChildren(LabCard)[-1]
    QTest.keyClick(card, Qt.Key.Key_Escape)
    settled.context.show_lab("x = torch.zeros(2)\nx")
    opened(settled)
    asked = [one for one in link.asked if one[0] == "probe"]
    assert [one[2] for one in asked[len(before) :]] == ["x = torch.zeros(2)\nx"]
