"""Setups are read from JSON, small ones too, and bad ones are refused in one clear line."""

import msgspec
import pytest

from engine import setup
from engine.setup import BadSetup, Part, Setup


def test_a_setup_is_as_small_as_three_words():
    made = setup.parse_text('{"data": "sine", "model": "mlp", "steps": 500}')
    assert made == Setup(data=Part("sine"), model=Part("mlp"), steps=500)


def test_options_stand_beside_the_name():
    made = setup.parse({"optimizer": {"name": "sgd", "lr": 0.1}})
    assert made.optimizer == Part("sgd", {"lr": 0.1})


def test_the_short_form_reads_back_the_same():
    made = Setup(
        model=Part("mlp", {"layers": [4, 2]}),
        batch=10,
        features=("x1", "x2"),
        schedule=Part("step"),
    )
    assert setup.parse(setup.plain(made)) == made
    assert setup.parse_text(msgspec.json.encode(setup.plain(made))) == made


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ([], "", "object"),
        ({"dta": "sine"}, "dta", "did you mean 'data'"),
        ({"data": 3}, "data", "name"),
        ({"steps": -1}, "steps", "at least 0"),
        ({"steps": "many"}, "steps", "int"),
        ({"steps": 2**70}, "steps", ""),
        ({"l1": float("nan")}, "l1", "at least"),
        ({"train": 0}, "train", "above 0"),
        ({"threads": 100_000}, "threads", "at most 256"),
        ({"accumulate": 0}, "accumulate", "at least 1"),
        ({"dtype": "int7"}, "dtype", "float32"),
        ({"amp": "yes"}, "amp", "bfloat16"),
        ({"mistakes": ["no_zero"]}, "mistakes", "no_zero_grad"),
        ({"mode": "warp"}, "mode", "warp"),
        ({"device": None}, "device", "str"),
    ],
)
def test_a_bad_setup_is_refused_at_its_key(given, place, words):
    with pytest.raises(BadSetup) as caught:
        setup.parse(given)
    assert caught.value.place == place
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "{", "nul", '{"data": "sine",}', "\x00", b"\xff\xfe", b'{"data": "\xff"}', "[" * 5000],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(BadSetup, match="JSON"):
        setup.parse_text(text)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"lr": 0.1},
            'it belongs to the optimizer, as in "optimizer": {"name": "adam", "lr": 0.1}',
        ),
        ({"learning_rate": 0.1}, 'as in "optimizer": {"name": "adam", "lr": 0.1}'),
        ({"momentum": 0.9}, '"optimizer": {"name": "sgd", "momentum": 0.9}'),
        ({"noise": 0.2}, "belongs to the data"),
        ({"layers": [8, 8]}, '"model": {"name": "mlp", "layers": [8, 8]}'),
        ({"points": [[0, 1]] * 100}, '"data": {"name": "points", "points": …}'),
    ],
)
def test_an_option_outside_its_part_is_shown_its_place(given, words):
    with pytest.raises(BadSetup) as caught:
        setup.parse(given)
    assert caught.value.place == next(iter(given))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
