"""Ctrl-C while the command line is still being imported ends it without a word.

Importing this begins it, so it is imported first; `end` gives Ctrl-C back to Python.
"""

import os
import signal
import threading

INTERRUPTED = 130
"""The exit code, as a shell has it of a program that an interrupt ended."""


def _leave(_signal: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


def _begin() -> None:
    is_main = threading.current_thread() is threading.main_thread()
    # Whoever started us may want it ignored, or taken by a handler.
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def end() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_begin()
