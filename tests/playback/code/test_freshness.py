"""The part of a run that a changed text would make again."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.code.freshness import fresh_events

SOURCE = """a = param(2.0)
b = a * 3

for i in range(2):
    b = b + 1
c = b.sum()
c.backward()
"""


@pytest.fixture(scope="module")
def tape():
    return record(SOURCE)


def lines_of(tape, source, fresh):
    return {event.line for event in tape.events[:fresh] if event.line}


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (("c = b.sum()", "c = b.sum("), {1, 2, 5}),
        (("c = b.sum()", "c = b.sun()"), {1, 2, 5}),
        (("    b = b + 1", "    b = b +"), {1, 2}),
        (("a * 3", "a * 4"), {1}),
        (("a = param", "a = parm"), set()),
        (("\n\nfor", "\nd = (\nfor"), {1, 2}),
    ],
)
def test_what_ran_before_the_changed_statement_is_fresh(tape, change, lines):
    changed = SOURCE.replace(*change)
    assert lines_of(tape, SOURCE, fresh_events(tape, SOURCE, changed)) == lines


@pytest.mark.parametrize("added", ["", "\n# more\n", "d = c *", "d = c * 2\n", "undefined\n"])
def test_lines_at_the_end_leave_everything_as_it_was(tape, added):
    assert fresh_events(tape, SOURCE, SOURCE + added) == len(tape.events)


@pytest.mark.parametrize(
    ("one", "other"), [("a * 3", "a  *  3  # three"), ("b = a", "# b\n\nb = a"), ("\n\n", "\n")]
)
def test_comments_and_blanks_are_no_change(tape, one, other):
    assert fresh_events(tape, SOURCE, SOURCE.replace(one, other)) == len(tape.events)


def test_a_function_counts_as_far_as_it_was_called_before():
    source = "def f(x):\n    return x * 2\na = param(1.0)\nb = f(a)\nc = b + 1\nd = f(c)\n"
    tape = record(source)
    fresh = fresh_events(tape, source, source.replace("d = f(c)", "d = f(c"))
    assert [tape.ops[e.ref].op for e in tape.events[:fresh] if e.kind == "op"] == ["mul", "add"]
    assert fresh_events(tape, source, source.replace("x * 2", "x * 3")) == 0


def test_what_never_was_python_is_not_fresh(tape):
    assert fresh_events(tape, "a = (", "a = 1") == 0
