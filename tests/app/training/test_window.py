"""Training in the real window on a real engine, by mouse and keyboard alone."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QScrollArea

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.presenting.presentation import TEXT_SHARE
from gradscribe.app.window.window import Window
from gradscribe.widgets.graph.viewport import zoom_for_text
from tests.app.fakes import FakeDialogs, FakeLink

pytestmark = pytest.mark.e2e

LEFT, CTRL, KEY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, Qt.Key
PATIENCE_MS = 90_000


@pytest.fixture
def user(qtbot, tmp_path):
    """A user in front of a window whose training has gone past step 40 and is paused."""
    window = Window(FakeLink(), Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
    window.context.dialogs = FakeDialogs()
    qtbot.addWidget(window)
    window._link.greet()
    window.open_first()
    window.resize(1440, 900)
    with qtbot.waitActive(window):
        window.show()
    made = User(window, qtbot)
    made.click(window.top.switch.buttons["training"])
    made.wait(lambda: window.workspaces.is_whole and made.session.run is not None)
    made.wait(lambda: made.run.step > 40)
    made.pause()
    yield made
    window.close()


class User:
    """The hands at a window."""

    def __init__(self, window, bot):
        self.window, self.bot = window, bot

    @property
    def session(self):
        return self.window.workspaces.session

    @property
    def run(self):
        return self.session.run

    @property
    def page(self):
        return self.window.workspaces.widgets

    def wait(self, holds):
        self.bot.waitUntil(holds, timeout=PATIENCE_MS)

    def click(self, widget, at=None):
        """Press the left button on a widget, as the system does: at the window."""
        assert widget.isVisible()
        place = widget.mapTo(widget.window(), at or widget.rect().center())
        QTest.mouseClick(widget.window().windowHandle(), LEFT, pos=place)

    def double_click(self, widget, at):
        place = widget.mapTo(widget.window(), at)
        QTest.mouseDClick(widget.window().windowHandle(), LEFT, pos=place)

    def key(self, key, modifiers=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(self.window.windowHandle(), key, modifiers)

    def pause(self):
        if self.session.controller.plays:
            self.click(self.page.bar.play)
        self.wait(lambda: not self.run.running and self.run.curve("loss").last == self.run.step)

    def train(self, until):
        """Press Train and let it run past a step."""
        run = self.run
        self.click(self.page.bar.play)
        self.wait(lambda: self.run.begun is not None and self.run.step > until)
        self.pause()
        return run

    def go_to(self, step):
        """Click at a step of the axis."""
        axis = self.page.axis
        x = next(x for x in range(axis.width()) if axis._step_at(x) == step)
        self.click(axis, QPoint(x, axis.height() // 2))

    def type_rate(self, text):
        """Type a learning rate over the one that is there."""
        fields = self.page.form.parts["optimizer"].findChildren(QLineEdit)
        field = next(one for one in fields if one.accessibleName() == "lr")
        area = self.page.form.parent()
        while not isinstance(area, QScrollArea):
            area = area.parent()
        area.ensureWidgetVisible(field)
        self.wait(lambda: not field.visibleRegion().isEmpty())
        self.click(field)
        assert QApplication.focusWidget() is field
        self.key(KEY.Key_A, CTRL)
        for letter in text:
            QTest.keyClick(self.window.windowHandle(), letter)
        self.key(KEY.Key_Return)

    def turn_to(self, tabs, title):
        """Click the tab with a title."""
        bar = tabs.tabBar()
        place = next(n for n in range(bar.count()) if bar.tabText(n) == title)
        self.click(bar, bar.tabRect(place).center())


def named(chart):
    return {curve.name: curve for curve in chart.curves}


def test_going_back_and_another_rate_leave_the_old_run_as_a_pale_curve_and_a_row(user):
    old, far = user.run, user.run.step
    curve = old.curve("loss").numbers().copy()
    user.go_to(20)
    user.wait(lambda: old.step == 20 and old.curve("loss").last == 20)
    pale = named(user.page.loss)["before going back"]
    assert (pale.series.first, pale.series.last) == (20, far)
    user.type_rate("0.4")
    user.train(30)
    fork = user.run
    assert fork is not old
    assert fork.setup.optimizer.options["lr"] == 0.4
    assert old.setup.optimizer.options["lr"] == 0.03
    np.testing.assert_array_equal(old.whole("loss").numbers(), curve)
    assert named(user.page.loss)[old.name].series.last == far, "still drawn to its end"
    user.turn_to(user.page.below, "Runs")
    table = user.page.table.table
    names = [table.item(row, 0).text() for row in range(table.rowCount())]
    assert names == ["lr 0.4 from step 20", old.name]
    user.double_click(table.viewport(), table.visualItemRect(table.item(1, 1)).center())
    user.wait(lambda: user.run is old)
    # Its row is deleted by a key, and that is undone by another.
    fork_curve = fork.curve("loss").numbers().copy()
    user.click(table.viewport(), table.visualItemRect(table.item(0, 1)).center())
    user.key(KEY.Key_Delete)
    user.wait(lambda: user.session.runs == [old])
    user.key(KEY.Key_Z, CTRL)
    user.wait(lambda: len(user.session.runs) == 2)
    back = next(run for run in user.session.runs if run is not old)
    assert back.name == "lr 0.4 from step 20"
    np.testing.assert_array_equal(back.whole("loss").numbers(), fork_curve)


def test_a_rate_typed_while_a_rewind_is_on_its_way_is_not_lost(user):
    old, far = user.run, user.run.step
    user.go_to(20)
    assert old.step == far, "the engine has not answered yet"
    user.type_rate("0.7")
    user.wait(lambda: user.session.run.setup.optimizer.options["lr"] == 0.7)
    user.wait(lambda: user.run.step == 20)
    assert user.session.setup.optimizer.options["lr"] == 0.7
    said = user.window.status.message.text()
    assert said.startswith("From step 20: lr 0.7")
    user.train(25)
    lr = user.run.curve("lr")
    assert lr.numbers(lr.index(21)) == pytest.approx(0.7)
    assert old.setup.optimizer.options["lr"] == 0.03


@pytest.mark.parametrize("lines", [1, 3, 4])
def test_the_middle_of_a_step_is_shown_on_the_tape_where_the_run_stands(user, lines):
    at = user.run.step
    user.turn_to(user.page.below, "One step")
    for count in range(1, lines + 1):
        user.click(user.page.lines.next)
        user.wait(lambda count=count: len(user.run.happened) == count)
    user.click(user.page.lines.tape)
    user.wait(lambda: user.window.workspaces.current == "program")
    session = user.window.session
    assert session.doc.title == f"Step {at + 1}"
    tape, position = session.result.tape, session.view.position
    kinds = [event.kind for event in tape.events]
    first = {
        "forward": next(n for n, event in enumerate(tape.events) if event.kind == "op"),
        "backward": kinds.index("backward"),
        "step": kinds.index("step"),
    }
    passed = [name for name, event in first.items() if event < position]
    assert passed == {1: [], 3: ["forward"], 4: ["forward", "backward"]}[lines]
    source = session.doc.source.split("\n")
    playing = user.window.editor._playing[0]
    asked = user.run.begun.lines[lines - 1][1]
    assert asked in source[playing - 1]
    assert user.run.step == at, "the run does not move"
    assert len(user.run.happened) == lines


def test_graph_boundary_and_curves_speak_of_the_step_that_was_clicked(user):
    user.go_to(10)
    user.wait(lambda: user.run.step == 10 and user.run.curve("loss").last == 10)
    views = user.run.views
    user.wait(lambda: views["boundary"].step == 10 and views["gradients"].step == 10)
    user.wait(lambda: user.page.graph.caption.text() == "step 10")
    assert {plot.position for plot in user.page.plots() if plot.isVisible()} == {10.0}


def test_a_click_on_a_card_of_the_live_graph_opens_its_tensor_over_the_steps(user):
    graph = user.page.graph.graph
    user.wait(lambda: bool(graph.stage().cards) and not user.run.running)
    key = next(k for k, card in graph.stage().cards.items() if card.title.startswith("4"))
    graph.finish_motion()
    box = graph.camera().box_to_view(graph.stage().boxes[key])
    user.click(graph, box.center().toPoint())
    user.wait(lambda: user.page.numbers.currentWidget() is user.page.over_time)
    assert user.page.spread.layer.currentText().startswith("4")


def test_the_live_graph_grows_with_the_lecture_and_follows_what_plays(user):
    graph = user.page.graph.graph
    user.wait(lambda: bool(graph.stage().cards))
    graph.finish_motion()
    before = graph.camera().zoom
    user.key(KEY.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    assert user.window.presentation.is_on
    least = zoom_for_text(user.window.height() * TEXT_SHARE)
    user.wait(lambda: graph.camera().zoom >= least > before)
    seen = set()

    def plays():
        shown = graph.look().cards
        active = [key for key, card in shown.items() if card.active and key in graph.stage().boxes]
        area = QRectF(graph.rect())
        boxes = [graph.camera().box_to_view(graph.stage().boxes[key]) for key in active]
        seen.update(key for key, box in zip(active, boxes, strict=True) if area.intersects(box))
        return len(seen) >= 3

    step = user.run.step
    user.key(KEY.Key_PageDown)
    user.wait(lambda: user.run.step == step + 1)
    user.wait(plays)
    user.key(KEY.Key_Escape)
    user.wait(lambda: graph.camera().zoom < least)
