"""The graph of the step is a tab in a small window and has a column in a large one."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol import training as messages

LARGE, SMALL = (1440, 868), (1300, 760)


def resize(room, size):
    room.host.resize(*size)
    room.setGeometry(0, 0, *size)
    room.layout().activate()


@pytest.fixture
def large(room):
    resize(room, LARGE)
    yield room
    room.presenter.live.close()


def left(room, widget: QWidget) -> int:
    return widget.mapTo(room, widget.rect().topLeft()).x()


def titles(tabs):
    return [tabs.full_text(at) for at in range(tabs.count())]


def test_a_large_window_shows_graph_output_and_loss_at_once(large):
    parts = (large.graph, large.boundary, large.loss, large.form, large.lines)
    assert all(part.isVisible() for part in parts)
    assert left(large, large.graph) < left(large, large.boundary)
    assert left(large, large.boundary) == pytest.approx(left(large, large.loss), abs=2)
    assert large.graph.height() > large.boundary.height()
    assert "Graph" not in titles(large.says)


def test_the_graph_is_asked_for_without_its_tab(large, train_link):
    train_link.state(1, 2)
    assert train_link.last(messages.RecordStep).live


def test_a_small_window_has_it_in_a_tab_again(large):
    wide = [part.sizes() for part in large.arrangement._splitters()]
    resize(large, SMALL)
    assert titles(large.says)[-1] == "Graph"
    assert not large.graph.isVisible()
    assert large.boundary.isVisible()
    large.says.setCurrentWidget(large.graph)
    assert large.graph.isVisible()
    resize(large, LARGE)
    assert large.graph.isVisible()
    again = [part.sizes() for part in large.arrangement._splitters()]
    assert [pytest.approx(sizes, abs=20) for sizes in wide] == again


def test_the_column_can_be_declined(large, begun):
    begun.store.graph_column_changed.connect(large.arrangement.set_wanted)
    begun.store.set_graph_column(False)
    assert titles(large.says)[-1] == "Graph"
    begun.store.set_graph_column(True)
    assert "Graph" not in titles(large.says)


@pytest.mark.parametrize("size", [LARGE, SMALL])
def test_only_the_predictions_leave_out_set_up_steps_and_curves(large, begun, size):
    resize(large, size)
    begun.store.alone_changed.connect(large.set_alone)
    begun.store.set_alone(True)
    others = (large.form, large.loss, large.numbers, large.below)
    assert not any(part.isVisible() for part in others)
    assert large.boundary.isVisible()
    begun.store.set_alone(False)
    assert all(part.isVisible() for part in others)


def test_alone_survives_a_change_of_the_window(large, begun):
    large.set_alone(True)
    for size in (SMALL, LARGE):
        resize(large, size)
        assert large.boundary.isVisible()
        assert not large.loss.isVisible()


def sizes(room):
    return [part.sizes() for part in room.arrangement._splitters()]


def test_moved_gutters_of_both_arrangements_are_remembered(room, large):
    moved = large.arrangement.columns
    moved.setSizes([400, 500, 480])
    wide = sizes(large)
    resize(large, SMALL)
    moved.setSizes([350, 600, 300])
    small, text = sizes(large), large.arrangement.sizes()
    moved.setSizes([300, 400, 550])
    large.arrangement.recall(text)
    assert sizes(large) == [pytest.approx(part, abs=2) for part in small]
    resize(large, LARGE)
    assert sizes(large) == [pytest.approx(part, abs=20) for part in wide]


@pytest.mark.parametrize(
    "text", ["", "1,2", "a|b", "1,2,3;4,5,6;7,8|1,2,3;4,5;6,-7,8", "1,2,3;4,5,6;7,8|1,2;3,4;5,6,7"]
)
def test_sizes_of_another_kind_change_nothing(room, text):
    before = sizes(room)
    room.arrangement.recall(text)
    assert sizes(room) == before


def test_the_next_window_has_the_gutters_where_they_were_left(qtbot, link, tmp_path):
    from gradscribe.app.files.documents import Drafts
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.window.window import Window
    from tests.app.training.fakes import FakeTrainLink

    class Quiet(Window):
        """Trains nothing."""

        def make_train_link(self):
            return FakeTrainLink()

    left = []
    for move in (True, False):
        made = Quiet(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
        qtbot.addWidget(made)
        made.resize(1300, 760)
        made.show()
        made.workspaces.show_workspace("training")
        qtbot.waitUntil(lambda made=made: made.workspaces.is_whole, timeout=30_000)
        columns = made.workspaces.widgets.columns
        if move:
            columns.setSizes([420, 500, 340])
        left.append(columns.sizes())
        made.close()
    assert left[1] == pytest.approx(left[0], abs=2)


def test_a_border_moved_by_keyboard_is_remembered(large, qtbot):
    large.host.activateWindow()
    columns = large.arrangement.columns
    handle, before = columns.handle(1), columns.sizes()
    assert handle.accessibleName() == "Border between Set-up and Model column"
    handle.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(handle.hasFocus)
    QTest.keyClick(handle, Qt.Key.Key_Right)
    QTest.keyClick(handle, Qt.Key.Key_Right)
    after = columns.sizes()
    assert after[0] == before[0] + 40
    text = large.arrangement.sizes()
    assert ",".join(map(str, after)) in text
    columns.setSizes(before)
    large.arrangement.recall(text)
    assert columns.sizes() == after
