"""The whole way of a value, by walking along the wires."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradscribe.app.export.encoders import pixels
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import data_paths, overlay
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.stage import Stage
from tests.widgets.scenes import Maker, grid, network, neuron


@pytest.fixture(autouse=True)
def _fonts(qapp):
    """Fonts need an application."""


def staged(m):
    return Stage(m.tape, m.picture, m.placement)


def ends(stage, found):
    return {(stage.wires[key].source, stage.wires[key].target) for key in found}


def test_a_way_leads_back_to_the_leaves_and_on_to_the_loss():
    stage = staged(neuron()[0])
    assert ends(stage, data_paths.data_path(stage, "s")) == {
        ("x1", "u"), ("w1", "u"), ("x2", "v"), ("w2", "v"), ("u", "s"), ("v", "s"),
        ("s", "n"), ("n", "o"), ("o", "d"), ("d", "L"),
    }  # fmt: skip


def test_the_way_of_a_wire_is_what_leads_to_it_and_where_it_leads():
    stage = staged(neuron()[0])
    wire = next(key for key, one in stage.wires.items() if one.source == "u")
    assert ends(stage, data_paths.data_path(stage, wire)) == {
        ("x1", "u"), ("w1", "u"), ("u", "s"), ("s", "n"), ("n", "o"), ("o", "d"), ("d", "L"),
    }  # fmt: skip


def test_nothing_has_no_way_and_a_circle_ends():
    m = Maker()
    m.card("a", "op", "add", (100, 60), 1.0)
    m.card("b", "op", "add", (100, 200), 1.0)
    m.wire("a", "b")
    m.wire("b", "a")
    stage = staged(m)
    assert len(data_paths.data_path(stage, "a")) == 2
    assert (
        data_paths.data_path(stage, "")
        == data_paths.data_path(stage, "no such card")
        == frozenset()
    )


@pytest.mark.parametrize("many", [True, False])
def test_the_way_is_lit_and_nothing_else(monkeypatch, many):
    monkeypatch.setattr(data_paths, "MAX_CURVES", 0 if many else 300)
    stage = staged(network()[0])
    drawing = GraphDrawing(stage, Theme.load("light"), Layers())
    image = QImage(stage.bounds.size().toSize(), QImage.Format.Format_RGB32)
    image.fill(0)

    def lit(key):
        canvas = image.copy()
        painter = QPainter(canvas)
        painter.translate(-stage.bounds.topLeft())
        data_paths.paint(painter, drawing, key, QRectF(stage.bounds), 1.0)
        painter.end()
        return int((pixels(canvas).astype(np.int64).sum(-1) > 0).sum())

    keys = sorted(stage.cards, key=lambda key: len(data_paths.data_path(stage, key)))
    assert lit("no such card") == 0
    assert 0 < lit(keys[0]) < lit(keys[-1])


def test_of_a_big_picture_only_what_is_seen_is_painted():
    stage = staged(grid(400, 10))
    whole = data_paths.data_path(stage, stage.card_keys[0])
    assert len(stage.wires_in(QRectF(0, 0, 300, 300))) < len(whole)


def test_lights_keep_clear_of_what_hangs_on_a_card():
    m = Maker()
    m.card("a", "op", "add", (150, 60), 1.0, mark="⧉ base · v1 · now v4")
    m.card("b", "op", "add", (150, 220), 1.0)
    m.wire("a", "b")
    drawing = GraphDrawing(staged(m), Theme.load("light"), Layers())
    drawing.set_look(m.reached())
    (tag,) = data_paths.decoration_boxes(drawing, "a")
    assert data_paths.decoration_boxes(drawing, "b") == []
    image = QImage(300, 300, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    overlay.paint_marks(painter, drawing, "a", "a", 1.0, QRectF(0, 0, 300, 300))
    painter.end()
    shown = pixels(image).sum(-1)
    inner = tag.adjusted(10, 2, -10, -2).toAlignedRect()
    assert shown.any()
    assert not shown[inner.top() : inner.bottom(), inner.left() : inner.right()].any()


@pytest.mark.parametrize(("count", "painted"), [(300, 300), (1000, 1000), (10_000, 1000)])
def test_of_a_crowd_so_many_are_lit_that_they_lie_on_each_other(count, painted):
    m = Maker()
    m.card("a", "op", "unbind", (150, 60), 1.0)
    m.card("b", "op", "stack", (150, 220), 1.0)
    m.card("c", "op", "sum", (150, 380), 1.0)
    for n in range(count):
        m.wire("a", "b", n, count)
    last = m.wire("b", "c")
    drawing = GraphDrawing(staged(m), Theme.load("light"), Layers())
    drawing.set_look(m.reached())
    image, drawn = QImage(300, 460, QImage.Format.Format_RGB32), []

    class Counted(QPainter):
        def drawLines(self, lines):
            drawn.extend(lines)
            super().drawLines(lines)

        def drawPath(self, path):
            drawn.append(path)
            super().drawPath(path)

    painter = Counted(image)
    overlay.paint_marks(painter, drawing, "b", "", 1.0, QRectF(0, 0, 300, 460))
    painter.end()
    # A wire near by is lit twice, its ground below it, and has its way; the card has its ring.
    crowd = painted * (3 if count == 300 else 1)
    assert len(drawn) == crowd + 3 + 1
    assert last in drawing.stage.wires
