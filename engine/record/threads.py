"""The threads of a recording: modes, module calls and node numbers are per thread.

Threads that the program starts are recorded from their first line to their last, each with a
`ThreadState` of its own; all write to the same log, one at a time (`RecordedThreads.lock`).
"""

import threading
from typing import TYPE_CHECKING

import torch

from gradscribe.engine.record.forward.function_mode import ForwardMode
from gradscribe.engine.record.values.raw_reads import is_jit_tracing
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradscribe.engine.record.backward.hooks import RunningPass
    from gradscribe.engine.record.forward.modules import RunningCall
    from gradscribe.engine.record.log import ValueRow
    from gradscribe.engine.record.recorder import Recorder

use_original_builtins(globals())


class ThreadState:
    """Per-thread recorder state."""

    __slots__ = ("calls", "mode", "quiet", "runs", "steps")

    def __init__(self, recorder: "Recorder") -> None:
        self.quiet = 0
        """While above zero nothing is recorded in this thread."""
        self.calls: list[RunningCall] = []
        """The module calls that are running, the innermost last."""
        self.runs: list[RunningPass] = []
        """The backward passes that are running: a node may start another pass."""
        self.steps: list[list[tuple[torch.Tensor, ValueRow]]] = []
        """The optimizer steps that are running: each parameter and its value before."""
        self.mode = ForwardMode(recorder, self)

    def is_inside_torch_function(self) -> bool:
        """Return whether a torch function is running: custom Functions it calls are part of it.

        Torch pops a mode off its stack while the mode handles a function.
        """
        count = torch._C._len_torch_function_stack()
        return all(torch._C._get_function_stack_at(i) is not self.mode for i in range(count))


class RecordedThreads:
    """The threads of one recording."""

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder
        self._lanes: dict[int, ThreadState] = {}
        self._start: Callable[[threading.Thread], None] | None = None
        self.lock = threading.RLock()
        """Acquired to record something, never while the program's own code runs."""

    def start(self) -> None:
        """Begin to record this thread, and all threads that are started from now on."""
        self.enter()
        self._start = start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def watched(thread: threading.Thread) -> None:
            self.enter()
            try:
                start(thread)
            finally:
                self.leave()

        threading.Thread._bootstrap_inner = watched  # type: ignore[attr-defined]

    def stop(self) -> None:
        """Stop recording threads, including those that still run."""
        threading.Thread._bootstrap_inner = self._start  # type: ignore[attr-defined]
        self.leave()

    def current(self) -> ThreadState | None:
        """Return the state of the calling thread; None if nothing is to be recorded."""
        lane = self._lanes.get(threading.get_ident())
        if lane is None or lane.quiet or not self._recorder.log.is_recording or is_jit_tracing():
            return None
        return lane

    def enter(self) -> None:
        """Begin to record the calling thread."""
        lane = self._lanes[threading.get_ident()] = ThreadState(self._recorder)
        lane.mode.__enter__()  # type: ignore[no-untyped-call]

    def leave(self) -> None:
        """Stop recording the calling thread."""
        lane = self._lanes.pop(threading.get_ident())
        lane.mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
