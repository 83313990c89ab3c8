"""Setups are read from JSON, small ones too, and bad ones are refused in one clear line."""

import json
from functools import partial

import msgspec
import pytest

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.protocol.training.catalogue import hint_for_option
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo.entry import Data, Model


def test_a_setup_is_as_small_as_three_words():
    made = setup.parse_text('{"data": "sine", "model": "mlp", "steps": 500}')
    assert made == Setup(data=Part("sine"), model=Part("mlp"), steps=500)


def test_options_stand_beside_the_name():
    made = setup.parse({"optimizer": {"name": "sgd", "lr": 0.1}})
    assert made.optimizer == Part("sgd", {"lr": 0.1})


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ('{"steps": 1e3, "batch": 16.0}', Setup(steps=1000, batch=16)),
        ('{"seed": 0.0, "data_seed": 1E1}', Setup(seed=0, data_seed=10)),
        ('{"data": {"name": "moons", "n": 2e2}}', Setup(data=Part("moons", {"n": 200}))),
        (
            '{"model": {"name": "mlp", "layers": [8.0, 4]}}',
            Setup(model=Part("mlp", {"layers": [8, 4]})),
        ),
        ('{"optimizer": {"name": "sgd", "lr": 1.0}}', Setup(optimizer=Part("sgd", {"lr": 1.0}))),
    ],
)
def test_a_whole_number_may_be_written_with_a_point_or_an_exponent(given, same):
    made = setup.parse_text(given)
    assert made == same
    assert [type(made.steps), type(made.batch), type(made.seed)] == [int] * 3
    for kind, part, made_of in (("data", made.data, Data), ("model", made.model, Model)):
        catalogue.find(kind, part, made_of)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ('{"steps": 1000.5}', "steps"),
        ('{"batch": 1e-3}', "batch"),
        ('{"seed": 1e300}', "seed"),
        ('{"steps": true}', "steps"),
    ],
)
def test_a_count_that_is_not_whole_is_refused(given, place):
    with pytest.raises(SetupError) as refused:
        setup.parse_text(given)
    assert refused.value.place == place


def test_what_lies_deep_in_an_option_is_refused_in_a_line():
    deep = '{"data": {"name": "points", "points": ' + "[" * 300 + "1.0" + "]" * 300 + "}}"
    with pytest.raises(SetupError):
        catalogue.find("data", setup.parse_text(deep).data, Data)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ('{"steps": 1000}', 1000),
        ('{"title": "t", "setup": {"steps": 2e1}}', 20),
        ('{"data": "sine"}', None),
    ],
)
def test_whether_a_text_gives_the_steps_is_known(text, steps):
    assert setup.requested_steps(text) == steps


