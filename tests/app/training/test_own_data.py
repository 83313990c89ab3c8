"""Data of one's own: points drawn into the set-up."""

from msgspec.structs import replace

from app.training import own_data
from engine import training as say
from engine.setup import Part, Setup
from tests.app.training.fakes import boundary


def test_points_are_drawn_into_the_setup(room, begun):
    assert isinstance(room.showing.own, own_data.OwnData)
    begun.change(Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]})))
    assert room.boundary.editable
    room.boundary.drawn.emit(0.25, -0.5, 1)
    assert begun.setup.data.options["points"] == [[0.0, 0.0, 1], [0.25, -0.5, 1]]
    room.boundary.moved.emit(0, 1.0, 1.0)
    room.boundary.removed.emit(1)
    assert begun.setup.data.options["points"] == [[1.0, 1.0, 1]]
    begun.change(Setup())
    assert not room.boundary.editable


def test_without_points_the_picture_is_empty_and_nothing_trains(room, begun, train_link):
    drawn = Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]}))
    begun.change(drawn)
    begun.play()
    begun.change(replace(drawn, data=Part("points", {"points": []})))
    assert train_link.last(say.Pause) is not None
    assert not begun.plays
    train_link.received.emit(boundary(1))
    assert room.boundary._ground is None, "a late picture of what was there"
    assert not len(room.boundary._points)
    room.boundary.drawn.emit(0.25, -0.5, 1)
    assert begun.setup.data.options["points"] == [[0.25, -0.5, 1]]
    assert begun.plays
    assert room.boundary._ground is not None


def test_what_is_said_fills_the_plane_that_one_draws_on(room, begun, train_link):
    begun.change(Setup(data=Part("points", {"points": [[0.0, 0.0, 1]]})))
    train_link.received.emit(boundary(1))
    room.showing.want()
    (wish,) = (w for w in train_link.last(say.Watch).wishes if w.kind == "boundary")
    assert wish.options["around"] == list(room.boundary.domain)
    begun.change(Setup())
    room.showing.want()
    (wish,) = (w for w in train_link.last(say.Watch).wishes if w.kind == "boundary")
    assert "around" not in wish.options


def test_points_on_a_curve_have_no_class(room, begun):
    begun.change(Setup(data=Part("points_line")))
    room.fit.drawn.emit(0.5, 0.25, 0)
    assert begun.setup.data.options["points"] == [[-1.0, 0.0], [1.0, 1.0], [0.5, 0.25]]
    room.fit.moved.emit(2, 0.6, 0.3)
    assert begun.setup.data.options["points"][2] == [0.6, 0.3]
