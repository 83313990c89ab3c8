"""Texts of cells: numbers, dates and missing values as people write them."""

import pytest

from gradscribe.engine.zoo.tables import cells
from gradscribe.engine.zoo.tables.cells import NumberFormat


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("$1,000.50", "1,000.50"),
        ("US$ 5", "5"),
        ("€ 12", "12"),
        ("12 EUR", "12"),
        ("CHF 5.–", "5"),
        ("5.--", "5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("(3)", "-3"),
        ("(5 %)", "-5"),
        ("7-", "-7"),
        ("−3", "-3"),
        ("+3", "3"),
        ("1’200", "1'200"),
        ("1\u00a0234,5", "1 234,5"),
        ("12 %", "12"),
        ("1e5", "1e5"),
    ],
)
def test_currencies_percent_signs_and_parentheses_are_left_out_of_numbers(text, plain):
    assert cells.bare(text) == plain
    assert cells.is_number(text)


@pytest.mark.parametrize(
    "text",
    ["abc", "", "USA", "1-2", "3 rooms", "2024-01-01", "1,2,3", "1.2.3", "12:30", "--", "1_000",
     "$", "0x10", "e5", "1,23,456", "1''000", "5 5", "- 5-"],
)  # fmt: skip
def test_other_texts_are_no_numbers(text):
    assert not cells.is_number(text)


@pytest.mark.parametrize(
    "text", ["", " ", "?", "NA", "n/a", "N.A.", "null", "-", "—", "#N/A", "nan"]
)
def test_usual_words_for_missing_values(text):
    assert cells.is_missing(text)


@pytest.mark.parametrize("text", ["0", "no", "x", "unknown", "-1", "n"])
def test_words_that_are_values(text):
    assert not cells.is_missing(text)


def guessed(texts, separator=",", known=(), **given):
    return cells.guess_numbers(texts, separator, set(known), **given)


@pytest.mark.parametrize(
    ("texts", "separator", "marks"),
    [
        (["1.5", "2"], ",", (".", "")),
        (["1,5", "2,25"], ";", (",", "")),
        (["157,670", "1,094,169.5"], ",", (".", ",")),
        (["157.669,78", "12"], ";", (",", ".")),
        (["1'200.5", "7"], ";", (".", "'")),
        (["1 234,5", "12"], ";", (",", " ")),
        (["157,670", "94,169"], ",", (".", ",")),
        (["0,125", "0,250"], ",", (",", "")),
        (["0.125", "0.250"], ";", (".", "")),
        (["1,25", "1,375"], ",", (",", "")),
    ],
)
def test_the_marks_in_numbers_are_those_that_fit_every_cell(texts, separator, marks):
    found = guessed(texts, separator)
    assert (found.decimal, found.thousands) == marks
    assert not found.is_ambiguous


def test_other_columns_decide_where_a_column_leaves_it_open():
    texts = ["1.234", "5.678"]
    alone = guessed(texts, ";")
    assert (alone.decimal, alone.is_ambiguous) == (".", True)
    assert guessed(texts, ";", ",") == NumberFormat(",", ".")
    assert guessed(texts, ";", ".") == NumberFormat(".", "")
    assert guessed(texts, ";", decimal=",") == NumberFormat(",", ".")
    assert guessed(texts, ";", thousands=".").decimal == ","
    assert guessed(["12", "7"], ";", ",") == NumberFormat(), "there is no mark to read"
    assert cells.decimal_marks([texts, ["0,5", "1"], ["red", "1,5 x"]]) == {","}


def test_a_column_with_few_numbers_is_none():
    assert guessed(["1", "red", "blue"]) is None
    assert guessed([]) is None
    assert guessed(["1", "2", "x"]) == NumberFormat()


def test_percent_and_currency_are_noticed():
    assert guessed(["0%", "12 %"]).percent
    assert guessed(["$5", "6"]).currency
    plain = guessed(["5", "6"])
    assert not plain.percent
    assert not plain.currency


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["2024-01-31", "2024-02-01"], "%Y-%m-%d"),
        (["31.01.2024", "1.2.2024"], "%d.%m.%Y"),
        (["01/31/2024", "02/01/2024"], "%m/%d/%Y"),
        (["31/01/2024", "01/02/2024"], "%d/%m/%Y"),
        (["2024-01-31 10:30", "2024-02-01 23:59"], "%Y-%m-%d %H:%M"),
        (["2024-01-31T10:30:05Z"], "%Y-%m-%dT%H:%M:%S%z"),
        (["2024-01-31 10:30:05+01:00"], "%Y-%m-%d %H:%M:%S%z"),
        (["Jan 2024", "Feb 2024"], "%b %Y"),
        (["3 Mar 2024", "12 Dec 2023"], "%d %b %Y"),
        (["March 3, 2024"], "%B %d, %Y"),
        (["1/2/2024 3:30 PM"], "%m/%d/%Y %I:%M %p"),
    ],
)
def test_formats_of_dates(texts, form):
    assert cells.guess_dates(texts, day_first=False) == form


def test_days_come_first_where_commas_are_decimal_marks():
    texts = ["1/2/2024", "3/4/2024"]
    assert cells.guess_dates(texts, day_first=True) == "%d/%m/%Y"
    assert cells.guess_dates(texts, day_first=False) == "%m/%d/%Y"
    assert cells.is_ambiguous_date(texts, "%m/%d/%Y")
    assert not cells.is_ambiguous_date([*texts, "1/31/2024"], "%m/%d/%Y")
    assert not cells.is_ambiguous_date(["2024-01-02"], "%Y-%m-%d")


@pytest.mark.parametrize("texts", [["red", "blue"], ["1-2", "3-4"], ["10:30"], [], ["1.5", "2.5"]])
def test_texts_that_are_no_dates(texts):
    assert cells.guess_dates(texts, day_first=False) == ""
