"""Options of a film: sizes and ranges as people write them, and ranges that a tape lacks."""

import pytest

from gradscribe.app.export.film_options import (
    FilmOptions,
    FilmSpan,
    parse_range,
    parse_size,
    size_text,
    span_of,
    step_span,
)
from gradscribe.app.files.documents import Refused
from gradscribe.playback.tape.loops.steps import Steps
from tests.app import fakes, films


@pytest.mark.parametrize(
    ("text", "size"),
    [("1280x720", (1280, 720)), (" 640 × 480 ", (640, 480)), ("640*480", (640, 480))],
)
def test_a_size_is_read_as_people_write_it(text, size):
    assert parse_size(text) == size
    assert parse_size(size_text(size)) == size


def test_no_size_is_that_of_the_graph():
    assert parse_size("fit") is None
    assert parse_size(size_text(None)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("big", "no size"),
        ("", "no size"),
        ("1280", "no size"),
        ("-1280x720", "no size"),
        ("1280x720x3", "no size"),
        ("1280.5x720", "no size"),
        ("100x100", "too small"),
        ("640x0", "too small"),
        ("99999x720", "too large"),
        ("3840x3840", "too large"),
        ("641x480", "640x480"),
        ("٦٤٠x480", "no size"),
    ],
)
def test_a_size_that_no_film_has_is_refused_in_words(text, words):
    with pytest.raises(Refused, match=words):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "ends"),
    [("10-40", (10, 40)), ("10-", (10, None)), ("-40", (None, 40)), (" 3 .. 5 ", (3, 5))],
)
def test_a_range_may_leave_an_end_out(text, ends):
    assert parse_range(text) == ends


@pytest.mark.parametrize("text", ["", "-", "ten-20", "1-2-3", "--3", "5", "1.5-2"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(Refused, match="no range"):
        parse_range(text)


def test_a_film_shows_the_whole_tape_unless_told_otherwise():
    assert span_of(FilmOptions(), 12) == (0, 12)
    assert span_of(FilmOptions(first=3), 12) == (3, 12)
    assert span_of(FilmOptions(first=3, stop=7), 12) == (3, 7)
    assert span_of(FilmOptions(), 0) == (0, 0)


@pytest.mark.parametrize(
    ("first", "stop", "words"),
    [
        (8, 3, "begin at event 8, after its end at 3"),
        (5, 5, "Nothing happens"),
        (0, 13, "no event 13: the tape has 12"),
        (12, 13, "no event 13"),
        (-2, 5, "no event -2"),
    ],
)
def test_a_part_that_the_tape_does_not_have_is_refused(first, stop, words):
    with pytest.raises(Refused, match=words):
        span_of(FilmOptions(first=first, stop=stop), 12)


def test_steps_are_positions_from_the_first_to_behind_the_last():
    steps = Steps((0, 10, 20), 30)
    assert step_span(steps, 1, 3) == (0, 30)
    assert step_span(steps, 2, 2) == (10, 20)


@pytest.mark.parametrize(("first", "last", "words"), [(3, 2, "after its end"), (1, 4, "no step 4")])
def test_steps_that_the_tape_does_not_have_are_refused(first, last, words):
    with pytest.raises(Refused, match=words):
        step_span(Steps((0, 10, 20), 30), first, last)
    with pytest.raises(Refused, match="no steps"):
        step_span(Steps((0,), 30), 1, 1)


def test_a_marked_part_is_forgotten_with_its_tape():
    tape, other, span = films.tape(), fakes.leaves(3), FilmSpan()
    whole = len(tape.events)
    assert span.of(tape) == (0, whole)
    span.mark_first(tape, 4)
    span.mark_stop(tape, 6)
    assert span.of(tape) == (4, 6)
    assert span.of(other) == (0, 3)
    span.mark_stop(other, 2)
    assert span.of(tape) == (0, whole)


def test_an_end_before_the_beginning_moves_the_other():
    tape, span = films.tape(), FilmSpan()
    span.mark_stop(tape, 3)
    span.mark_first(tape, 5)
    assert span.of(tape) == (5, len(tape.events))
    span.mark_stop(tape, 2)
    assert span.of(tape) == (0, 2)
