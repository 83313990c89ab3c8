"""Tapes as tables for a terminal."""

import pytest

from gradscribe.app.cli import report
from gradscribe.engine.protocol.tape import Place, Problem, Tape


@pytest.fixture(scope="module")
def two_paths():
    from gradscribe.engine.run import run

    return run.record("x = param(2.0)\ny = param(3.0)\nloss = (x*y + x)**2\nloss.backward()")


def test_leaves_are_listed_with_value_and_gradient(two_paths):
    rows = [line.split() for line in report.leaf_table(two_paths).splitlines()]
    assert rows == [
        ["leaf", "value", "gradient"],
        ["x", "2.0000", "64.0000"],
        ["y", "3.0000", "32.0000"],
    ]


def test_a_leaf_without_gradient_says_none():
    from gradscribe.engine.run import run

    assert report.leaf_table(run.record("t = torch.ones(2)")).split()[-1] == "none"


def test_a_tape_without_leaves_has_no_table():
    assert report.leaf_table(Tape()) == ""


def test_values_list_the_results_too(two_paths):
    assert ["loss", "64.0000", "1.0000"] in [
        line.split() for line in report.value_table(two_paths).splitlines()
    ]


def test_counts_agree_in_number(two_paths):
    assert report.counts_line(two_paths).startswith("3 ops, 3 backward nodes, ")
    assert report.counts_line(Tape()) == "0 ops, 0 backward nodes, 0 events"


def test_columns_are_aligned_and_lines_have_no_tail():
    lines = report.table(("a", "b"), [("long name", "1"), ("x", "22")]).splitlines()
    assert lines == ["a           b", "long name   1", "x           22"]


def test_a_complaint_names_file_line_and_column_as_editors_do():
    problem = Problem("NameError", "no x", "Did you mean y?", Place(3, 4, 3, 5))
    assert report.error_text(problem, "a.py") == "a.py:3:5: NameError: no x\n  Did you mean y?"
    assert report.error_text(Problem("Crash", ""), "a.py") == "a.py: Crash"


def test_no_command_reaches_a_terminal():
    told = "\x1b]0;title\x07 \x9b2J a\tb\r\n\x00 été"
    shown = report.strip_controls(told)
    assert len(shown) == len(told)
    assert shown == "\ufffd]0;title\ufffd \ufffd2J a\tb\r\n\ufffd été"
