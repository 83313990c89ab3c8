"""The network in the training room: its units, their weights, the data on what they say."""

import numpy as np
from msgspec.structs import replace

from gradscribe.engine.protocol import training as messages
from tests.app.training.fakes import array, data
from tests.app.training.fakes import begun as made


def test_a_click_on_an_input_of_the_network_gives_it_to_the_model(room, begun, train_link):
    room.units.switched.emit("x1^2")
    assert begun.setup.features == ("x1", "x2", "x1^2")
    for name in ("x1", "x2", "x1^2"):
        room.units.switched.emit(name)
    assert begun.setup.features == ("x1^2",), "one is left"


def test_a_weight_of_the_network_is_set_by_hand(room, train_link):
    room.units.weighed.emit("0.weight", 3, 0.5)
    assert train_link.sent[-1] == messages.EditWeight(1, "0.weight", 3, 0.5)


def test_the_network_is_drawn_with_the_weights_as_they_are(room, begun, train_link):
    room.says.setCurrentWidget(room.units)
    kinds = [wish.kind for wish in train_link.last(messages.WatchViews).wishes]
    assert kinds.count("weights") == 1
    assert "units" in kinds
    arrays = {"grid": array(np.zeros((3, 4, 4)), "<f4"), "box": array([0, 0, 1, 1], "<f4")}
    train_link.received.emit(messages.ViewReply(1, "units", 0, arrays))
    flat = array(np.arange(9), "<f4")
    train_link.received.emit(messages.ViewReply(1, "weights", 0, {"flat": flat}))
    assert room.units._layers[1].wires.weights.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_the_network_does_not_flicker_as_another_run_begins(room, begun, train_link, monkeypatch):
    room.says.setCurrentWidget(room.units)
    arrays = {"grid": array(np.zeros((3, 4, 4)), "<f4"), "box": array([0, 0, 1, 1], "<f4")}
    units = messages.ViewReply(1, "units", 0, arrays)
    weights = messages.ViewReply(1, "weights", 0, {"flat": array(np.arange(9), "<f4")})
    shown = []
    show_layers = room.units.show_layers
    monkeypatch.setattr(
        room.units, "show_layers", lambda one: shown.append(one) or show_layers(one)
    )
    for _ in range(2):
        train_link.received.emit(units)
        assert not shown, "units without their weights are half of it"
        train_link.received.emit(weights)
        assert [layer.wires is not None for layer in shown.pop()] == [False, True]
        train_link.begin(1)
        assert not shown, "the one before stays until there is another"
    train_link.received.emit(replace(made(1, begun.setup), units=()))
    assert shown == [()]


def test_the_data_of_the_run_stand_on_its_network(room, begun, train_link):
    shown = data(1)
    train_link.received.emit(shown)
    assert len(room.units._points) == len(room.boundary._points) > 0


def test_the_network_flows_while_the_run_goes_on(room, train_link):
    train_link.state(1, 10, status="running")
    assert room.units._flown is not None
    train_link.state(1, 12)
    assert room.units._flown is None
