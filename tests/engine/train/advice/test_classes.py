"""Classes with one example, and labels that mean the same, are named; ordinary ones are not."""

import pytest

from tests.engine.train.advice.asked import at_start, table, words

X = [i / 10 for i in range(40)]


def about(path, labels, **setup):
    data = {**table(path, {"x": X[: len(labels)], "kind": labels}), "classes": True}
    return at_start("classes", data=data, **setup)


def test_a_class_with_one_example_is_named(tmp_path):
    found = words(about(tmp_path, ["a"] * 39 + ["b"], shuffle=False))
    assert found == "Class 'b' has one example of 40: it is never trained on"
    found = words(about(tmp_path, ["b"] + ["a"] * 39, shuffle=False))
    assert found == "Class 'b' has one example of 40: it is trained on, never validated"


def test_several_such_classes_are_named_together(tmp_path):
    found = words(about(tmp_path, ["a"] * 35 + list("bcdef")))
    assert found.startswith("Classes 'b', 'c', 'd' and 2 more have one example each")


def test_a_class_that_is_only_validated_is_named(tmp_path):
    found = about(tmp_path, ["a"] * 34 + ["b"] * 6, shuffle=False)
    assert words(found) == "Class 'b' has no example among the rows that are trained on"
    assert found[0].place == "train"


@pytest.mark.parametrize("labels", [["a", "b"] * 20, ["a"] * 30 + ["b"] * 10])
def test_classes_with_examples_are_left_alone(tmp_path, labels):
    assert about(tmp_path, labels) == []


def test_a_single_class_is_nothing_to_tell_apart(tmp_path):
    assert words(about(tmp_path, ["a"] * 20)).startswith("Every row is of class 'a'")


def test_names_of_rows_are_no_classes(tmp_path):
    found = words(about(tmp_path, [f"house {i}" for i in range(40)]))
    assert found.startswith("'kind' has 40 different labels in 40 rows")


def test_labels_that_differ_in_writing_are_listed(tmp_path):
    labels = ["Iris setosa", "iris-setosa", "IRIS_SETOSA", "virginica"] * 5
    found = words(about(tmp_path, labels))
    assert found.startswith("4 classes: IRIS_SETOSA 5, Iris setosa 5, iris-setosa 5, virginica 5.")
    both = "'IRIS_SETOSA' and 'Iris setosa' and 'iris-setosa' differ only in how they are written"
    assert found.endswith(both)


def test_words_that_say_the_same_are_listed(tmp_path):
    found = words(about(tmp_path, ["True", "yes", "no", "False"] * 5))
    assert "'True' and 'yes' mean the same; 'False' and 'no' mean the same" in found


@pytest.mark.parametrize(
    "labels",
    [["yes", "no"], ["True", "False"], ["on", "off", "no answer"], ["no", "off", "low", "high"],
     ["café", "cafe"], ["1", "2", "10"], ["a", "b", "ab"], ["+", "*", "_"]],
    ids=str,
)  # fmt: skip
def test_different_labels_are_left_alone(tmp_path, labels):
    assert about(tmp_path, labels * 5) == []


@pytest.mark.parametrize("data", ["moons", "spirals", "gaussians", "digits", "circles", "sine"])
def test_the_data_sets_of_the_program_have_ordinary_classes(data):
    assert at_start("classes", data=data) == []
