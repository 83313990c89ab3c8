"""Ends of a rank from outside: the signal of torch.distributed.run, and the time limit."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable

from gradscribe.engine.protocol.tape import Event, Status

TERMINATED = 143
"""Exit code that shells use for a process ended by SIGTERM."""


def on_terminate(act: Callable[[], None]) -> None:
    """Call ``act`` in a thread once SIGTERM arrives, which is blocked in all threads.

    A Python handler would wait for the main thread, which may be inside of a collective for ever.
    """
    if not hasattr(signal, "sigwait"):
        return

    def wait() -> None:
        signal.sigwait((signal.SIGTERM,))
        act()

    os.register_at_fork(after_in_child=_unblock)
    threading.Thread(target=wait, name="gradscribe-end", daemon=True).start()


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))


def leave(write: Callable[[Status], None], status: Status) -> None:
    """Write the tape and end the process at once."""
    try:
        write(status)
    except BaseException:  # noqa: BLE001 - the process ends in any case
        sys.__stderr__.write(traceback.format_exc())  # type: ignore[union-attr]
    finally:
        os._exit(TERMINATED)


_WAITING = ("init_process_group", "new_group", "destroy_process_group")


def waiting_call() -> str:
    """Return the function of torch.distributed that the main thread is in, if it may wait there."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    names = []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return next((name for name in _WAITING if name in names), "")


def error_events(line: int) -> tuple[Event, ...]:
    """Return the event that ends the tape of a script that was ended at ``line``."""
    return (Event("error", 0, line),)
