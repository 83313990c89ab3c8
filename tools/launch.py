"""Start Gradscribe for `make run`: the window, or ``--headless`` without a screen.

Environment: ``FILE``, the script to open. Run with the environment's own interpreter.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

import system


def command(python: str, environ: Mapping[str, str], screen: bool) -> list[str]:
    """Return the command line that starts the program."""
    words = [python, "-m", "gradscribe"]
    if not screen:
        words.append("--headless")
    if environ.get("FILE"):
        words.append(environ["FILE"])
    return words


def main() -> int:
    """Start the program and return its exit code."""
    screen = system.has_screen()
    environ = dict(os.environ)
    if not screen:
        environ["QT_QPA_PLATFORM"] = "offscreen"
    # Ctrl-C reaches the program, too, which stores unsaved work and ends. Install a handler before
    # it starts, rather than SIG_IGN, which the child would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(command(sys.executable, environ, screen), env=environ).returncode
    finally:
        signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    sys.exit(main())
