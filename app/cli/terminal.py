"""Standard output of the commands, and its failures."""

import os
import sys

from gradscribe.app.files import atomic
from gradscribe.app.files.documents import Refused


def ensure_streams() -> None:
    """Replace standard streams that the parent process closed by the null device."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def say(words: str | bytes) -> None:
    """Write to standard output and flush.

    Raises:
        BrokenPipeError: the reader has closed the pipe.
        Refused: it cannot be written for another reason.
    """
    try:
        if isinstance(words, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(words)
        else:
            sys.stdout.write(words)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_stdout()
        raise Refused(f"standard output cannot be written: {atomic.reason(error)}") from error


def discard_stdout() -> None:
    """Redirect standard output to the null device, so that Python's final flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