def test_the_short_form_reads_back_the_same():
    made = Setup(
        model=Part("mlp", {"layers": [4, 2]}),
        batch=10,
        features=("x1", "x2"),
        schedule=Part("step"),
    )
    assert setup.parse(setup.to_dict(made)) == made
    assert setup.parse_text(msgspec.json.encode(setup.to_dict(made))) == made


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ([], "", "object"),
        ({"dta": "sine"}, "dta", "did you mean 'data'"),
        ({"data": 3}, "data", "name"),
        ({"steps": -1}, "steps", "at least 0"),
        ({"steps": "many"}, "steps", '"many", which is not a whole number'),
        ({"steps": 1.5}, "steps", "1.5, which is not a whole number"),
        ({"data_seed": []}, "data_seed", "[], which is not a whole number, or null"),
        ({"shuffle": 1}, "shuffle", "1, which is not true or false"),
        ({"l2": True}, "l2", "true, which is not a number"),
        ({"features": ["x1", 3]}, "features", '["x1", 3], which is not a list of names'),
        ({"steps": 2**70}, "steps", ""),
        ({"l1": float("nan")}, "l1", "at least"),
        ({"train": 0}, "train", "above 0"),
        ({"threads": 100_000}, "threads", "at most 256"),
        ({"accumulate": 0}, "accumulate", "at least 1"),
        ({"dtype": "int7"}, "dtype", "float32"),
        ({"amp": "yes"}, "amp", "bfloat16"),
        ({"mistakes": ["no_zero"]}, "mistakes", "no_zero_grad"),
        ({"mode": "warp"}, "mode", "'warp', but must be auto, reference or captured"),
        ({"steps": 10**400}, "steps", "too big"),
        ({"k" * 1000: 1}, "k" * 1000, "…"),
        ({"dtype": "k" * 1000}, "dtype", "…"),
        ({"amp": "k" * 1000}, "amp", "…"),
        ({"mistakes": ["k" * 1000]}, "mistakes", "…"),
        ({"device": None}, "device", "null, which is not a text"),
        ({"device": ["k" * 1000]}, "device", "…"),
        ({"device": 10**400}, "device", "…"),
    ],
)
def test_a_bad_setup_is_refused_at_its_key(given, place, words):
    with pytest.raises(SetupError) as caught:
        setup.parse(given)
    assert caught.value.place == place
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    ["", "{", "nul", '{"data": "sine",}', "\x00", b"\xff\xfe", b'{"data": "\xff"}', "[" * 5000],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(SetupError, match="JSON"):
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
    with pytest.raises(SetupError) as caught:
        setup.parse(given, partial(hint_for_option, catalogue.entries()))
    assert caught.value.place == next(iter(given))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "belongs"),
    [
        ("learnig_rate", '"optimizer": {"name": "adam", "lr": 1}'),
        ("wd", '"optimizer": {"name": "adam", "weight_decay": 1}'),
        ("hidden_layers", '"model": {"name": "mlp", "layers": 1}'),
        ("noise_level", '"data": {"name": "circle", "noise": 1}'),
        ("label", '"data": {"name": "csv", "target": 1}'),
    ],
)
def test_other_names_of_an_option_are_shown_its_place(given, belongs):
    with pytest.raises(SetupError) as caught:
        setup.parse({given: 1}, partial(hint_for_option, catalogue.entries()))
    assert str(caught.value).endswith(f"as in {belongs}")


def test_without_the_catalogue_an_option_outside_its_part_is_shown_an_example():
    with pytest.raises(SetupError, match=r"unknown key 'lr': an option belongs to its part, as in"):
        setup.parse({"lr": 0.1})
    with pytest.raises(SetupError, match=r"unknown key 'lr'; the keys are data, model, loss"):
        setup.parse({"lr": 0.1}, lambda *_: "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"data": "sine"\n "steps": 3}', "line 2, column 2"),
        ('{"l1": NaN}', "NaN and Infinity are no numbers of JSON, in line 1, column 8"),
        ('{"a": "é",\n\n   "l1": Infinity}', "no numbers of JSON, in line 3, column"),
        ('{"clip_norm": -Infinity}', "no numbers of JSON, in line 1"),
        ('{"é": "' + "1" * 5000 + '",\n "seed": ' + "1" * 4301 + "}", "line 2, column 10"),
        ('{"data": "sine",\n\n  "seed": -' + "9" * 9000 + "}", "range, in line 3, column 11"),
        (
            '{"data": {"n": 1' + "0" * 5000 + ".5}}",
            "a number is out of range, in line 1, column 16",
        ),
        ('{"l2": 0.1, "l1": 1e999}', "a number is out of range, in line 1, column 19"),
        ("[" * 100_000, "too deep"),
        (
            '{"data": "sine",\n "steps": 3 // three\n}',
            "comments: remove this one, in line 2, column 13",
        ),
    ],
)
def test_what_is_no_json_is_refused_at_its_place(text, words):
    with pytest.raises(SetupError, match="not JSON") as caught:
        setup.parse_text(text)
    assert words in str(caught.value)


