"""A name is found by what other libraries call it, and by its spelling; else none is offered."""

import pytest

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.slips.near_words import _OTHER_NAMES, nearest, plain
from gradscribe.engine.train.source import catalogue

ACTIVATIONS = ("relu", "tanh", "sigmoid", "linear", "leaky_relu", "elu", "gelu", "silu")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("ReLU", "relu"), ("nn.ReLU()", "relu"), ("torch.nn.LeakyReLU(0.1)", "leaky_relu"),
        ("leaky-relu", "leaky_relu"), ("swish", "silu"), ("identity", "linear"), ("Tanh", "tanh"),
        ("sigmiod", "sigmoid"), ("my_relu_layer", "relu"), ("xyz", ""), ("", ""), ("e" * 999, ""),
    ],
)  # fmt: skip
def test_a_word_means_the_nearest_name(word, meant):
    assert nearest(word, ACTIVATIONS) == meant


def test_a_name_of_its_own_is_nearer_than_another_ones_other_name():
    assert nearest("batch", ("steps", "batch")) == "batch"
    assert nearest("Momentum", ("sgd", "momentum")) == "momentum"
    assert nearest("momentum", ("sgd", "adam")) == "sgd"


def test_more_names_can_be_given():
    assert nearest("Fancy", ("cosine",), {"fancy": "cosine"}) == "cosine"
    assert nearest("Fancy", ("step",), {"fancy": "cosine"}) == ""


def test_every_name_with_other_names_exists():
    entries = catalogue.entries()
    options = [option for entry in entries for option in entry.options]
    there = {*Setup.__struct_fields__, *(entry.name for entry in entries)}
    there |= {option.name for option in options}
    there |= {choice for option in options for choice in option.choices}
    there |= {"float32", "float64", "float16", "bfloat16", "reference", "captured"}
    assert set(_OTHER_NAMES) <= there
    for names in _OTHER_NAMES.values():
        for other in names.split():
            assert plain(other) == other
