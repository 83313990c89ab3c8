"""Standard output of the commands, and its failures."""

import os
import sys

from app import atomic
from app.documents import Refused


def have_streams() -> None:
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
        end()
        raise Refused(f"standard output cannot be written: {atomic.why(error)}") from error


def end() -> None:
    """Redirect standard output to the null device, so that Python's final flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
