"""Numbers are read as people of any country write them, or a message says what to type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.lessons.typed import (
    INPUT_HINTS,
    is_readable,
    parse_number,
    parse_shape,
    plain,
    read_numbers,
    unread_remark,
)


@given(st.floats(-1e6, 1e6))
def test_a_number_is_read_as_python_writes_it(number):
    assert parse_number(repr(number)) == number


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("1,5", 1.5),
        ("−1,5", -1.5),
        ("1,234", 1234),
        ("1,234", 1.234),
        ("1.234", 1234),
        ("1.234", 1.234),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1 234,5", 1234.5),
        ("1 234", 1234),
        ("1’234’567", 1234567),
        ("2\u202f000\u202f000", 2000000),
        ("٤٨", 48),
        ("٤٫٥", 4.5),
        ("4٫5", 4.5),
        ("４８", 48),
        ("= 48", 48),
        ("≈48", 48),
        ("50%", 0.5),
        ("3·4", 12),
        ("3⁄4", 0.75),
        ("1,5; 2,5", [1.5, 2.5]),
        ("[1,5; 2,5]", [1.5, 2.5]),
        ("1.5; 2.5", [1.5, 2.5]),
        ("1,5 2,5", [1.5, 2.5]),
        ("1 -2 3", [1, -2, 3]),
        ("[1 2 3]", [1, 2, 3]),
        ("[[1 2] [3 4]]", [[1, 2], [3, 4]]),
        ("0,5, 1,5", [0.5, 1.5]),
        ("1,2,3", [1, 2, 3]),
    ],
)
def test_numbers_are_read_as_they_are_written_in_any_country(typed, number):
    assert number in read_numbers(typed)


@pytest.mark.parametrize(
    ("typed", "number"), [("0.125", 125), ("0,125", 125), ("1.5", 15), ("12,34", 1234)]
)
def test_what_is_no_group_of_three_is_none(typed, number):
    assert number not in read_numbers(typed)


@pytest.mark.parametrize("typed", ["four", "", "2*x", "48 bytes", "?", "1.2.3", "__import__('os')"])
def test_words_are_no_numbers(typed):
    assert read_numbers(typed) == []
    assert not is_readable("number", typed)


@pytest.mark.parametrize(
    ("kind", "typed", "part"),
    [
        ("number", "", "Type a number"),
        ("number", "four", "in digits"),
        ("number", "vier", "in digits"),
        ("number", "48 bytes", "without `bytes`"),
        ("number", "2*x", "numbers for `x`"),
        ("number", "3 * w.grad", "numbers for `w`"),
        ("number", "[1, 2", "brackets do not close"),
        ("number", "2**3", "power"),
        ("number", "2^3", "power"),
        ("number", "???", "guess"),
        ("number", "1" * 300, "longer than 200"),
        ("number", "1..2", "Type a number"),
        ("shape", "(3 + 4", "brackets do not close"),
        ("shape", "(-1, 8)", "below 0"),
        ("shape", "2.5", "whole numbers"),
        ("shape", "three", "in digits"),
        ("shape", "", "Type a shape"),
        ("shape", "?", "guess"),
        ("word", "  ", "Type your answer"),
    ],
)
def test_what_cannot_be_read_is_replied_to_with_what_to_type(kind, typed, part):
    assert not is_readable(kind, typed)
    assert part in unread_remark(kind, typed)


@pytest.mark.parametrize("typed", ["3;4", "3 4", "３，４", "(3; 4)"])
def test_a_shape_has_its_lengths_apart(typed):
    assert parse_shape(plain(typed)) == [3, 4]


@given(st.text(max_size=60), st.sampled_from(sorted(INPUT_HINTS)))
def test_nothing_typed_breaks_the_reader_or_the_remark(typed, kind):
    read_numbers(typed)
    is_readable(kind, typed)
    assert unread_remark(kind, typed)


@given(st.lists(st.floats(-1e6, 1e6).map(lambda n: round(n, 3)), min_size=2, max_size=5))
def test_a_list_with_decimal_commas_is_read_back(numbers):
    assert numbers in read_numbers("; ".join(str(number).replace(".", ",") for number in numbers))
