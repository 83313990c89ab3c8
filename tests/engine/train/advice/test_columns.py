"""Columns that say nothing, say the same twice, or say the target; others are left alone."""

import numpy as np
import pytest

from tests.engine.train.advice.asked import at_start, table, words

RNG = np.random.default_rng(0)
A = RNG.normal(size=30).round(3)
B = RNG.normal(size=30).round(3)
Y = (A - 2 * B + RNG.normal(size=30) / 10).round(3)
KIND = RNG.integers(0, 3, 30)


def about(path, columns, **data):
    return at_start("columns", data={**table(path, columns), **data}, model="linear")


def test_a_constant_column_can_be_left_out(tmp_path):
    (one,) = about(tmp_path, {"a": A, "unit": [7] * 30, "y": Y})
    assert one.words == "Column 'unit' is 7 in every row: nothing can be learned from it"
    assert (one.place, one.button) == ("data.inputs", "Leave out unit")
    assert one.change == {"data.inputs": ["a"]}


def test_several_constant_columns_are_left_out_at_once(tmp_path):
    columns = {"a": A, **{f"c{i}": [i] * 30 for i in range(5)}, "y": Y}
    (one,) = about(tmp_path, columns)
    assert one.words.startswith("Columns 'c0', 'c1', 'c2' and 2 more are the same in every row")
    assert one.change == {"data.inputs": ["a"]}


@pytest.mark.parametrize("other", [{"b": B}, {"b": [7] * 29 + [8]}])
def test_columns_that_vary_are_left_alone(tmp_path, other):
    assert about(tmp_path, {"a": A, **other, "y": Y}) == []


def test_the_only_column_is_not_left_out(tmp_path):
    assert all(not one.button for one in about(tmp_path, {"a": [7] * 30, "y": Y}))


def test_a_column_twice_is_said_once(tmp_path):
    (one,) = about(tmp_path, {"a": A, "b": B, "again": A, "y": Y})
    assert one.words == "Column 'again' is equal to 'a' in every row: it adds nothing"
    assert one.change == {"data.inputs": ["a", "b"]}


def test_a_column_in_other_units_is_the_same(tmp_path):
    fahrenheit = [float(f"{1.8 * a + 32:.6f}") for a in A]
    found = words(about(tmp_path, {"celsius": A, "b": B, "fahrenheit": fahrenheit, "y": Y}))
    assert found.startswith("Column 'fahrenheit' is 'celsius' times 1.8 plus 32 in every row")


@pytest.mark.parametrize(
    "other",
    [
        A + RNG.normal(size=30) * 1e-3,
        (1.8 * A + 32).round(2),
        np.square(A),
        np.where(np.arange(30) < 29, A, 5),
    ],
    ids=["noise", "rounded", "square", "one row"],
)
def test_a_column_that_is_nearly_another_is_left_alone(tmp_path, other):
    assert about(tmp_path, {"a": A, "b": B, "other": other, "y": Y}) == []


def test_columns_of_two_values_are_no_line_of_each_other(tmp_path):
    yes = RNG.integers(0, 2, 30)
    assert about(tmp_path, {"yes": yes, "no": 1 - yes, "y": Y}) == []


def test_a_small_table_may_agree_by_chance(tmp_path):
    assert about(tmp_path, {"a": [0, 1, 0], "b": [0, 1, 0], "c": [1, 1, 1], "y": [1, 2, 3]}) == []


def test_the_target_among_the_inputs_is_said(tmp_path):
    (one,) = about(tmp_path, {"a": A, "y": Y}, inputs=["a", "y"])
    assert one.words.startswith("The target 'y' is among the inputs")
    assert one.change == {"data.inputs": ["a"]}


def test_a_copy_of_the_target_is_said(tmp_path):
    found = words(about(tmp_path, {"a": A, "copy": Y, "y": Y}))
    assert found.startswith("Column 'copy' holds the target 'y' under another name")


def test_a_number_for_each_class_is_the_target(tmp_path):
    labels = [["cat", "dog", "owl"][kind] for kind in KIND]
    columns = {"a": A, "code": KIND * 10 + 3, "animal": labels}
    found = words(about(tmp_path, columns, classes=True))
    assert found.startswith("Column 'code' holds the target 'animal' under another name")
    columns["code"] = np.where(np.arange(30) == 17, 99, columns["code"])
    assert about(tmp_path, columns, classes=True) == []


def test_a_line_without_noise_is_no_copy_of_its_target(tmp_path):
    x = np.arange(30) / 10
    assert about(tmp_path, {"x": x, "y": 2 * x + 1}) == []


def test_with_features_nothing_is_left_out_for_the_user(tmp_path):
    data = table(tmp_path, {"a": A, "unit": [7] * 30, "b": B, "y": Y})
    (one,) = at_start("columns", data=data, model="linear", features=["x1", "x3^2"])
    assert (one.button, one.change) == ("", {})


def test_categories_are_named_by_their_column(tmp_path):
    words = [("red", "blue", "green")[k] for k in KIND]
    columns = {"a": A, "kind": words, "unit": ["m"] * 30, "again": A, "y": Y}
    constant, again = about(tmp_path, columns)
    assert constant.words.startswith("Column 'unit' is ")
    assert constant.change == {"data.inputs": ["a", "kind", "again"]}
    assert again.change == {"data.inputs": ["a", "kind", "unit"]}


def test_one_of_several_targets_among_the_inputs_is_named(tmp_path):
    data = {"inputs": ["a", "b"], "target": ["b", "y"]}
    (one,) = about(tmp_path, {"a": A, "b": B, "y": Y}, **data)
    assert one.words.startswith("The target 'b' is among the inputs")


WORDS = [["cat", "dog", "owl"][kind] for kind in KIND]


def test_a_column_of_texts_that_is_constant_can_be_left_out(tmp_path):
    (one,) = about(tmp_path, {"a": A, "animal": WORDS, "land": ["here"] * 30, "y": Y})
    assert one.words == "Column 'land' is the same in every row: nothing can be learned from it"
    assert one.change == {"data.inputs": ["a", "animal"]}


def test_texts_for_each_class_are_the_target(tmp_path):
    nouns = [{"cat": "tabby", "dog": "hound", "owl": "barn"}[word] for word in WORDS]
    found = about(tmp_path, {"a": A, "race": nouns, "animal": WORDS}, classes=True)
    assert words(found).startswith("Column 'race' holds the target 'animal' under another name")
    mixed = [*nouns[:-1], "hound" if nouns[-1] != "hound" else "barn"]
    assert about(tmp_path, {"a": A, "race": mixed, "animal": WORDS}, classes=True) == []


def test_marks_of_two_categories_are_no_copies_of_each_other(tmp_path):
    assert about(tmp_path, {"a": A, "air": ["yes", "no", "no"] * 10, "y": Y}) == []
