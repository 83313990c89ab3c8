"""The window by mouse and keyboard alone: events go to the window, as the system sends them."""

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons.lesson_list import LessonList
from gradscribe.app.ui.examples.gallery import Gallery
from gradscribe.app.window.window import Window
from gradscribe.widgets.inspector.panes.check import CheckPane
from tests.app.fakes import FakeDialogs, FakeLink

KEY, CTRL, LEFT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton
SHIFT, NONE = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.NoModifier
NET = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.randn(5, 3)
loss = net(x).square().mean()
loss.backward()
"""
LOOP = """\
w = param(0.0)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(6):
    opt.zero_grad()
    loss = (w - 1.0) ** 2
    loss.backward()
    opt.step()
"""


class Hands:
    """Mouse and keyboard of a user at a window."""

    def __init__(self, window, link, record):
        self.window, self.link, self.record = window, link, record

    def key(self, key, modifiers=NONE):
        QTest.keyClick((QApplication.activeWindow() or self.window).windowHandle(), key, modifiers)

    def type(self, text):
        for letter in text:
            self.key(KEY.Key_Return if letter == "\n" else letter)

    def click(self, widget, at=None):
        assert widget.isVisible()
        place = widget.mapTo(widget.window(), at or widget.rect().center())
        QTest.mouseClick(widget.window().windowHandle(), LEFT, pos=place)

    def run(self, source):
        """Paste a program over the one that is there; its run is answered by the recorder."""
        QApplication.clipboard().setText(source)
        self.window.editor.setFocus()
        self.key(KEY.Key_A, CTRL)
        self.key(KEY.Key_V, CTRL)
        self.window.session._rest.timeout.emit()
        assert self.link.sources[-1] == source
        self.link.answer(self.record(source))
        self.window.clock.to_end()
        self.window.graph.finish_motion()

    def click_card(self, name):
        graph, cards = self.window.graph, self.window.presenter.picture.cards
        key = next(one.key for one in cards if name in (one.name, one.title))
        graph.fit()
        graph.finish_motion()
        box = graph.camera().box_to_view(graph.stage().boxes[key])
        self.click(graph, box.center().toPoint())
        return key


@pytest.fixture
def hands(settled, link, record, qtbot):
    settled.resize(1440, 900)
    with qtbot.waitActive(settled):
        settled.show()
    return Hands(settled, link, record)


def test_a_program_that_was_typed_and_saved_here_is_trusted_at_the_next_start(
    hands, qtbot, tmp_path
):
    window, path = hands.window, tmp_path / "mine.py"
    window.answers["save"] = path
    hands.key(KEY.Key_N, CTRL)
    window.editor.setFocus()
    hands.type("import os\na = 1")
    hands.key(KEY.Key_S, CTRL)
    qtbot.waitUntil(path.exists)
    window.recovery.file.finish()
    window.settings.flush()
    assert path.read_text().startswith("import os\na = 1")
    link = FakeLink()
    later = Window(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "other"))
    later.context.dialogs = FakeDialogs()
    qtbot.addWidget(later)
    link.greet()
    later.open_first(str(path))
    qtbot.waitUntil(lambda: bool(link.sources))
    assert link.sources[-1] == path.read_text()
    assert not later.session.doc.foreign
    assert later.notices.notice is None
    later.close()


def test_a_value_is_explored_in_one_window_however_often_it_is_asked_for(hands, qtbot):
    window = hands.window
    hands.run(NET)
    hands.click_card("x")
    buttons = window.inspector.findChildren(QPushButton)
    button = next(one for one in buttons if one.text() == "Explore")
    for _ in range(2):
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        hands.click(button)
        qtbot.waitUntil(lambda: len(window.tensors.windows) == 1)
    assert window.tensors.windows[0].isVisible()


def test_the_pace_is_chosen_and_steps_are_gone_through_by_keyboard(hands):
    window = hands.window
    hands.run(LOOP)
    strip = window.transport.strip
    strip.pace.setFocus()
    texts = []
    for _ in range(3):
        texts.append(strip.pace.currentText())
        hands.key(KEY.Key_Down)
    assert texts == ["by event", "by line", "by step"]
    assert window.clock.pace == "step"
    hands.key(KEY.Key_G, CTRL)
    hands.type("2\n")
    window.graph.setFocus()
    steps = []
    for _ in range(3):
        steps.append(strip.entry.text())
        hands.key(KEY.Key_PageDown)
    assert steps == ["2", "3", "4"]
    hands.key(KEY.Key_PageUp)
    assert strip.entry.text() == "4"


def test_a_card_is_clicked_and_its_gradient_checked_with_a_click(hands, link, qtbot):
    hands.run(NET)
    hands.click_card("x")
    hands.click_card("loss")
    pane = next(one for one in hands.window.inspector.panes if isinstance(one, CheckPane))
    block = next(one for one in pane.blocks if one.isVisible() and one.button.isVisible())
    hands.window.inspector.ensureWidgetVisible(block.button)
    hands.click(block.button)
    qtbot.waitUntil(lambda: bool(link.asked))
    assert link.asked[-1][0] == "check"


def test_an_example_is_searched_for_and_opened_by_keyboard(hands, link, qtbot):
    window = hands.window
    hands.key(KEY.Key_E, CTRL)
    gallery = window.findChild(Gallery)
    qtbot.waitUntil(lambda: not gallery.filling.busy)
    qtbot.waitUntil(lambda: gallery.isAncestorOf(QApplication.focusWidget()))
    hands.type("attention")
    hands.key(KEY.Key_Return)
    assert "attention" in window.session.doc.title.lower()
    assert link.sources[-1] == window.editor.source()
    assert "softmax" in window.editor.source()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_parameters_are_filtered_and_sorted_by_hand(hands, qtbot):
    window = hands.window
    hands.run(NET)
    hands.key(KEY.Key_5, CTRL | SHIFT)
    table = window.parameters.window.table
    qtbot.waitUntil(table.isVisible)
    table.window().activateWindow()
    qtbot.waitUntil(table.window().isActiveWindow)
    header = table.view.horizontalHeader()
    titles = [table.sorted.headerData(n, Qt.Orientation.Horizontal) for n in range(header.count())]
    column = titles.index("gradient")
    x = header.sectionViewportPosition(column) + header.sectionSize(column) // 2
    point = header.viewport().rect().center()
    point.setX(x)
    hands.click(header.viewport(), point)
    scope = {"torch": torch, "nn": torch.nn}
    exec(NET, scope)
    named = scope["net"].named_parameters()
    norms = {f"net.{name}": parameter.grad.norm().item() for name, parameter in named}
    assert table.shown_names() == sorted(norms, key=norms.get)
    table.view.setFocus()
    hands.key(KEY.Key_Home)
    hands.key(KEY.Key_Down)
    hands.key(KEY.Key_F10, SHIFT)
    menu = QApplication.activePopupWidget()
    menu.close()
    next(one for one in menu.actions() if one.text() == "Copy the name").trigger()
    assert QApplication.clipboard().text() == table.shown_names()[1]
    hands.click(table.filter)
    hands.type("bias")
    assert set(table.shown_names()) == {"net.0.bias", "net.2.bias"}
    table.window().close()


@pytest.mark.parametrize("way", ["search", "list"])
def test_a_lesson_that_is_opened_by_return_begins_at_its_first_step(hands, qtbot, way):
    window = hands.window
    hands.key(KEY.Key_T, CTRL | SHIFT)
    qtbot.waitUntil(lambda: any(one.isVisible() for one in window.findChildren(LessonList)))
    if way == "search":
        hands.type("broadcasting")
    else:
        hands.key(KEY.Key_Down)
    hands.key(KEY.Key_Return)
    learning = window.context.lessons
    qtbot.waitUntil(lambda: learning.lesson is not None)
    pane = window.lesson_dock.pane
    qtbot.waitUntil(pane.isVisible)
    assert (learning.number, pane.page().number) == (0, 1)
