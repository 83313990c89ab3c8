"""A run's units and weights as the network that is drawn."""

import numpy as np
import pytest
from msgspec.structs import replace

from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.widgets.plots.features import FEATURES
from gradscribe.widgets.plots.views import network
from tests.app.training.fakes import array, begun


def run(grid, setup=None, flat=None, **more):
    setup = setup or Setup()
    made = RunState(1, setup, "r", begun=begun(1, setup))
    arrays = {"grid": array(grid, "<f4"), "box": array([-1.0, -2.0, 1.0, 2.0], "<f4")}
    made.views["units"] = messages.ViewReply(1, "units", 0, arrays)
    if flat is not None:
        extra = {name: array(numbers, "<f4") for name, numbers in more.items()}
        made.views["weights"] = messages.ViewReply(
            1, "weights", 0, {"flat": array(flat, "<f4"), **extra}
        )
    return made


def test_units_are_told_apart_by_layer():
    inputs, layer = network.network_layers(run(np.arange(3 * 4 * 4).reshape(3, 4, 4)))
    assert layer.name == "0 Linear"
    assert layer.maps[0, 0].tolist() == [12, 13, 14, 15]
    assert inputs.names == FEATURES
    assert inputs.on == (True, True, False, False, False, False, False)


def test_inputs_are_what_their_formulas_say_over_the_plane():
    inputs, _ = network.network_layers(run(np.zeros((3, 5, 3))))
    x, y = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-2, 2, 5))
    wanted = [x, y, x * x, y * y, x * y, np.sin(x), np.sin(y)]
    np.testing.assert_allclose(inputs.maps, wanted, rtol=1e-6)


def test_weights_lie_between_the_inputs_that_are_given_and_the_units():
    flat, grads = np.arange(9), np.arange(9) / 10
    setup = Setup(features=("sin(x1)", "x2"))
    wires = network.network_layers(run(np.zeros((3, 4, 4)), setup, flat, grads=grads))[1].wires
    assert wires.name == "0.weight"
    assert wires.sources == (FEATURES.index("sin(x1)"), FEATURES.index("x2"))
    assert wires.weights.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert wires.bias.tolist() == [6, 7, 8]
    np.testing.assert_allclose(wires.grads, grads[:6].reshape(3, 2), rtol=1e-6)


def test_before_the_first_backward_pass_no_weight_has_a_gradient():
    grads = np.full(9, np.nan)
    wires = network.network_layers(run(np.zeros((3, 4, 4)), None, np.zeros(9), grads=grads))[
        1
    ].wires
    assert (wires.grads, wires.bias_grads) == (None, None)


@pytest.mark.parametrize("features", [("x1",), ("x1", "x2", "x1^3")])
def test_a_layer_that_takes_something_else_has_no_wires(features):
    made = run(np.zeros((3, 4, 4)), Setup(features=features), np.zeros(9))
    assert network.network_layers(made)[1].wires is None


def test_over_one_input_units_are_curves():
    inputs, layer = network.network_layers(run(np.ones((3, 50)), Setup(features=("x1", "x1^2"))))
    assert layer.maps.shape == (3, 50)
    assert inputs.names == ("x1", "x1^2")
    np.testing.assert_allclose(inputs.maps[1], np.linspace(-1, 1, 50) ** 2, atol=1e-6)
    assert not inputs.on, "what is there is given; a click changes nothing"


def test_without_units_there_is_nothing():
    assert network.network_layers(RunState(1, Setup(), "r")) == []
    assert network.network_layers(run(np.zeros(0))) == []


def test_inputs_are_switched_in_their_order_and_one_is_left():
    setup = network.toggle_feature(Setup(), "sin(x2)")
    assert setup.features == ("x1", "x2", "sin(x2)")
    assert network.toggle_feature(setup, "sin(x2)").features == ()
    assert network.toggle_feature(setup, "x1").features == ("x2", "sin(x2)")
    last = Setup(features=("x1*x2",))
    assert network.toggle_feature(last, "x1*x2") == last
    written = network.toggle_feature(Setup(features=("x1^3", "x2")), "x1")
    assert written.features == ("x1", "x2", "x1^3")


def pictures(chosen=1):
    weight = messages.Parameter("0.weight", (3, 2, 2, 2), 0)
    units = (messages.UnitLayer("0", "ReLU", 3), messages.UnitLayer("1", "Linear", 2))
    told = replace(begun(1, Setup()), parameters=(weight,), units=units, classes=("cat", "dog"))
    made = RunState(1, told.setup, "r", begun=told)
    arrays = {
        "samples": array(np.arange(8.0).reshape(2, 2, 2), "<f4"),
        "labels": array([0, 1], "<i8"),
        "layer0": array(np.arange(12.0).reshape(3, 2, 2), "<f4"),
        "layer1": array(np.array([0.25, -1.5]).reshape(2, 1, 1), "<f4"),
    }
    made.views["units"] = messages.ViewReply(1, "units", 0, arrays, {"chosen": chosen})
    made.views["weights"] = messages.ViewReply(
        1, "weights", 0, {"flat": array(np.arange(24.0), "<f4")}
    )
    return made


def test_of_pictures_the_one_chosen_and_what_each_filter_makes_of_it():
    given, filters, said = network.network_layers(pictures())
    assert (given.names, given.on) == (("cat", "dog"), (False, True))
    # The first row of a map is its lowest.
    assert given.maps[1].tolist() == [[6, 7], [4, 5]]
    assert filters.maps[0].tolist() == [[2, 3], [0, 1]]
    assert filters.filters[1].tolist() == [[[8, 9], [10, 11]], [[12, 13], [14, 15]]]
    assert (filters.title(2), said.title(0)) == ("0 ReLU, filter 2", "cat  0.250")
    assert said.filters is None


def test_a_view_of_pictures_that_misses_something_shows_what_there_is():
    made = pictures(float("nan"))
    arrays = made.views["units"].arrays
    del arrays["labels"]
    arrays["layer0"] = array(np.zeros((3, 0, 2)), "<f4")
    given, said = network.network_layers(made)
    assert (given.names, given.on, said.name) == ((), (), "1 Linear")
    arrays["samples"] = array(np.zeros(4), "<f4")
    assert network.network_layers(made) == []
