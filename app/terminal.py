"""Standard output of the commands, and what becomes of one that takes no more."""

import os
import sys

from app import atomic
from app.documents import Refused


def have_streams() -> None:
    """Have something to write to where whoever started us closed it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def say(words: str | bytes) -> None:
    """Write to standard output, at once.

    Raises:
        BrokenPipeError: whoever read it has had enough.
        Refused: it takes no more, for another reason.
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
    """Write nothing more: Python would complain once more at its end about what is not out yet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
