import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.widgets.plots.chunked_columns import ChunkedColumns


class Small(ChunkedColumns):
    CHUNK = 8


def columns(numbers):
    return np.array([numbers], np.float64)


@given(
    st.lists(
        st.tuples(st.sampled_from(["write", "cut", "share"]), st.floats(0, 1), st.integers(0, 30)),
        max_size=12,
    )
)
def test_they_hold_what_a_plain_list_would(doings):
    rows, plain, others, number = Small(np.float64), [], [], 0
    for what, share, count in doings:
        at = round(share * len(plain))
        if what == "share":
            others.append((rows.shared(), plain.copy()))
            continue
        new = []
        if what == "write":
            new = [float(number + one) for one in range(count)]
            number += count
            rows.write(at, columns(new))
        else:
            rows.cut(at)
        plain = plain[:at] + new
    for one, told in [*others, (rows, plain)]:
        assert one.part(0, len(told))[0].tolist() == told
        for every in (2, 3, 11):
            assert one.part(1, len(told), every)[0].tolist() == told[1::every]
        places = np.arange(0, len(told), 3)
        assert one.at(places)[0].tolist() == told[::3]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 16, 30])
def test_how_many_are_less_is_what_a_search_through_all_finds(size):
    rows, rising = Small(np.float64), np.arange(30.0) ** 2
    rows.write(0, rising[np.newaxis])
    for number in np.arange(-1, 950, 0.5):
        assert rows.index(number, size) == np.searchsorted(rising[:size], number)
