"""kill -9 of the real window while it trains: the room is there again, and the run goes on.

One kill always, thirty in `make torture`.
"""

import random
import signal
import time

import numpy as np
import pytest

from gradscribe.app.files.sessions import Sessions
from gradscribe.app.training.saving.session_file import RECOVERY_FORM
from tests.torture.windows import CROWDED, crowd, start

pytestmark = pytest.mark.e2e

SLOW_KILLS, PARTS = 30, 6
LOST_S = 5.0
"""Age after which training is never lost: it is saved every two seconds."""


def trained_until_killed(home, seconds):
    """Let the window train for so long after its first loss, kill it, and return what it told."""
    with start("trainee", home, "train") as window:
        told = [window.stdout.readline().split()]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            told.append(window.stdout.readline().split())
        window.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        told += [line.split() for line in window.stdout.read().split("\n") if line.count(" ") == 3]
        window.stderr.read()
    return [(int(n), int(s), float.fromhex(x), float(at)) for n, s, x, at in told], killed


def losses(run):
    """Return the kept losses of a run by step."""
    curve = run.curves["loss"]
    steps, numbers = np.frombuffer(curve.steps, "<i8"), np.frombuffer(curve.numbers, "<f4")
    return dict(zip(steps.tolist(), numbers.tolist(), strict=True))


def goes_on(room, place):
    """Tell whether the engine was heard of enough to go on with that run of a room."""
    row = room.runs[place]
    return bool(row.data) or (row.anew and row.parent >= 0 and goes_on(room, row.parent))


def kill(home, seconds, crowded):
    """Kill a window that trains, look at what it left, and go on with it in another one."""
    told, killed = trained_until_killed(home, seconds)
    sessions = Sessions(home / "gradscribe" / "sessions", RECOVERY_FORM)
    found = sessions.found()
    assert [one.trouble for one in found] == [""] * len(found)
    old = [line for line in told if killed - line[3] > LOST_S * crowded()]
    for one in found:
        one.slot.release()
    if not found:
        assert not old
        return
    room = found[0].kept
    assert room.closed is False
    driven = room.runs[room.current]
    if old:
        assert (len(room.runs), driven.step) >= old[-1][:2]
    # A number that was seen is the number that is kept.
    seen = {(count, step): loss for count, step, loss, _ in told}
    kept = losses(driven)
    common = [step for step in kept if (len(room.runs), step) in seen]
    assert all(kept[step] == seen[len(room.runs), step] for step in common)
    with start("trainee", home, "revive") as window:
        lines = [line.split() for line in window.stdout.read().strip().split("\n")]
        errors = window.stderr.read()
        assert window.wait() == 0, errors
    if goes_on(room, room.current):
        assert lines == [[str(len(room.runs)), str(driven.step + more)] for more in (0, 10)]
    else:
        # It was killed before the engine was asked for its first run: the curves are there.
        assert not old
        assert lines == [[str(len(room.runs)), str(driven.step), "over"]]


@pytest.mark.timeout(300)
def test_a_window_killed_while_it_trains_leaves_its_runs(tmp_path):
    kill(tmp_path, 6, lambda: CROWDED)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_thirty_windows_killed_while_they_train_leave_their_runs(tmp_path, part):
    dice = random.Random(2000 + part)
    for turn in range(SLOW_KILLS // PARTS):
        kill(tmp_path / str(turn), dice.uniform(0, 12), crowd)
