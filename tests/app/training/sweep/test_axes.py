"""Options of a sweep as they are written: lists, ranges, random draws, and what is none."""

import contextlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.app.training.sweep.axes import ListedAxis, RandomAxis, SweepError, parse_axis


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("seed=0..4", (0, 1, 2, 3, 4)),
        ("seed=0..20:10", (0, 10, 20)),
        ("seed=3..3", (3,)),
        ("optimizer.lr=0.1,0.01, 1", (0.1, 0.01, 1)),
        ("model.activation=relu,tanh", ("relu", "tanh")),
        ("model.layers=[8],[16,16],[]", ([8], [16, 16], [])),
        ('optimizer=sgd,{"name":"adam","lr":0.1}', ("sgd", {"name": "adam", "lr": 0.1})),
        ("shuffle=true,false", (True, False)),
        ("schedule=null,cosine", (None, "cosine")),
        ("seed=1,1,2", (1, 2)),
        ("data.noise=1,1.0,true", (1, 1.0, True)),
        ('data.name="a,b",c', ("a,b", "c")),
    ],
)
def test_lists_and_integers_are_read_as_they_stand(text, values):
    found = parse_axis(text)
    assert isinstance(found, ListedAxis)
    assert [*map(repr, found.values)] == [*map(repr, values)]


@pytest.mark.parametrize(
    ("kind", "reference"), [("linear", np.linspace), ("lin", np.linspace), ("log", np.geomspace)]
)
def test_ranges_are_those_of_numpy_with_bounds_exact(kind, reference):
    found = parse_axis(f"x={kind}:1e-4:0.7:20").values
    assert (found[0], found[-1]) == (1e-4, 0.7)
    np.testing.assert_allclose(found, reference(1e-4, 0.7, 20), rtol=1e-14)
    assert parse_axis(f"x={kind}:1e-4:0.7:1").values == (1e-4,)


def test_draws_stay_in_their_range_and_fill_it():
    source = random.Random(1)
    for text, low, high, middle in [
        ("x=random:2:6", 2, 6, 4),
        ("x=random:log:1e-4:1", 1e-4, 1, 1e-2),
        ("x=random:1..9", 1, 9, 5),
    ]:
        found = [parse_axis(text).draw(source) for _ in range(4000)]
        assert low <= min(found) <= max(found) <= high
        # The median of a uniform (or log-uniform) draw, whose standard error is below 2 %.
        assert abs(np.mean([value < middle for value in found]) - 0.5) < 0.07
    choices = {parse_axis("x=random:relu,tanh").draw(source) for _ in range(60)}
    assert choices == {"relu", "tanh"}
    assert isinstance(parse_axis("x=random:1..9").draw(source), int)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed", "is no NAME=VALUES"),
        ("=3", "is no NAME=VALUES"),
        ("seed=", "seed has no values"),
        ("seed=1,,2", "has an empty value"),
        ("seed=0..999999999999", "has 1,000,000,000,000 values, but at most 10,000 run"),
        ("seed=4..0", "4 is not below 0"),
        ("seed=0.5..2", "is no range of integers"),
        ("seed=0..9:0", "is no range of integers"),
        ("seed=a..b", "'a' is not a number"),
        ("lr=log:0:1:3", "begins above 0"),
        ("lr=log:-1:1:3", "begins above 0"),
        ("lr=log:1:1e-3:3", "1 is not below 0.001"),
        ("lr=log:1e-3:1", "a range is log:LOW:HIGH:COUNT"),
        ("lr=linear:0:1:1e9", "has 1,000,000,000 values"),
        ("lr=linear:0:1:2.5", "2.5 is no number of values"),
        ("lr=linear:0:inf:3", "'inf' is not finite"),
        ("lr=linear:nan:1:3", "'nan' is not finite"),
        ("lr=random:log:0:1", "begins above 0"),
        ("lr=random:1:0", "1 is not below 0"),
        ("lr=random:", "has an empty value"),
        ("lr=" + "1," * 20_000 + "1", "lr has 20,001 values, but at most 10,000 run"),
    ],
)
def test_what_is_no_axis_is_refused_in_a_line(text, words):
    with pytest.raises(SweepError) as caught:
        parse_axis(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@given(st.text(max_size=40))
def test_no_text_raises_anything_else(text):
    for words in (text, f"optimizer.lr={text}", f"x=random:{text}", f"x=log:{text}"):
        with contextlib.suppress(SweepError):
            assert isinstance(parse_axis(words), ListedAxis | RandomAxis)
