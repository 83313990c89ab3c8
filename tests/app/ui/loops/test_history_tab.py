"""The history of a clicked card, in the window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.playback.tape.loops.steps import steps_of
from tests.widgets.graph_window import at

SOURCE = """\
w = torch.tensor(5.0, requires_grad=True)
for i in range(40):
    loss = (w - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
"""


@pytest.fixture
def looped(settled, link, record, qtbot):
    settled.resize(1440, 900)
    settled.show()
    run(settled, link, record, qtbot, SOURCE)
    return settled


def run(window, link, record, qtbot, source):
    window.session.apply_fix(source)
    link.answer(record(source))
    qtbot.waitUntil(lambda: window.session.result.source == source)
    qtbot.waitUntil(lambda: window.presenter.is_drawn and not window.loop_curves.is_busy)


def click(window, qtbot, name):
    """Click the card of a tensor in the graph."""
    key = next(c.key for c in window.presenter.picture.cards if name in (c.name, c.title))
    window.graph.finish_motion()
    QTest.mouseClick(window.graph, Qt.MouseButton.LeftButton, pos=at(window.graph, key))
    qtbot.waitUntil(lambda: window.session.view.selection == key)
    qtbot.waitUntil(lambda: not window.history.is_busy)


def numbers():
    import torch

    w, found = torch.tensor(5.0, requires_grad=True), []
    for _ in range(40):
        loss = (w - 3) ** 2
        loss.backward()
        with torch.no_grad():
            w -= 0.01 * w.grad
        found.append((loss.item(), w.item(), w.grad.item()))
        w.grad = None
    return found


def series(window):
    return {one.name: one.numbers for one in window.history.history.series}


def test_a_click_on_a_card_opens_its_history(looped, qtbot):
    click(looped, qtbot, "w")
    assert looped.below.currentWidget() is looped.history.page
    assert series(looped) == {
        "w": [w for _, w, _ in numbers()],
        "w.grad": [grad for _, _, grad in numbers()],
    }
    assert looped.history.chart.isVisible()
    click(looped, qtbot, "loss")
    assert series(looped)["loss"] == [loss for loss, _, _ in numbers()]


def test_a_step_picked_in_the_chart_is_where_the_playback_goes(looped, qtbot):
    click(looped, qtbot, "loss")
    looped.history.chart.chart.step_picked.emit(12)
    assert steps_of(looped.session.result.tape).number_at(looped.session.view.position) == 12
    assert "in step 12" in looped.history.chart.words.said()


def test_moving_through_the_steps_reads_nothing_again(looped, qtbot):
    click(looped, qtbot, "w")
    shown = looped.history.history
    for number in (3, 30, 7):
        looped.clock.go_to_step(number)
        qtbot.waitUntil(lambda: looped.presenter.is_drawn)
        assert not looped.history.is_busy
    assert looped.history.history is shown


def test_who_turns_to_another_tab_is_not_called_back_by_a_click(looped, qtbot):
    click(looped, qtbot, "w")
    bar = looped.below.tabBar()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    click(looped, qtbot, "loss")
    assert looped.below.currentWidget() is not looped.history.page
    looped.menus.perform_by("graph.history")
    qtbot.waitUntil(lambda: not looped.history.is_busy)
    assert looped.below.currentWidget() is looped.history.page
    assert "loss" in series(looped)


def test_another_run_of_the_program_leaves_the_curves_so_far_pale(looped, link, record, qtbot):
    click(looped, qtbot, "w")
    run(looped, link, record, qtbot, SOURCE.replace("0.01", "0.05"))
    looped.clock.go_to_step(3)
    qtbot.waitUntil(lambda: not looped.history.is_busy)
    names = {curve.name for curve in looped.history.chart.chart.curves}
    assert names == {"w", "w, run before"}


def test_a_program_without_a_loop_has_no_history(looped, link, record, qtbot):
    click(looped, qtbot, "w")
    run(looped, link, record, qtbot, "w = param(2.0)\nloss = w * w\nloss.backward()\n")
    assert looped.below.indexOf(looped.history.page) < 0
    click(looped, qtbot, "w")
    assert looped.below.indexOf(looped.history.page) < 0
    assert not looped.history.can_show()
