from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gradscribe.widgets.editor.highlight import LexerState
from gradscribe.widgets.editor.numbers import number_literal
from gradscribe.widgets.editor.numbers.number_literal import NumberLiteral, find_literals


def texts(line, **more):
    return [one.text for one in find_literals(line, **more)]


def only(line):
    (one,) = find_literals(line)
    return one


def moved(line, steps):
    one = only(line)
    return one.moved(one.step * Decimal(str(steps)))


def test_integers_and_floats_are_found_with_their_places():
    assert [(one.start, one.end, one.text) for one in find_literals("x1, x2 = 2.0, 10")] == [
        (9, 12, "2.0"),
        (14, 16, "10"),
    ]


@pytest.mark.parametrize("text", ["1e-300", "1_000", ".5", "1.", "6.8814", "1E+5", "0", "2.5e3"])
def test_every_way_to_write_a_decimal_number_counts(text):
    assert texts(f"f({text})") == [text]


@pytest.mark.parametrize(
    "line",
    [
        *("0x1F", "0b1", "0o7", "3j", "1.5j", "x1", "w_1", "1__0", "1_", "1e", "2abc"),
        *("'1.0'", 'f"{1.0}"', "# 1.0", '"""1.0', "r'2'", "b'3'"),
        "1" * (number_literal.MAX_DIGITS + 1),
    ],
)
def test_everything_else_with_digits_is_left_alone(line):
    assert texts(line) == []


def test_numbers_in_a_string_over_several_lines_are_left_alone():
    assert texts('1.0 """ + 2.0', state=LexerState.DOUBLE) == ["2.0"]


@pytest.mark.parametrize(
    "line",
    ["-3", "f(-3)", "x = -3", "x * -3", "[1][-3]", "return -3", "x if -3", "2 ** -3", "a, -3"],
)
def test_a_minus_before_a_number_belongs_to_it(line):
    assert texts(line)[-1] == "-3"


@pytest.mark.parametrize("line", ["a - 3", "a -3", "a-3", "f(x)-3", "a[0] - 3", "2 - 3", "'a' - 3"])
def test_a_minus_after_an_operand_subtracts(line):
    assert texts(line)[-1] == "3"


def test_a_minus_at_the_start_of_a_line_looks_at_the_line_before():
    assert texts("    -3.0,", before="x = [1.0,") == ["-3.0"]
    assert texts("    -3.0)", before="x = (a") == ["3.0"]


def test_a_minus_before_a_power_is_not_part_of_its_base():
    assert texts("-2**2") == ["2", "2"]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        *(("2.5", "0.1"), ("0.0", "0.1"), ("0.25", "0.01"), ("1", "1"), ("1_000", "1"), ("0", "1")),
        *(("1.", "1"), (".05", "0.01"), ("2.5e-3", "0.1"), ("1e-3", "0.1"), ("100.5", "1")),
    ],
)
def test_the_step_is_the_numbers_own_precision(text, step):
    assert only(text).step == Decimal(step)


def test_a_number_with_many_decimals_moves_by_a_hundredth_of_its_size():
    assert only("6.8814").step == Decimal("0.01")


@pytest.mark.parametrize(
    ("text", "steps", "result"),
    [
        ("2.5", 1, "2.6"),
        ("2.5", -26, "-0.1"),
        ("0.1", 2, "0.3"),
        ("2.50", 1, "2.51"),
        ("6.8814", 1, "6.8914"),
        ("1", 1, "2"),
        ("1", -2, "-1"),
        ("-1", 1, "0"),
        ("1_000", 1, "1_001"),
        ("999_999", 1, "1_000_000"),
        (".5", 1, ".6"),
        (".5", 5, "1.0"),
        ("1.", 1, "2."),
        ("1e-3", 1, "1.1e-3"),
        ("1e-300", 10, "2e-300"),
        ("2.5E+4", 1, "2.6E+4"),
        ("1e-3", -10, "0e-3"),
    ],
)
def test_a_moved_number_keeps_the_way_it_was_written(text, steps, result):
    assert moved(text, steps) == result


def test_a_smaller_step_adds_a_decimal_and_takes_it_away_again():
    assert moved("2.5", 0.1) == "2.51"
    assert moved("2.5", 1.0) == "2.6"


def test_an_integer_stays_one():
    assert moved("3", 0.4) == "3"
    assert moved("3", 1.4) == "4"
    assert moved("1_0_0", 0.4) == "1_0_0"


def test_no_change_is_the_very_same_text():
    for text in ("-0.0", "00", "1_0_0", "1.50e-03", "-  3"):
        assert moved(text, 0) == text


def test_zero_is_never_negative_once_moved():
    assert moved("-0.1", 1) == "0.0"
    assert moved("0.1", -1) == "0.0"
    assert moved("-0.0", 1) == "0.1"


def test_a_negative_base_of_a_power_gets_parentheses():
    base = find_literals("2**2")[0]
    assert base.moved(Decimal(-4)) == "(-2)"
    assert eval(base.moved(Decimal(-4)) + "**2") == 4


def test_the_number_under_a_column_or_just_left_of_it_is_found():
    found = find_literals("f(12, 3)")
    assert [number_literal.literal_covering(found, column) for column in (1, 2, 3, 4, 5, 6)] == [
        *(None, found[0], found[0], found[0], None, found[1])
    ]


@given(
    st.decimals(-1000, 1000, places=3, allow_nan=False).map(lambda d: f"{d:.3f}"),
    st.integers(-5000, 5000),
)
def test_dragging_is_exact_decimal_arithmetic(text, ticks):
    (one,) = find_literals(f"f({text})")
    assume(one.text == text)
    assert Decimal(one.moved(one.step * ticks)) == Decimal(text) + one.step * ticks


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_a_dragged_integer_is_what_python_computes(start, change):
    (one,) = find_literals(f"f({start})")
    assert eval(one.moved(Decimal(change))) == start + change


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-30, 30))
def test_what_is_written_is_a_number_that_can_be_dragged_on(number, ticks):
    found = find_literals(f"f({number!r})")
    assume(found)
    again = find_literals(f"f({found[0].moved(found[0].step * ticks)})")
    assert len(again) == 1
    assert isinstance(again[0], NumberLiteral)
