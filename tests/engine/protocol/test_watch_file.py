"""The file of a watched loop: cut and spoilt files are read as far as they are whole."""

import random
import struct

import numpy as np
import pytest

from gradscribe.engine.protocol import watch_file
from gradscribe.engine.protocol.watch_file import (
    UnreadableWatch,
    WatchEvent,
    WatchHeader,
    WatchLosses,
    WatchSample,
)


def row(*numbers):
    return np.array(numbers, "<f4").tobytes()


RECORDS = [
    WatchHeader("Net", "SGD", (("w", (2, 3)), ("b", ())), ("linear",), "train.py", "2.11", 7.5),
    WatchLosses(struct.pack("<2q", 1, 2), struct.pack("<2d", 0.5, float("inf")), 3),
    WatchSample(2, 0.1, row(1, 2), row(3, 4), row(5, float("nan")), row(6), row(7)),
    WatchEvent("tape", 3, "Step 3 as a tape", "run.step-3.tape"),
]
FILE = watch_file.MAGIC + b"".join(map(watch_file.encode, RECORDS))
BEGIN = len(watch_file.MAGIC)


def test_records_come_back_as_they_were():
    assert watch_file.check_begin(FILE) == BEGIN
    assert watch_file.decode(FILE[BEGIN:]) == (RECORDS, len(FILE) - BEGIN)


def test_a_file_that_is_cut_is_read_as_far_as_it_is_whole():
    ends = [BEGIN]
    for record in RECORDS:
        ends.append(ends[-1] + len(watch_file.encode(record)))
    for size in range(len(FILE) + 1):
        if size < BEGIN:
            assert watch_file.check_begin(FILE[:size]) == 0
            continue
        whole = sum(end <= size for end in ends[1:])
        found, used = watch_file.decode(FILE[BEGIN:size])
        assert (found, BEGIN + used) == (RECORDS[:whole], ends[whole])


def as_far_as_it_is_whole(data):
    found = []
    while True:
        try:
            some, used = watch_file.decode(data)
        except UnreadableWatch:
            return found
        if not used:
            return found
        found += some
        data = data[used:]


def test_of_a_spoilt_file_the_records_before_are_read():
    chance = random.Random(0)
    for _ in range(2000):
        at = chance.randrange(BEGIN, len(FILE))
        spoilt = bytearray(FILE)
        spoilt[at] ^= 1 << chance.randrange(8)
        found = as_far_as_it_is_whole(bytes(spoilt[BEGIN:]))
        assert found == RECORDS[: len(found)]
        assert len(found) < len(RECORDS)


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        (b"gradscribe-watch 2\n" + FILE[BEGIN:], "later version"),
        (b"\x80\x04K\x01.", "no watched training loop"),
        (b"gradscribe-session 1 2", "no watched training loop"),
    ],
)
def test_other_files_are_refused_in_a_line(begin, words):
    with pytest.raises(UnreadableWatch, match=words):
        watch_file.check_begin(begin)


def test_a_length_out_of_bounds_is_refused_without_waiting_for_more():
    with pytest.raises(UnreadableWatch, match="spoilt"):
        watch_file.decode(struct.pack("<II", watch_file.MAX_RECORD + 1, 0))
