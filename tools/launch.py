"""Start Gradscribe for `make run`: the window, or without a screen the same job headlessly.

Environment: ``FILE``, the script to open. Run with the environment's own interpreter.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping

import system


def command(python: str, environ: Mapping[str, str], screen: bool) -> list[str]:
    """Return the words that start the program."""
    words = [python, "-m", "app"]
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
    with subprocess.Popen(command(sys.executable, environ, screen), env=environ) as program:
        while True:
            # Ctrl-C is the program's, too: it ends when it has put away what is unsaved.
            with contextlib.suppress(KeyboardInterrupt):
                return program.wait()


if __name__ == "__main__":
    sys.exit(main())
