"""The threads of a recording: modes, module calls and node numbers are each thread's own.

The program's own threads are watched from their first line to their last, each in a lane of its
own; what they have seen goes into one log, one thread at a time (`Lanes.lock`).
"""

import threading
from typing import TYPE_CHECKING

import torch

from engine.record.forward import ForwardMode
from engine.record.unseen import is_traced
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.record.hooks import Run
    from engine.record.log import ValueRow
    from engine.record.modules import Entered
    from engine.record.recorder import Recorder

keep_builtins(globals())


class Lane:
    """What goes on in one thread."""

    __slots__ = ("calls", "mode", "quiet", "runs", "steps")

    def __init__(self, recorder: "Recorder") -> None:
        self.quiet = 0
        """While above zero nothing that torch does is written down."""
        self.calls: list[Entered] = []
        """The module calls that are running, the innermost last."""
        self.runs: list[Run] = []
        """The backward passes that are running: a node may start one of its own."""
        self.steps: list[list[tuple[torch.Tensor, ValueRow]]] = []
        """The optimizers' steps that are running: each parameter and its value before."""
        self.mode = ForwardMode(recorder, self)

    def is_inside(self) -> bool:
        """Tell whether a torch function is running, whose own custom Functions are part of it.

        Torch takes a mode off its stack for as long as the mode deals with a function.
        """
        count = torch._C._len_torch_function_stack()
        return all(torch._C._get_function_stack_at(i) is not self.mode for i in range(count))


class Lanes:
    """The threads of one recording."""

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder
        self._lanes: dict[int, Lane] = {}
        self._start: Callable[[threading.Thread], None] | None = None
        self.lock = threading.RLock()
        """Held while something is written down, never while the program's own code runs."""

    def start(self) -> None:
        """Begin to watch this thread, and every one that is started from now on."""
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
        """Let threads be; those that still run are not heard any more."""
        threading.Thread._bootstrap_inner = self._start  # type: ignore[attr-defined]
        self.leave()

    def here(self) -> Lane | None:
        """Return the lane of the calling thread; None where nothing is to be written down."""
        lane = self._lanes.get(threading.get_ident())
        if lane is None or lane.quiet or not self._recorder.log.writing or is_traced():
            return None
        return lane

    def enter(self) -> None:
        """Watch the calling thread."""
        lane = self._lanes[threading.get_ident()] = Lane(self._recorder)
        lane.mode.__enter__()  # type: ignore[no-untyped-call]

    def leave(self) -> None:
        """Watch the calling thread no more."""
        lane = self._lanes.pop(threading.get_ident())
        lane.mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
