"""kill -9 of the real window at random moments of editing: what was typed is there again.

A few kills always, a hundred in `make torture`.
"""

import random
import signal
import time

import pytest

from gradscribe.app.files.sessions import PROGRAM_FORMAT, Sessions
from gradscribe.widgets.editor.edit_history import original_text
from tests.torture.windows import CROWDED, crowd, start

pytestmark = pytest.mark.e2e

KILLS, SLOW_KILLS, PARTS = 3, 100, 10
LOST_S = 1.0
"""Age after which typed text is never lost."""


def typed_until_killed(home, dice):
    """Let the window type, kill it, and return when each edit was made, and when it died."""
    with start("typist", home, "type") as window:
        edits = [float(window.stdout.readline().split()[1])]
        end = time.monotonic() + dice.uniform(0, 2.5)
        while time.monotonic() < end:
            edits.append(float(window.stdout.readline().split()[1]))
        window.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        rest = [line for line in window.stdout.read().split("\n") if line.count(" ") == 1]
        edits += [float(line.split()[1]) for line in rest]
        window.stderr.read()
    return edits, killed


def numbers_in(text):
    """Return how many numbers stand in the text, from 0 on and without a gap."""
    words = text.split()
    assert words == [str(number) for number in range(len(words))]
    return len(words)


def kill(home, dice, crowded):
    """Kill a window and recover it; returns how old the oldest loss is, in seconds."""
    edits, killed = typed_until_killed(home, dice)
    sessions = Sessions(home / "gradscribe" / "sessions", PROGRAM_FORMAT)
    found = sessions.found()
    assert [one.trouble for one in found] == [""] * len(found)
    kept = found[0].kept if found else None
    count = numbers_in(kept.doc.source) if kept else 0
    lost = [killed - at for at in edits[count:]]
    assert max(lost, default=0.0) <= LOST_S * crowded()
    if kept:
        assert original_text(kept.doc.source, kept.steps, kept.done) is not None
        assert not kept.doc.source or kept.steps
    for one in found:
        one.slot.release()
    with start("typist", home, "tell") as window:
        text, done = window.stdout.read().split("\0")
        window.stderr.read()
        assert window.wait() == 0
    # A window that was killed before anything was typed has nothing to recover.
    if count:
        assert text == kept.doc.source
        assert int(done) > 0
    return max(lost, default=0.0)


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_window_loses_nothing(tmp_path, seed):
    kill(tmp_path, random.Random(seed), lambda: CROWDED)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_hundred_killed_windows_lose_nothing_older_than_a_second(tmp_path, part):
    dice = random.Random(1000 + part)
    lost = [kill(tmp_path / str(turn), dice, crowd) for turn in range(SLOW_KILLS // PARTS)]
    print(f"longest loss {max(lost):.2f} s")  # noqa: T201 - the figure is what one wants to see
