"""The words on an order of the five steps; that they hold in torch is tested with the engine."""

import pytest

from gradscribe.engine.protocol.step_order import RIGHT_ORDER
from gradscribe.playback.explain.step_order import explain_order, order_effect


def test_the_usual_order_needs_no_words():
    assert explain_order(RIGHT_ORDER) == ""


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("forward loss backward step", "never cleared"),
        ("zero_grad forward loss backward", "never used: nothing moves"),
        ("zero_grad forward loss step", "No parameter gets a gradient"),
        ("zero_grad forward loss step backward", "skips every parameter whose .grad is None"),
        ("zero_grad forward loss backward backward step", "second time: RuntimeError."),
        ("zero_grad forward loss backward forward loss backward step", "2 times before"),
        ("zero_grad forward backward step", "NameError."),
        ("forward loss step backward", "RuntimeError in step 2."),
        ("zero_grad", "No statement computes the loss"),
    ],
)
def test_the_words_name_the_reason(order, words):
    assert words in explain_order(order.split())


def test_an_update_at_the_start_of_a_step_applies_the_gradient_of_the_step_before():
    effect = order_effect(["step", "zero_grad", "forward", "loss", "backward"])
    assert effect.updates == [((1, 0),), ((2, 1),), ((3, 2),)]
    assert effect.losses == [0, 1, 2, 3]
    assert effect.skipped == 1
