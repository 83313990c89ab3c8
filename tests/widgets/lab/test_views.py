"""The lab's views by themselves."""

import itertools

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF

from gradscribe.engine.inspect.lab import probe
from gradscribe.engine.protocol.messages import Jacobian, Probe, Probed
from gradscribe.playback.lab.axes import AxisRow, AxisTable, Chip
from gradscribe.playback.lab.cells import Cell
from gradscribe.playback.lab.explain import explain_shapes
from gradscribe.widgets.base.theme import Theme, ui_font
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.lab.axes_view import MEANINGS, AxesView
from gradscribe.widgets.lab.canvas import LabCanvas
from gradscribe.widgets.lab.card_layout import (
    HEAD,
    MAX_SLICES,
    MIN_CELL,
    PAD,
    arrange_cards,
    slice_grid,
)
from gradscribe.widgets.lab.jacobian_view import JacobianView
from gradscribe.widgets.lab.memory_view import MemoryView


def looked(source):
    return probe(Probe(1, source))


@pytest.fixture(params=["light", "dark"])
def theme(request):
    return Theme.load(request.param)


def colours(widget):
    image = widget.grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }


def test_every_mark_but_the_empty_ones_has_a_word():
    silent = {kind for kind, word in MEANINGS.items() if not word}
    assert silent == {"", "gone"}


def test_a_clash_is_drawn_in_the_colour_of_errors_and_said(qtbot, theme):
    view = AxesView()
    qtbot.addWidget(view)
    view.set_theme(theme)
    view.resize(400, 100)
    view.show_axes(explain_shapes("a + b", {"a": (2, 3), "b": (2, 4)}, []))
    assert theme.error.name() in colours(view)
    assert view.accessibleDescription() == "a: 2, 3; b: 2, 4"
    view.show_axes(explain_shapes("a + b", {"a": (2, 3), "b": (2, 3)}, [(2, 3)]))
    assert theme.error.name() not in colours(view)


def test_a_table_without_rows_takes_no_room(qtbot):
    view = AxesView()
    qtbot.addWidget(view)
    view.show_axes(AxisTable("nothing"))
    low = view.height()
    assert low < 8
    view.show_axes(AxisTable("", (AxisRow("x", (Chip("3"),)),)))
    assert view.height() > 2 * low


def test_long_names_of_tensors_leave_room_for_chips(qtbot):
    view = AxesView()
    qtbot.addWidget(view)
    view.resize(260, 80)
    view.show_axes(
        AxisTable("", (AxisRow("a_very_long_name_of_a_tensor_" * 4, (Chip("3"), Chip("4"))),))
    )
    view.grab()


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4), (2, 2, 2, 2), (100, 2, 2), (0, 3)])
def test_cells_of_any_shape_have_their_place(shape):
    probed = looked(f"x = torch.zeros({shape})\nx + 1")
    (card, *_) = arrange_cards([("x", probed.inputs[0])], 1, 800.0)
    shown = min(int(np.prod(shape[:-2], dtype=int)), MAX_SLICES)
    per = int(np.prod(shape[-2:], dtype=int))
    boxes = [card.cell(flat) for flat in range(shown * per)]
    assert all(box is not None for box in boxes)
    assert len({(box.x(), box.y()) for box in boxes}) == len(boxes)
    assert card.at(QPointF(card.frame.left() + 1, card.frame.top() + 1)) is None
    assert slice_grid(shape).slices <= MAX_SLICES


def test_many_cells_get_small_but_stay_inside():
    probed = looked("x = torch.zeros(20, 300)\nx")
    (card, *_) = arrange_cards([("x", probed.inputs[0])], 1, 500.0)
    assert card.side == MIN_CELL
    assert card.frame.height() == pytest.approx(HEAD + 20 * MIN_CELL + PAD)


def test_one_cell_looked_at_lights_others_and_dims_the_rest(qtbot, theme):
    canvas = LabCanvas()
    qtbot.addWidget(canvas)
    canvas.set_theme(theme)
    canvas.resize(700, 300)
    canvas.show_probed(looked("x = torch.rand(3, 3) + 1\nx.sum(dim=0)"))
    canvas.grab()
    before = colours(canvas)
    canvas.look_at(Cell("result", 1))
    assert theme.selection.name() in colours(canvas) - before
    canvas.look_at(None)
    assert theme.selection.name() not in colours(canvas)