OWN_NAMES = {
    "epochs": "steps", "Num_Epochs": "steps", "n_iter": "steps", "stps": "steps",
    "batch_size": "batch", "batchSize": "batch", "optimiser": "optimizer", "criterion": "loss",
    "lr_scheduler": "schedule", "network": "model", "dataset": "data", "normalise": "standardize",
    "random_state": "seed", "max_grad_norm": "clip_norm", "ridge": "l2", "gpu": "device",
    "validation_split": "train", "gradient_accumulation_steps": "accumulate",
}  # fmt: skip


@pytest.mark.parametrize(("given", "meant"), OWN_NAMES.items())
def test_an_unknown_key_is_given_its_nearest_right_one(given, meant):
    for hint in (None, partial(hint_for_option, catalogue.entries())):
        with pytest.raises(SetupError, match=f"unknown key '{given}'; did you mean '{meant}'"):
            setup.parse({given: 1}, hint)


def test_what_differs_between_a_key_and_the_other_word_for_it_is_said():
    with pytest.raises(SetupError, match=r'A step is one batch.*with "batch": 0 one$'):
        setup.parse({"epochs": 20})
    with pytest.raises(SetupError, match=r"'train'\? It is the share that is trained on$"):
        setup.parse({"test_size": 0.2})
    with pytest.raises(SetupError, match=r"did you mean 'steps'\?$"):
        setup.parse({"iterations": 20})


def test_a_key_that_is_near_to_nothing_is_given_all():
    with pytest.raises(SetupError, match="the keys are data, model, loss, optimizer, schedule, st"):
        setup.parse({"verbose": True}, lambda *_: "")


def test_a_value_is_given_its_nearest_right_one():
    for given, words in (
        ({"dtype": "torch.double"}, "did you mean 'float64'"),
        ({"amp": "fp16"}, "did you mean 'float16'"),
        ({"mode": "compiled"}, "did you mean 'captured'"),
        ({"steps": "500"}, "without quotes, 500 is$"),
        ({"l2": "1e-3"}, "without quotes, 1e-3 is$"),
        ({"shuffle": "False"}, "without quotes, false is$"),
        ({"train": "80%"}, "which is not a number$"),
        ({"model": {"type": "mlp"}}, "write \"name\" for 'type'"),
        ({"model": {"layers": [8]}}, 'an object with a "name"$'),
    ):
        with pytest.raises(SetupError, match=words):
            setup.parse(given)


def test_words_may_stand_around_a_setup():
    given = {"title": "Moons", "about": "It bends.", "setup": {"data": "moons", "steps": 3}}
    for keys in (("title", "about", "setup"), ("title", "setup"), ("setup",)):
        text = json.dumps({key: given[key] for key in keys})
        assert setup.parse_text(text) == Setup(data=Part("moons"), steps=3)
    for more, words in (
        ({"steps": 3}, "unknown key"),
        ({"setup": {"setup": {}}}, "unknown key 'setup'"),
        ({"setup": 3}, "a setup is an object"),
        ({"setup": {"optimiser": "sgd"}}, "did you mean 'optimizer'"),
    ):
        with pytest.raises(SetupError, match=words):
            setup.parse_text(json.dumps(given | more))


@pytest.mark.parametrize(
    "text", ['{"data": "sine", "data": "line"}', '{"model": {"name": "mlp", "data": 1, "data": 2}}']
)
def test_a_key_that_is_given_twice_is_refused(text):
    with pytest.raises(SetupError, match="'data' is given twice") as caught:
        setup.parse_text(text)
    assert caught.value.place == "data"
    assert setup.parse_text('\ufeff{"data": "line"}'.encode()[3:]).data.name == "line"


@pytest.mark.parametrize(
    ("part", "made"),
    [
        (Part("sine", {"n": 10**400}), "data.n"),
        (Part("x" * 1000), "no data called"),
        (Part("sine", {"x" * 1000: 1}), "has no option"),
    ],
)
def test_what_is_too_long_to_be_said_is_said_in_short(part, made):
    with pytest.raises(SetupError) as caught:
        catalogue.find("data", part, Data)
    assert made in str(caught.value) or made == caught.value.place
    assert "x" * 100 not in str(caught.value)
    assert len(str(caught.value)) < 400
