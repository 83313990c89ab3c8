"""Exit without a traceback on Ctrl-C while the command line is still being imported.

Importing this module installs the handler, so import it first; `restore` restores Python's own.
"""

import os
import signal
import threading

from gradscribe.app.cli.exit_codes import INTERRUPTED


def _leave(_signal: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


def install() -> None:
    """Exit at once on Ctrl-C from now on."""
    is_main = threading.current_thread() is threading.main_thread()
    # Leave it alone if the parent process ignores it or a handler is installed.
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def restore() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


install()
