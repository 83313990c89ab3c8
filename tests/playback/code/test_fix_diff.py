"""A program beside its mended version."""

import torch

from gradscribe.engine.run import run
from gradscribe.playback.code import fix_diff

SICK = "x = param([3.0, 4.0])\nfor i in range(2):\n    loss = (x**2).sum()\n    loss.backward()\n"
WELL = SICK.replace("    loss.b", "    x.grad = None\n    loss.b")


def test_changes_are_the_lines_of_a_diff():
    assert fix_diff.changed_lines("a\r\nb\r\nc", "a\nx\nc") == ["- b", "+ x"]
    assert fix_diff.changed_lines("a", "") == []


def test_rows_tell_what_differs_by_torch_s_own_numbers():
    rows = {
        row.name: (row.before, row.after)
        for row in fix_diff.compare_runs(*map(run.record, (SICK, WELL)))
    }
    grad = torch.tensor([6.0, 8.0])
    assert rows == {"x.grad": (f"size {2 * grad.norm():.4f}", f"size {grad.norm():.4f}")}


def test_a_program_that_failed_says_so():
    broken = run.record("x = param([1.0, 2.0])\n(x * 2).backward()")
    rows = fix_diff.compare_runs(
        broken, run.record("x = param([1.0, 2.0])\n(x * 2).sum().backward()")
    )
    assert rows[0] == fix_diff.FixRow("run", "RuntimeError", "ran to its end")
    assert rows[-1] == fix_diff.FixRow("findings", "1 finding", "0 findings")


def test_two_runs_that_are_alike_have_one_row():
    tape = run.record(WELL)
    assert fix_diff.compare_runs(tape, tape) == [
        fix_diff.FixRow("run", "ran to its end", "ran to its end")
    ]


def test_a_leaf_without_a_gradient_is_none_and_a_scalar_is_its_number():
    before = run.record("w = param(2.0)\nv = param(1.0)\n(w.detach() * v).backward()")
    after = run.record("w = param(2.0)\nv = param(1.0)\n(w * v).backward()")
    assert ("w.grad", "none", "1.0000") in fix_diff.compare_runs(before, after)
