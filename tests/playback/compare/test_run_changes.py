"""Changes from one run to the next."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.compare import run_changes as changes
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.compare.run_changes import ProgramRun

BASE = "x = param(2.0)\ny = x * 3\nz = y ** 2\nprint(z.item())\nz.backward()"


def run(source, seed=0, device="cpu"):
    return ProgramRun(source, seed, device, record(source))


def between(left, right):
    before, after = run(left), run(right)
    return changes.run_changes(before, after, Comparison(before.tape, after.tape))


def test_changes_stand_in_the_order_in_which_the_program_runs():
    found = between(BASE, BASE.replace("x * 3", "x * 4"))
    assert [one.at for one in found] == sorted(one.at for one in found)
    assert [(one.kind, one.name) for one in found if one.kind != "gradient"] == [
        ("setting", "y"),
        ("value", "y"),
        ("value", "z"),
        ("print", ""),
    ]
    # (3x)² = 36 and (4x)² = 64 at x = 2; the slopes are 18x = 36 and 32x = 64.
    texts = {one.name: one.words for one in found if one.kind == "gradient"}
    assert texts["x"] == "36.0000 → 64.0000"
    assert next(one.words for one in found if one.kind == "print") == "36.0 → 64.0"
    assert next(one.words for one in found if one.name == "z") == "36.0000 → 64.0000"
    # The gradient of z is 1 in both.
    assert changes.count_words(found) == "2 values, 2 gradients and 1 print changed"


def test_only_the_edited_line_differs_by_itself():
    causes = [one for one in between(BASE, BASE.replace("x * 3", "x * 4")) if one.is_cause]
    assert [(one.name, one.line) for one in causes] == [("y", 2)]


def test_the_same_program_changes_nothing():
    found = between(BASE, BASE)
    assert found == []
    assert changes.count_words(found) == "No value, gradient, print or finding changed"


def test_a_moved_program_changes_nothing():
    assert between(BASE, "# moved\n" + BASE) == []


def test_an_error_is_a_change_and_so_is_its_end():
    # A tensor of two elements has no .item().
    broken = BASE.replace("z = y ** 2", "z = y ** torch.ones(2)")
    found = between(BASE, broken)
    assert [one.line for one in found if one.kind == "error"] == [4]
    gone = [one for one in between(broken, BASE) if one.kind == "error"]
    assert [(one.line, "no longer" in one.words) for one in gone] == [(0, True)]


def test_findings_come_last_and_are_new_or_gone():
    sick = "x = param([1.0, 2.0])\ny = x**2\ny.sum().backward()\nprint(y.grad)"
    well = sick.replace("y.grad", "x.grad")
    last = between(well, sick)[-1]
    assert (last.kind, last.words, last.line) == ("finding", "new", 4)
    assert (between(sick, well)[-1].kind, between(sick, well)[-1].words) == ("finding", "gone")


def test_a_print_that_is_gone_is_named():
    found = between(BASE, BASE.replace("print(z.item())\n", ""))
    assert [one.words for one in found if one.kind == "print"] == ["36.0 is gone"]
    found = between("print(1)\nprint(2)", "print(1)\nprint(5)\nprint(2)")
    assert [(one.words, one.line) for one in found] == [("5 is new", 2)]
    assert [one.words for one in between("print(1)\nprint(2)", "x = 1")] == [
        "1 is gone",
        "2 is gone",
    ]


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ("a = 1\nb = 2", "a = 1\nb = 3", "line 2: b = 2 → b = 3"),
        ("a = 1", "a = 1\nb = 3", "line 2: b = 3 added"),
        ("a = 1\nb = 3", "b = 3", "line 1: a = 1 removed"),
        ("a = 1\nb = 2\nc = 3", "a = 5\nb = 2\nc = 6", "2 lines from line 1 on"),
        ("if a:\n    b\n    c", "if a:\n    b\nc", "line 3: indentation"),
        ("a = 1", "a = 1", changes.SAME_PROGRAM),
        ("a = 1\r\nb = 2", "a = 1\nb = 2", changes.SAME_PROGRAM),
    ],
)
def test_the_edit_is_named_in_a_line(left, right, words):
    empty = record("")
    before, after = ProgramRun(left, 0, "cpu", empty), ProgramRun(right, 0, "cpu", empty)
    assert changes.edit_words(before, after) == words


def test_seed_and_device_are_named():
    empty = record("")
    before, after = ProgramRun("a", 0, "cpu", empty), ProgramRun("a", 3, "cuda:0", empty)
    assert changes.edit_words(before, after) == "seed 0 → 3 · device cpu → cuda:0"


def test_lines_of_only_one_program_have_their_numbers():
    left, right = changes.unique_lines("a\nb\nc", "a\nB\nc\nd")
    assert (left, right) == (["2  b"], ["2  B", "4  d"])
    assert changes.edited_lines("a\nb\nc", "a\nB\nc\nd") == (2, 4)
