"""Output of a program is stored line by line, up to a limit."""

import pytest

from gradscribe.engine.protocol.safe_text import line_count
from gradscribe.engine.run import streams
from gradscribe.engine.run.run import record
from gradscribe.engine.run.streams import StdoutCapture


@pytest.fixture
def lines():
    return []


@pytest.fixture
def output(lines):
    return StdoutCapture(lines.append, None)


def test_lines_are_told_as_they_are_finished(output, lines):
    for piece in ("a", "b\nc", "\n\n", "d"):
        assert output.write(piece) == len(piece)
    assert lines == ["ab", "c", ""]
    assert output.text() == "ab\nc\n\nd"


def test_bytes_may_be_written_below_the_text_a_character_in_two_pieces(output):
    data = "né\n".encode()
    assert output.buffer.write(data[:2]) + output.buffer.write(data[2:]) == 4
    assert output.text() == "né\n"
    assert record("import sys\nsys.stdout.buffer.write(b'ok')\n").stdout == "ok"


def test_past_its_limit_output_is_cut_and_that_is_said(monkeypatch):
    monkeypatch.setattr(streams, "OUTPUT_LIMIT", 10)
    tape = record("print('x' * 8)\nprint('y' * 8)\nprint('z')\nt = tensor(1.0) * 2")
    assert tape.stdout == "x" * 8 + "\ny"
    assert tape.stderr.startswith("Output past ")
    assert (tape.status, len(tape.ops)) == ("ok", 1)


def test_what_threads_print_after_the_end_is_not_heard(output):
    output.is_open = False
    output.write("late")
    assert (output.text(), output.cut) == ("", False)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("1\r2\r3", 3), ("\n\n", 2)],
)
def test_lines_are_counted_as_they_are_shown(text, lines):
    assert line_count(text) == lines
