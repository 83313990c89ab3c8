import pytest
from PySide6.QtCore import QRectF

from gradscribe.playback.graph.picture import Look, WireLook
from gradscribe.widgets.base.theme import Theme
from tests.widgets.pixels import drawing_of
from tests.widgets.scenes import Maker, grid

NEAR = QRectF(0, 0, 800, 700)


@pytest.fixture
def light(qapp):
    return Theme.load("light")


def labelled(light, count=600, columns=6):
    m = grid(count, columns)
    share = m.snapshot(0.5)
    looks = {wire.key: WireLook(True, share, "× 1", shares=(share,)) for wire in m.wires}
    return drawing_of((m, Look(m.reached().cards, looks)), light)


def test_only_labels_near_what_is_seen_are_placed(light):
    drawing = labelled(light)
    found = drawing.tiles.within(NEAR)
    assert 0 < len(found) < len(drawing.stage.wires) / 3
    assert drawing.tiles.placed() == found


def test_a_label_stands_at_one_place_whatever_is_seen(light):
    near = labelled(light).tiles.within(NEAR)
    every = labelled(light).labels
    assert len(every) == 600 - 6 + (600 - 600 // 6 - 5)
    assert near == {key: every[key] for key in near}


def test_what_is_out_of_sight_is_forgotten(light):
    drawing = labelled(light)
    drawing.tiles.within(drawing.stage.bounds)
    drawing.tiles.keep(NEAR)
    assert len(drawing.tiles.placed()) < len(drawing.labels)


def test_a_new_look_tells_where_labels_changed(light):
    drawing = labelled(light)
    drawing.tiles.within(NEAR)
    assert drawing.tiles.renew() == []
    drawing.look = Look({}, {})
    gone = drawing.tiles.renew()
    assert len(gone) > 0
    assert drawing.tiles.placed() == {}


def test_the_label_of_a_very_long_wire_stands_near_its_end(light):
    m = Maker()
    m.card("x", "parameter", "x", (0, 0), 2.0)
    m.card("y", "op", "mul", (300, 9000), 6.0)
    share = m.snapshot(3.0)
    key = m.wire("x", "y")
    looks = {key: WireLook(True, share, "× 3", shares=(share,))}
    drawing = drawing_of((m, Look(m.reached().cards, looks)), light)
    assert 9000 - drawing.labels[key].y < 400
    assert drawing.tiles.within(QRectF(0, 0, 400, 400)) == {}


def test_a_picture_without_wires_has_no_labels(light):
    m = Maker()
    m.card("x", "parameter", "x", (0, 0), 2.0)
    assert drawing_of((m, m.reached()), light).labels == {}
