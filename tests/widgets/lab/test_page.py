"""The lab's page with what the engine says of real lines."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from gradscribe.engine.inspect.lab import probe
from gradscribe.engine.protocol.messages import Probe
from gradscribe.playback.lab.cells import Cell
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.lab.card_layout import arrange_cards, slice_grid
from gradscribe.widgets.lab.memory_view import sharing_text, stride_text
from gradscribe.widgets.lab.page import ShapeLab

STARTS = (
    ("Product", "a = torch.ones(2, 3)\nb = torch.ones(3, 2)\na @ b"),
    ("Sum", "x = torch.ones(4)\nx.sum()"),
)


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(1100, 760)
    return made


@pytest.fixture
def lab(host, qtbot):
    # Inside another widget: offscreen no window may have a least size.
    made = ShapeLab(Theme.load("light"), STARTS, host)
    made.resize(host.size())
    made.asked.connect(lambda source: made.show_probed(probe(Probe(1, source))))
    made.start()
    with qtbot.waitExposed(host):
        host.show()
    return made


def middle(lab, key, flat):
    card = next(card for card in lab.canvas.cards if card.key == key)
    return card.cell(flat).center().toPoint()


def test_an_array_that_shares_the_memory_is_told(lab):
    lab.show_probed(probe(Probe(1, "a = np.zeros(3)\nx = torch.from_numpy(a)\nx.add_(1)")))
    assert "x, a and result share 3 elements" in lab.memory.accessibleDescription()


def test_resting_on_a_cell_says_where_it_comes_from(lab):
    # A mouse that stands there already does not move.
    QTest.mouseMove(lab.canvas, QPoint(1, 1))
    QTest.mouseMove(lab.canvas, middle(lab, "result", 3))
    assert lab.cell_sentence.said() == "result[1, 1] = 3.0000 comes from a[1, :] and b[:, 1]"
    QTest.mouseMove(lab.canvas, middle(lab, "a", 0))
    assert lab.cell_sentence.said() == "a[0, 0] = 1.0000 reaches result[0, :]"
    lab.canvas.look_at(None)
    assert "Hover over a cell" in lab.cell_sentence.said()


def test_cells_are_walked_with_the_keys(lab):
    lab.canvas.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        QTest.keyClick(lab.canvas, key)
    assert lab.canvas.cell == Cell("result", 3)
    QTest.keyClick(lab.canvas, Qt.Key.Key_Right)
    QTest.keyClick(lab.canvas, Qt.Key.Key_PageDown)
    assert lab.canvas.cell == Cell("a", 0)
    assert "a[0, 0]" in lab.canvas.accessibleDescription()


def test_another_start_shows_other_tensors(lab):
    lab.list.setCurrentRow(1)
    assert [card.key for card in lab.canvas.cards] == ["x", "result"]
    assert "scalar" in lab.sentence.said()


def test_lines_of_the_user_stay_when_the_list_gets_the_focus(lab, qtbot):
    own = "x = torch.zeros(5)\nx.mean()"
    lab.start(own)
    lab.list.setFocus()
    qtbot.waitUntil(lambda: lab.list.hasFocus())
    assert lab.editor.toPlainText() == own
    QTest.keyClick(lab.list, Qt.Key.Key_Down)
    assert lab.editor.toPlainText() == STARTS[1][1]


def test_typing_asks_again_once_it_rests(lab, qtbot):
    with qtbot.waitSignal(lab.asked) as heard:
        lab.editor.setPlainText("x = torch.zeros(3)\nx + torch.zeros(2)")
    assert heard.args == ["x = torch.zeros(3)\nx + torch.zeros(2)"]
    assert "must match" in lab.problem.said()
    assert lab.problem.isVisibleTo(lab)
    assert [card.key for card in lab.canvas.cards] == ["x"]


def test_memory_tells_who_shares_and_marks_the_cell(lab):
    probed = probe(Probe(1, "x = torch.arange(6.).view(2, 3)\nx.T"))
    lab.show_probed(probed)
    x, result = probed.inputs[0], probed.results[0]
    assert sharing_text([("x", x), ("result", result)]) == "x and result share 6 elements"
    assert "stride (1, 3)" in stride_text("result", result)
    lab.canvas.look_at(Cell("result", 1))
    assert lab.memory._here([("x", x), ("result", result)]) == 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "source",
    [
        "x = torch.zeros(0, 3)\nx + 1",
        "x = torch.tensor(3.)\nx * 2",
        "x = torch.randn(2, 3, 4, 5)\nx.relu()",
        "x = torch.randn(200, 300)\nx + 1",
        "x = torch.tensor([float('nan'), float('inf'), 0.])\nx + 1",
        "x = torch.tensor([1+2j])\nx * x",
        "x = torch.ones(3, dtype=torch.bool)\n~x",
        "x = torch.zeros(2)\nx.shape",
        "1 / 0",
    ],
)
def test_everything_can_be_drawn(lab, theme, source):
    lab.set_theme(Theme.load(theme))
    lab.editor.setPlainText(source)
    lab.ask()
    lab.grab()
    lab.canvas.grab()
    lab.memory.grab()
    lab.axes.grab()
    lab.jacobians.grab()


@pytest.mark.parametrize("width", [300.0, 600.0, 1000.0])
def test_cards_never_overlap_and_every_cell_is_found_again(width):
    probed = probe(
        Probe(1, "a = torch.ones(2, 3, 4)\nb = torch.ones(3, 4)\nc = torch.ones(1)\na * b * c")
    )
    tensors = [(one.name, one) for one in (*probed.inputs, *probed.results)]
    cards = arrange_cards(tensors, 3, width)
    for card in cards:
        for other in cards:
            assert card is other or not card.frame.intersects(other.frame)
        for flat in range(card.cells.snapshot.numel):
            box = card.cell(flat)
            assert card.frame.contains(box)
            assert card.at(box.center()) == flat


def test_the_jacobian_frames_what_is_looked_at(lab):
    matrices = lab.jacobians._probed.jacobians
    titles = [lab.jacobians.title(one) for one in matrices]
    assert titles == ["∂result/∂a", "∂result/∂b"]
    lab.canvas.look_at(Cell("result", 2))
    assert [lab.jacobians.framed(one) for one in matrices] == [(2, None), (2, None)]
    lab.canvas.look_at(Cell("b", 4))
    assert [lab.jacobians.framed(one) for one in matrices] == [(None, None), (None, 4)]


def test_slices_past_the_limit_are_left_out():
    assert slice_grid((3, 2, 2)) == (2, 2, 3, True)
    assert not slice_grid((50, 2, 2)).whole
    assert slice_grid(()) == (1, 1, 1, True)


def test_a_point_beside_all_cells_is_none(lab):
    QTest.mouseMove(lab.canvas, QPoint(1, 1))
    assert lab.canvas.cell is None


@pytest.mark.checklist(94, 124)
def test_without_numbers_only_shapes_are_left(lab):
    QTest.mouseMove(lab.canvas, middle(lab, "result", 3))
    assert lab.jacobians.isVisible()
    before = lab.canvas.grab().toImage()
    lab.numbers.click()
    assert not lab.jacobians.isVisible()
    lab.canvas.look_at(None)
    lab.canvas.look_at(Cell("result", 3))
    assert lab.cell_sentence.said() == "result[1, 1] comes from a[1, :] and b[:, 1]"
    assert lab.canvas.grab().toImage() != before
    lab.show_probed(probe(Probe(1, "x = torch.ones(4)\nx.sum()")))
    assert not lab.jacobians.isVisible()
    lab.numbers.click()
    assert lab.jacobians.isVisible()


def test_an_error_is_underlined_where_it_is(lab):
    lab._set_source("a = torch.ones(2, 3)\n𝛼 = a @ a\nb = a")
    (mark,) = lab.editor.extraSelections()
    assert mark.cursor.selectedText() == "a @ a"
    assert lab.problem.said().startswith("Line 2: ")
    assert ". " in lab.problem.said()
    lab._set_source("a = torch.ones(2, 3)\na")
    assert not lab.editor.extraSelections()
    assert not lab.problem.isVisible()
