"""The time that a lesson takes, from what is in it."""

import pytest

from gradscribe.playback.lessons.duration import (
    LINE_S,
    QUESTION_S,
    TASK_S,
    WORDS_A_MINUTE,
    estimate_minutes,
    minutes_text,
)

PROSE = ["word " * WORDS_A_MINUTE]
PROGRAM = ["```python", *(f"a{n} = {n}" for n in range(60 // LINE_S)), "```"]
ASK = ["```ask", 'question = "q"', 'answer = "1"', 'hint = "a long hint of words"', "```"]
TASK = ["```task", 'do = "d"', 'goal = "1 == 2"', "```", "```python solution", *PROGRAM[1:]]


@pytest.mark.parametrize(
    ("lines", "minutes"),
    [
        ([], 1),
        (PROSE * 3, 3),
        (PROGRAM, 1),
        (PROGRAM + PROSE, 2),
        # A line that was there before takes no time, nor does the one that is taken out.
        (PROGRAM + PROGRAM + PROSE, 2),
        ([*PROGRAM, "```diff", "-a0 = 0", "+a1 = 1", "```", *PROSE], 2),
        (ASK * (4 * 60 // QUESTION_S), 5),
        (TASK * (6 * 60 // TASK_S), 7),
    ],
)
def test_the_minutes_add_up(lines, minutes):
    assert estimate_minutes(lines) == minutes


def test_more_to_read_and_to_do_takes_longer():
    known = [estimate_minutes(PROSE + ASK * n + PROGRAM) for n in range(0, 20, 2)]
    assert known == sorted(known)
    assert known[0] < known[-1]


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(1, "about 1 min"), (59, "about 59 min"), (60, "about 1 h"), (127, "about 2 h 10 min")],
)
def test_a_time_is_said_no_more_exactly_than_it_is_known(minutes, text):
    assert minutes_text(minutes) == text
