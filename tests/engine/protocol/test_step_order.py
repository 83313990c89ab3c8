"""Names of what differs from the right order of a training step."""

import pytest

from gradscribe.engine.protocol.setup import Setup, SetupError, parse, to_dict
from gradscribe.engine.protocol.step_order import MAX_STATEMENTS, RIGHT_ORDER, describe_order


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("zero_grad forward loss backward step", ""),
        ("forward loss backward step", "no zero_grad"),
        ("zero_grad forward loss backward step step", "step twice"),
        ("zero_grad forward loss backward step step step", "step 3 times"),
        ("zero_grad forward loss step backward", "step before backward"),
        ("forward loss backward zero_grad step", "zero_grad after backward"),
        ("step zero_grad forward loss backward", "step before zero_grad"),
        ("forward loss backward step step", "no zero_grad, step twice"),
        ("step zero_grad forward loss backward step", "step twice, step before zero_grad"),
        ("step backward loss", "no zero_grad, no forward, order step, backward, loss"),
    ],
)
def test_what_differs_from_the_right_order_is_named(order, words):
    assert describe_order(order.split()) == words


def test_an_order_survives_a_setup_file():
    setup = Setup(order=("forward", "loss", "backward", "step"), manual_update=True)
    assert parse(to_dict(setup)) == setup
    assert "order" not in to_dict(Setup())


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (["zero_grad", "forwards"], "forward"),
        ([], "empty"),
        (["step"] * (MAX_STATEMENTS + 1), "at most"),
        ("step", "a list of names"),
        ([1], "a list of names"),
        (["x" * 10_000], "its names are"),
    ],
)
def test_an_order_that_is_none_is_refused_at_its_key(order, why):
    with pytest.raises(SetupError, match=why) as error:
        parse({"order": order})
    assert error.value.place == "order"
    assert len(str(error.value)) < 300


def test_a_setup_deviates_by_mistakes_order_or_update_and_its_correction_does_not():
    for setup in (
        Setup(mistakes=("huge_lr",)),
        Setup(order=RIGHT_ORDER[1:]),
        Setup(manual_update=True),
    ):
        assert setup.deviates
        assert setup.corrected() == Setup()
    assert not Setup().deviates
