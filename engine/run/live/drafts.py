"""Drafts: what a long program has recorded so far, sent while it runs on.

The engine makes the sender before it imports torch.
"""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run.live.sending_thread import SendingThread
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from gradscribe.engine.record.recorder import Recorder

use_original_builtins(globals())

FIRST_S = 0.8
"""Seconds after a program's start from which its first draft is made."""
PERIOD_S, LONGEST_S = 1.0, 8.0
"""Seconds between the first two drafts, and the limit of what is doubled from draft to draft."""
SHARE = 0.05
"""Largest share of the program's time that is spent on drafts after the first."""


class DraftSender:
    """Asks for drafts in time, at the ends of steps, and sends them from a thread of its own."""

    def __init__(self, send: Callable[[int, Tape], None]) -> None:
        self._sending = SendingThread[Tape]("drafts", send)
        self._run_id = 0
        self._due = 0.0
        self._period = PERIOD_S
        self._recorder: Recorder | None = None

    def begin(self, run_id: int) -> None:
        """Follow the run ``run_id`` from now on, once `watch` has its recorder."""
        self._run_id, self._due = run_id, time.monotonic() + FIRST_S
        self._period = PERIOD_S
        self._sending.begin(run_id)

    def watch(self, recorder: "Recorder", make: "Callable[[], Tape]") -> None:
        """Send what ``make`` returns, called in the program's thread where a step has ended."""
        self._recorder = recorder
        recorder.loops.on_draft = lambda: self._add(make)

    def end(self) -> None:
        """Send no more of this run."""
        if self._recorder is not None:
            self._recorder.loops.on_draft = None
        self._recorder = None
        self._sending.begin(0)

    def tick(self) -> None:
        """Ask for a draft if that is due and the one before has been sent."""
        recorder = self._recorder
        if recorder is not None and time.monotonic() >= self._due and not self._sending.is_busy:
            # Once: the next is due some time after this one has been made.
            self._due = math.inf
            recorder.loops.draft_wanted = True

    def close(self) -> None:
        """End the thread."""
        self._sending.close()

    def _add(self, make: Callable[[], Tape]) -> None:
        began = time.monotonic()
        tape = make()
        now = time.monotonic()
        self._due = now + max(self._period, (now - began) / SHARE)
        self._period = min(2 * self._period, LONGEST_S)
        self._sending.offer(self._run_id, tape)


current: DraftSender | None = None
"""The sender of this process, which `run.execute` gives each program's recorder."""
