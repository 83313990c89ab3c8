import math

import pytest

from gradscribe.playback.text import formatting


@pytest.mark.parametrize(
    ("number", "written"),
    [(0.0, "0.0000"), (-6.0, "−6.0000"), (1234.5, "1234.50"), (1e7, "1.00e+07"), (1e-9, "1.00e−09"),
     (math.nan, "NaN"), (math.inf, "∞"), (-math.inf, "−∞"), (None, "—"), (True, "True"), (-3, "−3"),
     (1 + 2j, "1.0000 + 2.0000i")],
)  # fmt: skip
def test_numbers_are_written_one_way(number, written):
    assert formatting.number(number) == written


@pytest.mark.parametrize("digits", [3, 4, 5])
def test_two_digits_of_every_number_are_right(digits):
    for power in range(-9, 7):
        for first in (1.0, 1.4, 2.7, 5.1, 6.0, 9.4):
            number = first * 10.0**power
            written = float(formatting.number(number, digits).replace(formatting.MINUS, "-"))
            assert abs(written - number) <= 0.05 * number


def test_a_small_number_keeps_its_size():
    assert formatting.number(0.0006) == "0.00060"
    assert formatting.number(-0.00006) == "−6.00e−05"
    assert formatting.number(0.0123, 3) == "0.012"


@pytest.mark.parametrize(
    ("count", "written"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1234, "1.2 kB"), (999_960, "1 MB"),
     (3_400_000, "3.4 MB"), (5_000_000_000_000, "5,000 GB")],
)  # fmt: skip
def test_sizes_are_short(count, written):
    assert formatting.size(count) == written


def test_shapes_and_counts_are_words():
    assert formatting.shape((16, 8)) == "16 × 8"
    assert formatting.shape(()) == "scalar"
    assert formatting.count(1, "op") == "1 op"
    assert formatting.count(2_000, "op") == "2,000 ops"


@pytest.mark.parametrize(
    ("nanoseconds", "written"),
    [(0, "0 ns"), (850, "850 ns"), (999.6, "1 µs"), (12_340, "12.3 µs"), (4_100_000, "4.1 ms")],
)
def test_durations_are_in_the_unit_that_keeps_them_short(nanoseconds, written):
    assert formatting.duration(nanoseconds) == written


def test_long_durations_stay_in_seconds():
    assert formatting.duration(2.5e9) == "2.5 s"
    assert formatting.duration(3.6e12) == "3,600 s"


@pytest.mark.parametrize("odd", ["\u202e", "\u2066", "\n", "\t", "\x1b", "\u200f"])
def test_a_name_changes_nothing_around_it(odd):
    assert formatting.file_name(f"a{odd}b.py") == "a\ufffdb.py"
    assert formatting.file_name("été 模型.py") == "été 模型.py"


@pytest.mark.parametrize("length", [3, 8, 16, 24])
def test_a_long_name_keeps_both_ends(length):
    name = "price_of_the_house_in_euros"
    short = formatting.elide_middle(name, length)
    assert len(short) == length
    first, _, last = short.partition("…")
    assert first
    assert last
    assert name.startswith(first)
    assert name.endswith(last)
    assert formatting.elide_middle(name[:length], length) == name[:length]
