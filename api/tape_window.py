"""Windows on recorded runs: `RunTape.open`."""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING

from gradscribe.app.files import open_requests
from gradscribe.app.files.open_requests import OpenRequest
from gradscribe.tape_views import TensorView

if TYPE_CHECKING:
    from gradscribe.run_tape import RunTape


def show(tape: "RunTape", at: "int | TensorView | None") -> None:
    """Show a run in the window used last, else in a new window, without waiting for it.

    Raises:
        RuntimeError: the window refuses the run, or none can be started; the message says why.
        ValueError: the run is too long, or no file can be written; the message says why.
    """
    position = -1 if at is None else position_of(tape, at)
    handle, path = tempfile.mkstemp(prefix="gradscribe-", suffix=".tape")
    os.close(handle)
    try:
        tape.save(path)
    except ValueError:
        os.unlink(path)
        raise
    reply = open_requests.send(OpenRequest(path, position=position, is_temporary=True))
    if reply is None:
        _start_window(path, position)
    elif reply.refusal:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise RuntimeError(reply.refusal)


def position_of(tape: "RunTape", at: "int | TensorView") -> int:
    """Return a position in events: that itself, or that at which a tensor has been made.

    Raises:
        TypeError: it is neither an int nor a tensor of the tape.
        ValueError: it is negative.
    """
    if isinstance(at, TensorView):
        if at.op is None:
            return 0
        events = tape.data.events
        made = (n for n, e in enumerate(events, 1) if e.kind == "op" and e.ref == at.op.number)
        return next(made, len(events))
    if isinstance(at, bool) or not isinstance(at, int):
        raise TypeError(f"at has to be a number of events or a tensor of the tape, not {at!r}")
    if at < 0:
        raise ValueError(f"at has to be a number of events from 0, not {at}")
    return at


def _start_window(path: str, position: int) -> None:
    """Start a window in a process of its own, which outlives this one."""
    command = [sys.executable, "-P", "-m", "gradscribe", path, "--temporary"]
    if position >= 0:
        command += ["--at", str(position)]
    nowhere = subprocess.DEVNULL
    try:
        window = subprocess.Popen(
            command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        os.unlink(path)
        raise RuntimeError(f"No window can be started: {error}") from error
    # So that no zombie is left if the window is closed first.
    threading.Thread(target=window.wait, name="window", daemon=True).start()
