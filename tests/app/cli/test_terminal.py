"""Text and bytes come out in the order they were said, and a reader who left is no fault."""

import sys

import pytest

from gradscribe.app.cli import terminal


def test_text_and_bytes_come_out_in_their_order(capfdbinary):
    terminal.say("one ")
    terminal.say(b"two ")
    terminal.say("three é")
    assert capfdbinary.readouterr().out == "one two three é".encode()


class Left:
    """An output whose reader has had enough."""

    def write(self, words):
        raise BrokenPipeError(words)


def test_a_reader_who_left_is_told_apart(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Left())
    with pytest.raises(BrokenPipeError):
        terminal.say("more")


def test_streams_that_are_closed_are_written_nowhere(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    terminal.ensure_streams()
    with sys.stdout, sys.stderr:
        terminal.say("nothing")
        sys.stderr.write("nothing")
