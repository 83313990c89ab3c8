"""Rows of trials: which is the best, and what is said where none is."""

import csv
import io

import msgspec
import pytest

from gradscribe.app.training.sweep import rows
from gradscribe.app.training.sweep.axes import parse_axis
from gradscribe.app.training.sweep.rows import TrialRow
from gradscribe.app.training.sweep.trials import Sweep
from gradscribe.engine.protocol import setup as setups

TRIAL = Sweep(setups.parse({}), (parse_axis("optimizer.lr=0.5"),)).trials()[0]


def test_a_row_has_the_losses_of_a_result():
    scores = {"train_loss": 0.25, "val_loss": 0.5}
    given = {"status": "ok", "steps": 7, "loss": 0.3, "scores": scores, "seconds": 1.5}
    found = rows.row(TRIAL, given, "a.setup.json")
    assert (found.loss, found.validation_loss, found.score) == (0.25, 0.5, 0.5)
    assert (found.step, found.seconds, found.setup) == (7, 1.5, "a.setup.json")
    without = rows.row(TRIAL, {"status": "ok", "loss": 0.3})
    assert (without.loss, without.validation_loss, without.score) == (0.3, None, 0.3)


@pytest.mark.parametrize(
    "result",
    [{}, {"status": "well"}, {"status": "ok", "steps": "many"}, {"status": 1}],
)
def test_what_is_no_result_is_no_row(result):
    with pytest.raises(msgspec.ValidationError):
        rows.row(TRIAL, result)


def test_losses_that_are_no_numbers_are_none():
    found = rows.row(
        TRIAL, {"status": "nan", "scores": {"train_loss": None, "val_loss": "inf"}, "problem": 3}
    )
    assert (found.loss, found.validation_loss, found.problem) == (None, None, "")
    assert found.score != found.score


def made(number, status="ok", loss=None, validation=None, **values):
    values = {"optimizer.lr": 0.1 * number, **values}
    return TrialRow(number, values, status, loss=loss, validation_loss=validation)


def test_the_best_has_the_lowest_validation_loss_and_ended_well():
    given = [
        made(1, loss=0.0, validation=3.0),
        made(2, loss=9.0, validation=1.0),
        made(3, "nan", loss=0.0, validation=0.0),
        made(4, validation=1.0),
        made(5, "waiting"),
    ]
    assert rows.best(given).number == 2
    assert [row.number for row in rows.ranked(given)] == [2, 4, 1, 3, 5]
    assert rows.best([]) is None
    assert rows.best(given[2:3]) is None


def test_a_line_says_that_all_diverged_or_what_failed_first():
    diverged = [made(2, "nan"), made(1, "nan")]
    assert rows.failure_line(diverged) == (
        "all 2 trials diverged, their loss became NaN: the lowest learning rate was 0.1, try less"
    )
    failed = [made(1, "nan"), msgspec.structs.replace(made(2, "refused"), problem="no rows")]
    assert rows.failure_line(failed).endswith("the first that failed, optimizer.lr 0.2: no rows")
    assert rows.failure_line([made(1, "nan"), made(2, loss=1.0)]) == ""
    assert rows.failure_line([]) == ""


def test_a_table_for_other_programs_is_exact_to_the_bit():
    given = [made(1, loss=0.1 + 0.2, validation=1 / 3, name="a,b"), made(2, "nan", name=[1, 2])]
    found = [*csv.DictReader(io.StringIO(rows.to_csv(given).decode()))]
    assert float(found[0]["loss"]) == 0.1 + 0.2
    assert float(found[0]["validation_loss"]) == 1 / 3
    assert [row["name"] for row in found] == ["a,b", "[1, 2]"]
    assert (found[1]["loss"], found[1]["status"]) == ("", "nan")
