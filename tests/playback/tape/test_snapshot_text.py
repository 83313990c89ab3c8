import numpy as np
import pytest

from gradscribe.engine.protocol.tape import Arg, Snapshot, Tape
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.text import formatting


def snapshot(numbers, store="<f4"):
    array = np.array(numbers, store)
    return Snapshot(array.shape, "float32", store, array.tobytes())


def test_one_number_is_written_in_full_whatever_its_shape():
    assert snapshot_text.value(snapshot(2.0)) == "2.0000"
    assert snapshot_text.value(snapshot([[2.0]])) == "2.0000"
    assert snapshot_text.value(snapshot(3, "<i8")) == "3"


def test_a_few_numbers_are_listed_without_idle_zeros():
    assert snapshot_text.value(snapshot([1, 2.5, -3])) == "[1, 2.5, −3]"
    assert snapshot_text.value(snapshot([[1, 2], [3, 4]])) == "[[1, 2], [3, 4]]"


def test_small_numbers_of_a_list_can_be_told_apart():
    assert snapshot_text.value(snapshot([0.0006, 0.0014, 0.0])) == "[6e−04, 0.0014, 0]"


def test_many_numbers_are_told_by_shape_and_their_gradient_by_norm():
    many = snapshot(np.full((2, 8), 0.5))
    assert snapshot_text.value(many) == "2 × 8"
    assert snapshot_text.gradient(many) == "∇ 2.0000"


@pytest.mark.parametrize(
    ("before", "after", "store", "moved"),
    [
        ([0.0, 0.0], [300.0, 400.0], "<f2", 500.0),
        ([0.0, 0.0], [3e20, 4e20], "<f4", 5e20),
        ([3, 5], [0, 1], "|u1", 5.0),
        ([True, False], [False, False], "|b1", 1.0),
        ([3 + 4j], [0j], "<c8", 5.0),
    ],
)
def test_a_distance_is_right_in_every_type(before, after, store, moved):
    found = snapshot_text.distance(snapshot(before, store), snapshot(after, store))
    assert found == pytest.approx(moved, rel=1e-6)


def test_there_is_no_distance_from_or_to_a_summary_or_another_shape():
    kept = Snapshot((2,), "float32", norm=12.5)
    assert snapshot_text.distance(kept, snapshot([1.0, 2.0])) is None
    assert snapshot_text.distance(None, snapshot([1.0])) is None
    assert snapshot_text.distance(snapshot([1.0]), snapshot([1.0, 2.0])) is None


def test_a_summary_has_its_norm_from_the_engine():
    kept = Snapshot((1000, 1000), "float32", norm=12.5)
    assert snapshot_text.value(kept) == "1000 × 1000"
    assert snapshot_text.gradient(kept) == "∇ 12.5000"


def test_without_any_numbers_only_the_shape_is_left():
    assert snapshot_text.gradient(Snapshot((9, 9), "float32")) == "9 × 9"
    assert snapshot_text.gradient(snapshot(np.zeros((0, 3)))) == "[]"


def test_nothing_is_written_for_nothing():
    assert snapshot_text.value(None) == ""
    assert snapshot_text.gradient(None) == ""


def test_the_norm_of_complex_numbers_is_real():
    assert snapshot_text.norm(snapshot([3 + 4j], "<c8")) == 5.0


def test_trimming_keeps_what_counts():
    assert [formatting.trim_zeros(x) for x in (3.0, 0.5, -1.25, 1e-9)] == [
        "3",
        "0.5",
        "−1.25",
        "1e−09",
    ]


def test_complex_numbers_lose_their_zeros_on_both_sides():
    assert formatting.trim_zeros(1 + 2j) == "1 + 2i"
    assert formatting.trim_zeros(-0.5 - 0.25j) == "−0.5 − 0.25i"


def test_a_snapshot_of_a_tape_is_written_once():
    many = snapshot(np.full((2, 8), 0.5))
    index = index_of(Tape(snapshots=(snapshot(2.0), many)))
    writer = snapshot_text.cached_texts(index)
    assert writer is snapshot_text.cached_texts(index)
    assert [writer.value(n) for n in (None, 0, 1, 0)] == ["", "2.0000", "2 × 8", "2.0000"]
    assert [writer.gradient(n) for n in (None, 0, 1)] == ["", "2.0000", "∇ 2.0000"]
    assert writer.value(0) is writer.value(0)


@pytest.mark.parametrize(
    ("told", "number", "written"),
    [
        ("-100.11000000000001", -100.11000000000001, "−100.11"),
        ("0.30000000000000004", 0.30000000000000004, "0.3"),
        ("4.123456", 4.123456, "4.123456"),
        ("-1e-05", -1e-05, "−1e−05"),
        ("123456789012345", None, "123456789012345"),
        ("0.6931471805599453", 0.6931471805599453, "0.6931472"),
        ("inf", float("inf"), "inf"),
        ("2", 2.0, "2"),
    ],
)
def test_a_number_is_written_as_typed_unless_it_was_computed(told, number, written):
    assert snapshot_text.literal(Arg(text=told, number=number)) == written
