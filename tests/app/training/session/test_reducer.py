import tracemalloc

import numpy as np

from gradscribe.app.training.session.reducer import apply_series, copy_curves_to_fork, retained_past
from gradscribe.app.training.session.state import THINNED_SIZE, RunState
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training import SeriesChunk, TrainState
from gradscribe.widgets.plots.step_series import StepSeries as Curve
from tests.app.training.fakes import COLUMNS, array, begun, series


def run():
    made = RunState(1, Setup(), "run")
    made.begun = begun(1, Setup())
    return made


def test_every_column_becomes_a_curve():
    one = run()
    apply_series(one, series(1, 0, 30))
    assert set(one.series) == {"loss", "val", "lr", "grad:0.weight", "ratio:0.weight"}
    assert one.furthest == 29


def test_curves_per_parameter_stay_small_however_long_the_run():
    one = run()
    for start in range(0, 3 * THINNED_SIZE, 4096):
        apply_series(one, series(1, start, start + 4096))
    assert len(one.curve("loss")) == 3 * THINNED_SIZE - 1
    assert len(one.curve("grad:0.weight")) <= THINNED_SIZE


def test_a_branch_begins_with_the_curves_of_its_source():
    source, branch = run(), RunState(2, Setup(), "branch")
    apply_series(source, series(1, 0, 30))
    source.state = TrainState(1, "paused", 9)
    copy_curves_to_fork(branch, source, source.step)
    assert branch.curve("loss").last == 9
    first = source.curve("loss").numbers(0, 9)
    np.testing.assert_array_equal(branch.curve("loss").numbers(), first)


def test_a_loss_that_is_nan_is_kept_but_not_that_of_step_0():
    one = run()
    values = np.full((3, len(COLUMNS)), np.nan)
    message = SeriesChunk(1, array([0, 1, 2], "<i8"), array(values, "<f8"))
    apply_series(one, message)
    assert one.curve("loss").steps(0, 2).tolist() == [1, 2]
    assert not len(one.curve("val"))


def test_what_comes_before_its_run_has_begun_is_no_curve():
    one = RunState(1, Setup(), "run")
    apply_series(one, series(1, 0, 30))
    assert not one.series


def test_a_branch_of_a_long_run_takes_no_memory_for_what_both_hold():
    source, branch = run(), RunState(2, Setup(), "branch")
    count = 1_000_000
    source.curve("loss").extend(np.arange(1, count + 1), np.ones(count, np.float32))
    source.state = TrainState(1, "paused", count - 10)
    tracemalloc.start()
    try:
        copy_curves_to_fork(branch, source, source.step)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert branch.curve("loss").last == count - 10


def back_at_9():
    one = run()
    apply_series(one, series(1, 0, 30))
    apply_series(one, series(1, 10, 10, after=9))
    return one


def test_what_a_run_was_before_it_went_back_is_still_known():
    one = back_at_9()
    assert (one.curve("loss").last, one.whole("loss").last) == (9, 29)
    np.testing.assert_allclose(one.whole("loss").numbers(), np.exp(-np.arange(1, 30) / 100))
    assert one.whole("val").last == 20
    apply_series(one, series(1, 5, 5, after=4))
    assert (one.curve("loss").last, one.whole("loss").last) == (4, 29)


def test_a_run_that_goes_the_same_way_again_is_known_as_far_as_it_went():
    one = back_at_9()
    apply_series(one, series(1, 10, 20))
    assert one.whole("loss").last == 29
    apply_series(one, series(1, 20, 40))
    assert one.whole("loss") is one.curve("loss")
    assert one.whole("loss").last == 39


def test_a_run_that_goes_another_way_is_known_by_that_alone():
    one = back_at_9()
    other = series(1, 10, 12)
    values = other.values.array() * 2
    apply_series(one, SeriesChunk(1, other.steps, array(values, "<f8")))
    assert one.whole("loss") is one.curve("loss")
    assert one.whole("val") is one.curve("val")
    assert one.whole("loss").last == 11


def curve(*steps):
    made = Curve()
    made.extend(steps, [0.5] * len(steps))
    return made


def test_curves_that_were_set_aside_hold_only_where_they_go_on():
    ahead = {"val": curve(5, 10, 15), "loss": curve(*range(1, 16)), "lr": curve(20)}
    assert set(retained_past(ahead, 9)) == {"loss", "val", "lr"}
    assert retained_past(ahead, 15) == {}
    assert retained_past({"val": curve(5, 10)}, 3) == {}
    assert retained_past({"loss": curve()}, 0) == {}