def test_a_cell_that_is_gone_is_not_looked_at_any_more(qtbot):
    canvas = LabCanvas()
    qtbot.addWidget(canvas)
    canvas.show_probed(looked("x = torch.rand(5)\nx * 2"))
    canvas.look_at(Cell("x", 4))
    canvas.show_probed(looked("x = torch.rand(5)\nx * 3"))
    assert canvas.cell == Cell("x", 4)
    canvas.show_probed(looked("x = torch.rand(2)\nx * 3"))
    assert canvas.cell is None


def test_a_result_named_like_an_input_is_told_apart(qtbot):
    canvas = LabCanvas()
    qtbot.addWidget(canvas)
    canvas.show_probed(looked("result = torch.rand(2)\nresult * 2"))
    assert len({card.key for card in canvas.cards}) == 2


def test_memory_and_jacobian_of_nothing_are_empty(qtbot):
    for made in (MemoryView(), JacobianView()):
        qtbot.addWidget(made)
        made.show_probed(Probed(0))
        made.look_at(Cell("x", 0))
        made.grab()
        assert made.accessibleDescription() == ""


def test_a_jacobian_is_named_and_sized(qtbot, theme):
    view = JacobianView()
    qtbot.addWidget(view)
    view.set_theme(theme)
    view.show_probed(looked("w = torch.rand(2, 3)\nx = torch.rand(3)\nw @ x"))
    assert view.accessibleDescription() == "∂result/∂w: 2 by 6; ∂result/∂x: 2 by 3"
    view.look_at(Cell("x", 2))
    assert theme.selection.name() in colours(view)


@pytest.mark.parametrize("source", ["torch.empty(2**30, 0)", "torch.zeros(1).expand(2**31, 2)"])
def test_a_tensor_of_more_rows_than_a_window_can_be_high_is_shown(qtbot, source):
    canvas = LabCanvas()
    qtbot.addWidget(canvas)
    canvas.show_probed(looked(source))
    assert canvas.cards
    assert canvas.minimumHeight() == 16_777_214


def test_a_jacobian_of_a_tensor_without_elements_takes_no_room(qtbot):
    view = JacobianView()
    qtbot.addWidget(view)
    probed = looked("x = torch.rand(3)\nx * 2")
    view.show_probed(replace(probed, jacobians=(Jacobian(0, 0, (0, 3), b""),)))
    assert view.height() < 60


def test_every_jacobian_has_a_place_in_the_view(qtbot):
    view = JacobianView()
    qtbot.addWidget(view)
    names = ", ".join(f"a{i}" for i in range(9))
    given = "\n".join(f"a{i} = torch.rand(6)" for i in range(9))
    view.resize(400, 100)
    view.show_probed(looked(f"{given}\nsum([{names}]) * 2"))
    for width in (400, 900):
        view.resize(width, view.height())
        view.grab()  # hears of its size
        places = view._places
        assert len(places) == 9
        assert all(QRectF(view.rect()).contains(place) for place in places)
        assert not any(a.intersects(b) for a, b in itertools.combinations(places, 2))
        image = view.grab().toImage()
        for place in places:
            # Twice the identity: zero beside the diagonal, and its greatest number on it.
            across = [QPointF(6 + 30 * column, 22 + 6) for column in range(2)]
            on, beside = (image.pixel((place.topLeft() + at).toPoint()) for at in across)
            assert on != beside


@pytest.mark.parametrize("size", [5, 64])
def test_a_jacobian_has_the_colours_of_its_numbers(qtbot, theme, size):
    view = JacobianView()
    qtbot.addWidget(view)
    view.set_theme(theme)
    view.resize(800, 400)
    view.show_probed(looked(f"x = torch.rand({size})\nx.flip(0) * 2"))
    (place,) = view._places
    side = (place.height() - 22) / size
    image = view.grab().toImage()
    for row, column in ((0, 0), (0, size - 1), (1, size - 2), (size - 1, 0), (size - 1, 1)):
        at = QPointF(column * side + side / 2 - 1, 22 + row * side + 2.5)
        slope = 2.0 if column == size - 1 - row else 0.0
        expected = heat.color(slope, 2.0, theme.dark)
        found = image.pixelColor((place.topLeft() + at).toPoint())
        assert found.name() == expected.name()


def test_the_meaning_of_an_axis_is_never_cut_within_a_word(qapp):
    view = AxesView()
    view.show_axes(AxisTable("", (AxisRow("b", (Chip("5", "missing"), Chip("4", ""))),)))
    assert view.meaning(0, 400) == "not there: stretched"
    wide = QFontMetricsF(ui_font(11)).horizontalAdvance("not there: stretched")
    assert view.meaning(0, wide - 1) == "stretched"
    assert view.meaning(0, 20).endswith("…")
