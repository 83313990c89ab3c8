"""Options of a sweep against the catalogue: names, kinds and bounds, before a trial runs."""

import pytest

from gradscribe.app.training.sweep import options
from gradscribe.app.training.sweep.axes import SweepError, parse_axis
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.train.source import catalogue

ENTRIES = options.by_name(catalogue.entries())


def checked(*texts, base=None):
    given = setups.parse({"data": "moons", "model": "mlp", **(base or {})})
    return options.check(given, [parse_axis(text) for text in texts], ENTRIES)


@pytest.mark.parametrize(
    "texts",
    [
        ["optimizer.lr=log:1e-4:1:20", "seed=0..4"],
        ["optimizer=sgd,adam", "optimizer.lr=0.1,0.2"],
        ["optimizer=sgd", "optimizer.momentum=0,0.9"],
        ["schedule=null,cosine"],
        ["schedule=step", "schedule.gamma=0.1,0.5"],
        ["loss=bce,hinge"],
        ["model.layers=[4],[8,8]", "model.activation=relu,tanh"],
        ["weight_seed=null,1"],
        ["optimizer.lr=random:log:1e-4:1", "batch=random:1..64"],
    ],
)
def test_options_of_a_setup_are_taken(texts):
    found = checked(*texts)
    assert [axis.name for axis in found] == [text.partition("=")[0] for text in texts]


def test_a_range_of_an_option_that_takes_integers_is_rounded_and_has_no_value_twice():
    assert checked("data.n=log:10:1000:3")[0].values == (10, 100, 1000)
    assert checked("batch=linear:1:3:9")[0].values == (1, 2, 3)
    assert checked("weight_seed=linear:0:4:3")[0].values == (0, 2, 4)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["optimizer.lrr=1"], "adam has no option 'lrr'; did you mean 'lr'?"),
        (["optimizer.learning_rate=1"], "did you mean 'lr'?"),
        (["lr=1"], "no key 'lr' in a setup; write optimizer.lr"),
        (["learning_rate=1"], "did you mean 'optimizer.lr'?"),
        (["sed=1"], "did you mean 'seed'?"),
        (["optimiser.lr=1"], "did you mean 'optimizer'?"),
        (["optimizer=adm"], "no optimizer called 'adm'; did you mean 'adam'?"),
        (["optimizer=sgd,adam", "optimizer.momentum=0.9"], "adam has no option 'momentum'"),
        (["schedule.gamma=0.5"], "the setup names no schedule"),
        (["schedule=null,step", "schedule.gamma=0.5"], "the setup names no schedule"),
        (["optimizer.lr=fast"], "optimizer.lr is 'fast', which is not a number"),
        (["optimizer.lr=-1"], "must be at least"),
        (["optimizer.lr=linear:-1:1:3"], "must be at least"),
        (["optimizer.lr=random:-1:1"], "must be at least"),
        (["model.layers=8"], "which is not a list of whole numbers"),
        (["model.activation=relu,tnh"], "did you mean 'tanh'?"),
        (["batch=1.5"], "batch is 1.5, which is not a whole number"),
        (["batch=[1]"], "batch is"),
        (["train=2"], "must be above 0 and at most 1"),
        (["dtype=float23"], "did you mean"),
        (["seed=1", "seed=2"], "seed is given twice"),
        (['optimizer={"name":"adam","lrr":1}'], "has no option 'lrr'"),
        (['optimizer={"lr":1}'], 'optimizer is a name or an object with a "name"'),
        (["data.=1"], "has no option ''"),
        ([".lr=1"], "is no option"),
        (["seed=" + str(2**70)], "too big"),
    ],
)
def test_what_no_setup_has_is_refused_with_the_nearest_name(texts, words):
    with pytest.raises(SweepError) as caught:
        checked(*texts)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_of_data_is_found_from_anywhere():
    given = setups.parse({"data": {"name": "csv", "path": "a/b.csv"}, "model": "mlp"})
    moved = options.with_absolute_path(given, "/data")
    assert moved.data.options["path"].replace("\\", "/") == "/data/a/b.csv"
    assert options.with_absolute_path(setups.parse({}), "/data") == setups.parse({})
