"""The spread over time is in session files and in recovery, and comes back."""

import msgspec
import numpy as np
import pytest

from gradscribe.app.files import checksummed
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.saving import session_file
from gradscribe.app.training.saving.session_reader import read_session
from gradscribe.app.training.saving.session_store import capture_run
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training.replies import QUANTILES
from gradscribe.widgets.plots.spread_table import SpreadTable
from tests.app.training.saving.test_session_store import make, save, trained  # noqa: F401

MANY = len(QUANTILES)


def table(count, rows=3):
    rng = np.random.default_rng(count)
    quantiles = np.sort(rng.normal(size=(count, rows, MANY)), axis=2).astype(np.float32)
    quantiles[0, 0] = np.nan
    return SpreadTable.of(np.arange(count), quantiles, np.full((count, rows, 3), (9, 1, 2)))


def equal(one, other):
    pairs = zip(one.arrays(), other.arrays(), strict=True)
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def seen_training(session, link, steps=30):
    """Train while the engine sends the spread."""
    trained(session, link, 0)
    session.controller.watch([messages.ViewRequest("spread", 0)])
    for _ in range(steps):
        session.controller.advance(1)
        link.work()
    return session.run


def test_it_comes_back_with_the_session_and_goes_on(make, tmp_path):  # noqa: F811
    session, link, saving = make()
    run = seen_training(session, link)
    assert len(run.spread) > 5
    save(saving, tmp_path / "a.gradscribe")
    other, other_link, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert equal(other.run.spread, run.spread)
    before = other.run.spread.last
    other.controller.watch([messages.ViewRequest("spread", 0)])
    other.controller.advance(5)
    other_link.work()
    assert other.run.spread.last > before
    assert other.run.spread.counts(0)[0] > 0


def test_a_state_that_is_older_than_the_table_takes_its_part(make):  # noqa: F811
    session, link, _ = make()
    run = seen_training(session, link)
    captured = capture_run(session, run, 20, b"")
    assert captured.spread.last <= 20
    assert len(run.spread) > len(captured.spread) > 0


def test_a_long_one_is_thinned_to_a_bounded_size():
    long = table(20_000, 10)
    kept = session_file.to_session_spread(long)
    assert len(kept.quantiles) <= 4 * session_file.MOST_QUANTILES
    steps, quantiles = session_file.spread_table(kept).rows(4)
    assert steps[0] == 0
    assert len(steps) > 1000
    assert np.array_equal(quantiles, long.rows(4)[1][steps])
    less = session_file.to_session_spread(long, 1 << 16)
    assert len(less.quantiles) <= 4 << 16


def put(path, spread):
    """Write a session whose only run has these fields as its spread."""
    row = msgspec.to_builtins(session_file.SessionRun("a", 0, Setup(), 3, 3, {}))
    row = {**row, "data": b"", "spread": spread}
    if spread is None:
        del row["spread"]
    room = msgspec.to_builtins(session_file.TrainingSessionData(Setup(), (), 0))
    path.write_bytes(checksummed.wrap(msgspec.msgpack.encode({**room, "runs": [row]})))
    return path


def fields(spread=None, **changed):
    kept = spread or session_file.to_session_spread(table(5))
    return msgspec.structs.asdict(kept) | changed


def test_older_files_and_other_quantiles_have_none(tmp_path):
    found = read_session(put(tmp_path / "old.gradscribe", None))
    assert len(found.spreads[0]) == 0
    seven = {"quantiles": bytes(4 * 5 * 3 * 7), "shares": [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]}
    found = read_session(put(tmp_path / "seven.gradscribe", fields(**seven)))
    assert len(found.spreads[0]) == 0
    found = read_session(put(tmp_path / "right.gradscribe", fields()))
    assert equal(found.spreads[0], table(5))


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": b""},
        {"steps": b"1"},
        {"steps": np.array([3, 2, 1, 0, 0]).tobytes()},
        {"rows": 0},
        {"rows": -1},
        {"rows": 1 << 62},
        {"quantiles": b""},
        {"counts": bytes(7)},
        {"shares": [0.5]},
        {"quantiles": bytes(session_file.MOST_SPREAD_BYTES + 4)},
        {"steps": "words"},
    ],
    # The bytes themselves would be names of many megabytes.
    ids=[
        "no steps",
        "an odd step",
        "falling steps",
        "no rows",
        "fewer rows than none",
        "too many rows",
        "no quantiles",
        "odd counts",
        "one share",
        "long quantiles",
        "words",
    ],
)
def test_a_damaged_one_is_refused_in_words(tmp_path, changed):
    path = put(tmp_path / "bad.gradscribe", fields(**changed))
    with pytest.raises(Refused, match="not a complete session file"):
        read_session(path)
