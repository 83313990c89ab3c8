"""The threads of a recording: modes, module calls and node numbers are per thread.

Threads that the program starts are recorded from their first line to their last, each with a
`ThreadState` of its own; all write to the same log, one at a time (`RecordedThreads.lock`).
"""

import threading
from collections.abc import Callable

from gradscribe.engine.record.log import Log
from gradscribe.engine.record.thread_state import ThreadState
from gradscribe.engine.record.values.raw_reads import is_jit_tracing
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_PACKAGE = __name__.partition(".")[0] + "."


class RecordedThreads:
    """The threads of one recording."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._states: dict[int, ThreadState] = {}
        self._start: Callable[[threading.Thread], None] | None = None
        self.lock = threading.RLock()
        """Acquired to record something, never while the program's own code runs."""

    def start(self, new_state: Callable[[], ThreadState]) -> None:
        """Begin to record this thread, and all threads that are started from now on.

        ``new_state`` makes the state of a thread, with its mode.
        """
        self._enter(new_state())
        self._start = start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def watched(thread: threading.Thread) -> None:
            if _is_engines(thread):
                start(thread)
                return
            self._enter(new_state())
            try:
                start(thread)
            finally:
                self._leave()

        threading.Thread._bootstrap_inner = watched  # type: ignore[attr-defined]

    def stop(self) -> None:
        """Stop recording threads, including those that still run."""
        threading.Thread._bootstrap_inner = self._start  # type: ignore[attr-defined]
        self._leave()

    def current(self) -> ThreadState | None:
        """Return the state of the calling thread; None if nothing is to be recorded."""
        state = self._states.get(threading.get_ident())
        if state is None or state.quiet or not self._log.is_recording or is_jit_tracing():
            return None
        return state

    def only(self) -> ThreadState | None:
        """Return the state of the calling thread if no other is recorded."""
        states = self._states
        return states.get(threading.get_ident()) if len(states) == 1 else None

    def state(self, thread: int) -> ThreadState | None:
        """Return the state of a thread by its identifier; None if it is not recorded."""
        return self._states.get(thread)

    def _enter(self, state: ThreadState) -> None:
        """Begin to record the calling thread."""
        self._states[threading.get_ident()] = state
        state.mode.__enter__()  # type: ignore[no-untyped-call]

    def _leave(self) -> None:
        """Stop recording the calling thread."""
        state = self._states.pop(threading.get_ident())
        state.mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]


def _is_engines(thread: threading.Thread) -> bool:
    """Return whether a thread is the engine's own: one that sends output, for example."""
    module = getattr(getattr(thread, "_target", None), "__module__", None)
    return type(module) is str and module.startswith(_PACKAGE)
