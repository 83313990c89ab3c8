"""``gradscribe watch FILE``: the window on a training loop that `gs.watch` watches."""

import argparse
import os
import sys
import time
from pathlib import Path

from gradscribe.app.cli.window_args import has_screen
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.app.watch.reader import WatchReader

MOST_S = 20.0
"""Most seconds until a picture is drawn."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Show a training loop that gs.watch watches, while it runs or afterwards."
    parser.add_argument("file", metavar="FILE.watch")
    parser.add_argument("--screenshot", metavar="OUT.png", help="draw the window and exit")
    parser.add_argument("--theme", choices=("light", "dark"), help="theme of the screenshot")


def run(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed, or draw it; return the exit code."""
    path = Path(documents.resolve(Path(options.file)))
    if options.screenshot is not None:
        documents.check_writable(Path(options.screenshot))
    elif options.theme is not None:
        raise Refused("--theme goes with --screenshot")
    elif not has_screen():
        raise Refused("no display here; --screenshot OUT.png does without one")
    if options.screenshot is not None:
        return draw(path, Path(options.screenshot), options.theme or "")
    return open_window(path, [sys.argv[0]])


def open_window(path: Path, argv: list[str]) -> int:
    """Show the window until it is closed; return the exit code. Raises `Refused`."""
    from gradscribe.app.runtime.language import use_language

    use_language()
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.watch.window import WatchWindow
    from gradscribe.app.window.shutdown import ShutdownSignals
    from gradscribe.app.window.startup import make_app

    reader = WatchReader(path)
    app = make_app(argv)
    window = WatchWindow(reader, Settings.of_user())
    ending = ShutdownSignals(window.close, window)
    window.show()
    try:
        return app.exec()
    finally:
        ending.stop()


def draw(path: Path, out: Path, theme: str = "", size: tuple[int, int] = (1200, 760)) -> int:
    """Draw the window on all that is in the file so far. Raises `Refused`."""
    from gradscribe.app.runtime.language import use_language

    use_language()
    reader = WatchReader(path)
    if "QT_QPA_PLATFORM" not in os.environ:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.watch.window import WatchWindow
    from gradscribe.app.window.startup import make_app

    app = make_app(["gradscribe"])
    settings = Settings()
    settings.put("theme", theme or Settings.of_user().text("theme"))
    window = WatchWindow(reader, settings)
    window.resize(*size)
    window.show()
    until = time.monotonic() + MOST_S
    while window.is_behind and time.monotonic() < until:
        app.processEvents()
    app.processEvents()
    is_drawn = window.grab().save(str(out))
    window.close()
    if not is_drawn:
        raise Refused(f"{out} cannot be written")
    return 0
