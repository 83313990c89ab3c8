"""Snapshots with NaN and infinities, against numpy."""

import numpy as np

from gradscribe.engine.run.run import record
from gradscribe.playback.tape import non_finite
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.non_finite import bad_snapshots

HOLES = """
x = param([1.0, 0.0, 4.0])
big = torch.ones(70, 70) * x[0]
a = torch.log(x - 1)
b = (x / 0.0).sum()
c = torch.ones(2, dtype=torch.float64) / torch.zeros(2, dtype=torch.float64)
d = x.sqrt().sum()
d.backward()
"""


def test_bad_numbers_are_found_whatever_their_dtype_and_length():
    index = index_of(record(HOLES))
    snapshots = index.tape.snapshots
    for word in ("nan", "inf"):
        expected = set()
        for number, one in enumerate(snapshots):
            array = one.array()
            counted = one.nan if word == "nan" else one.inf
            if array is not None and array.dtype.kind in "fc":
                counted = (np.isnan(array) if word == "nan" else np.isinf(array)).sum()
            expected |= {number} if counted else set()
        assert bad_snapshots(index, word) == expected
        assert expected


def test_long_lists_of_numbers_are_looked_at_in_portions(monkeypatch):
    whole = bad_snapshots(index_of(record(HOLES)), "inf")
    monkeypatch.setattr(non_finite, "CHUNK_BYTES", 16)
    assert bad_snapshots(index_of(record(HOLES)), "inf") == whole
