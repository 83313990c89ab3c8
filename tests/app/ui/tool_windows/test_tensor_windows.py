"""Windows with big tensors: opened in every way, moved with the playback."""

import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from gradscribe.engine.inspect.region import region
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.regions import ReadRegion
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.run import run
from gradscribe.widgets.charts.tensor_window import TensorWindow
from gradscribe.widgets.inspector.panes.overview import OverviewPane

BIG = """torch.manual_seed(0)
w = torch.randn(300, 200, requires_grad=True)
L = (w * w).sum()
L.backward()
"""


def plain():
    torch.manual_seed(0)
    w = torch.randn(300, 200, requires_grad=True)
    (w * w).sum().backward()
    return w


def test_a_tensor_that_is_open_is_raised_not_opened_twice(shown, qtbot):
    shown.tensors.open()
    first = opened(shown, qtbot)
    shown.tensors.open()
    QApplication.processEvents()
    assert shown.tensors.windows == [first]
    shown.inspector.show_side("gradient")
    shown.tensors.open()
    qtbot.waitUntil(lambda: len(shown.tensors.windows) == 2)


@pytest.fixture
def shown(settled, link, qtbot):
    """Show a program with a big tensor, selected, after its last event."""

    def answer(request):
        link.asked.append(request)
        link.received.emit(replace(region(replace(request, run_id=7)), run_id=request.run_id))

    link.read_region = answer
    play(settled, link, BIG)
    return settled


def play(window, link, source):
    window.session.edit_live(source)
    link.answer(run.execute(Run(7, source)))
    tape = window.session.result.tape
    window.clock.seek(len(tape.events))
    window.presenter.select_value(next(v.id for v in tape.values if v.name == "w"))


def opened(window, qtbot):
    qtbot.waitUntil(lambda: bool(window.tensors.windows))
    made = window.tensors.windows[-1]
    qtbot.waitUntil(lambda: bool(made.chart.region or made.chart.problem))
    return made


def test_the_button_opens_the_value_with_torchs_numbers(shown, qtbot):
    head = next(pane for pane in shown.inspector.panes if isinstance(pane, OverviewPane))
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    QTest.mouseClick(head.explore, Qt.MouseButton.LeftButton)
    window = opened(shown, qtbot)
    assert isinstance(window, TensorWindow)
    window.chart.look_at(290, 300, 10, 20)
    qtbot.waitUntil(lambda: window.chart.region.exact is not None)
    top, bottom, left, right = window.chart.region.box
    want = plain().detach()[top:bottom, left:right]
    assert window.chart.region.exact.array().tolist() == want.tolist()
    assert window.windowTitle() == "w"
    assert "300 × 200" in window.caption.said()


def test_the_command_shows_the_gradient_and_says_which_moment(shown, qtbot):
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    shown.inspector.show_side("gradient")
    shown.menus.perform_by("graph.tensor")
    window = opened(shown, qtbot)
    assert window.windowTitle() == "w · gradient"
    total = len(shown.session.result.tape.events)
    assert f"event {total} of {total}" in window.caption.said()
    top, bottom, left, right = window.chart.region.box
    want = plain().grad[top:bottom, left:right]
    assert window.chart.region.exact.array().tolist() == want.tolist()


def test_a_window_follows_the_playback_until_it_is_told_to_stay(shown, qtbot):
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    shown.inspector.show_side("gradient")
    shown.tensors.open()
    window = opened(shown, qtbot)
    shown.clock.seek(1)
    qtbot.waitUntil(lambda: window.chart.subject is None)
    assert "No gradient yet" in window.chart.words()
    shown.clock.seek(len(shown.session.result.tape.events))
    qtbot.waitUntil(lambda: window.chart.region is not None)
    QTest.mouseClick(window.follow, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert not window.follow.isChecked()
    shown.clock.seek(1)
    qtbot.waitUntil(lambda: shown.inspector.page().position == 1)
    assert window.chart.subject is not None


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_context_menu_of_the_inspector_opens_it(shown, qtbot):
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(shown.inspector.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(one for one in menu.actions() if one.text() == "Explore the tensor").trigger()
    menu.close()
    assert opened(shown, qtbot)


def test_another_run_of_the_same_program_is_followed(shown, link, qtbot):
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    shown.tensors.open()
    window = opened(shown, qtbot)
    before = window.chart.region.exact.array()[0, 0]
    play(shown, link, BIG.replace("seed(0)", "seed(1)"))
    qtbot.waitUntil(lambda: window.chart.region.exact.array()[0, 0] != before)
    torch.manual_seed(1)
    assert window.chart.region.exact.array()[0, 0] == torch.randn(300, 200)[0, 0].item()


def test_a_program_without_that_tensor_is_said(shown, link, qtbot):
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    shown.tensors.open()
    window = opened(shown, qtbot)
    shown.session.edit_live("q = param(1.0)")
    link.answer(run.execute(Run(7, "q = param(1.0)")))
    qtbot.waitUntil(lambda: "earlier run" in window.chart.words())


def test_an_engine_that_dies_is_said(shown, link, qtbot):
    link.read_region = link.asked.append
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    shown.tensors.open()
    qtbot.waitUntil(lambda: any(isinstance(asked, ReadRegion) for asked in link.asked))
    window = shown.tensors.windows[-1]
    link.die()
    qtbot.waitUntil(lambda: "engine has restarted" in window.chart.words())


def test_a_small_tensor_needs_no_engine(settled, link, qtbot):
    qtbot.waitUntil(lambda: settled.presenter.is_drawn)
    value = next(v.id for v in settled.session.result.tape.values if v.name == "x")
    settled.presenter.select_value(value)
    settled.clock.seek(len(settled.session.result.tape.events))
    qtbot.waitUntil(lambda: settled.inspector.page().reached)
    settled.tensors.open()
    window = opened(settled, qtbot)
    array = settled.inspector.page().array("value")
    assert window.chart.region.exact.array().tolist() == [[array.item()]]
    assert not any(isinstance(asked, ReadRegion) for asked in link.asked)


def test_a_closed_window_is_forgotten(shown, qtbot):
    qtbot.waitUntil(lambda: shown.inspector.page().value is not None)
    shown.tensors.open()
    window = opened(shown, qtbot)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not shown.tensors.windows)
    shown.clock.seek(1)
