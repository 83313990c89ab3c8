"""The change of a piece of advice is applied to a setup as a file would have it."""

import msgspec
import pytest

from gradscribe.engine.protocol.check_replies import check_training_reply
from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.protocol.training import Advice, RunAdvice
from gradscribe.engine.protocol.training.advice import MAX_ADVICE, with_change

BEFORE = Setup(optimizer=Part("sgd", {"lr": 0.1, "momentum": 0.9}), model=Part("linear", {"a": 1}))


def test_keys_options_and_parts_can_change():
    change = {"standardize": True, "optimizer.lr": 0.01, "model": "mlp", "features": ["x1"]}
    assert with_change(BEFORE, change) == msgspec.structs.replace(
        BEFORE,
        standardize=True,
        optimizer=Part("sgd", {"lr": 0.01, "momentum": 0.9}),
        model=Part("mlp"),
        features=("x1",),
    )
    assert with_change(BEFORE, {}) == BEFORE


@pytest.mark.parametrize(
    "change",
    [{"nothing": 1}, {"train": 7.0}, {"train": "most"}, {"standardize": [1]}, {"data": None},
     {"l2": -1.0}, {"mistakes": ["none such"]}],
    ids=str,
)  # fmt: skip
def test_a_change_that_cannot_be_one_is_refused(change):
    with pytest.raises(SetupError):
        with_change(BEFORE, change)


def test_an_engine_out_of_hand_cannot_send_too_much():
    one = Advice("a", "data", "Words", "Button", {"l2": 1.0})
    assert list(check_training_reply(RunAdvice(1, (one,) * MAX_ADVICE))) == []
    flaws = [
        RunAdvice(1, (one,) * (MAX_ADVICE + 1)),
        RunAdvice(1, (Advice("a", "data", "w" * (1 << 21)),)),
        RunAdvice(1, (Advice("a", "data", "w", "b", {"l2": [0] * (1 << 21)}),)),
    ]
    assert all(list(check_training_reply(flaw)) for flaw in flaws)
