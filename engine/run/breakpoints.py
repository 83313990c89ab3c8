"""Replace ``breakpoint()``: no debugger can be attached here, but the tape can be stepped."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


@contextmanager
def print_breakpoints() -> Iterator[None]:
    """Make ``breakpoint()`` print its line, an event like any print, and go on."""

    def note(*_: object, **__: object) -> None:
        line = sys._getframe(1).f_lineno
        sys.stdout.write(f"breakpoint in line {line}: step the tape from here\n")

    before, sys.breakpointhook = sys.breakpointhook, note
    try:
        yield
    finally:
        sys.breakpointhook = before
