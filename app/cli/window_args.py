"""``gradscribe [FILE]``: open the window, draw it to a file, or do without it.

Qt is imported only where something is drawn.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gradscribe.app.cli.exit_codes import BY_STATUS, DIED, RAN
from gradscribe.app.cli.options import add_python, add_trust, chosen_python, read_program
from gradscribe.app.cli.terminal import say
from gradscribe.app.files import atomic, documents, notebooks, open_requests, tape_files
from gradscribe.app.files.documents import Refused, exists
from gradscribe.app.files.open_requests import OpenRequest
from gradscribe.app.runtime import qt_libraries
from gradscribe.app.runtime.version import version
from gradscribe.engine.protocol import watch_file

if TYPE_CHECKING:
    from gradscribe.app.window.window import Window

PICTURE = "gradscribe-window.png"
"""File that ``--headless`` draws the window to, in the current folder."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the program without a command."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a script, a run, a training session, a set-up or a watched loop to open",
    )
    parser.add_argument("--new", action="store_true", help="open a window with an empty program")
    parser.add_argument(
        "--goto",
        type=int,
        metavar="LINE",
        help="show line LINE of FILE, in the window used last if one is open",
    )
    parser.add_argument("--temporary", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--screenshot", metavar="OUT.png", help="draw the window and exit")
    parser.add_argument(
        "--at",
        type=int,
        metavar="EVENT",
        help="position to show of a screenshot or a run, in events",
    )
    parser.add_argument(
        "--theme", choices=("light", "dark"), help="theme of the screenshot (default: your setting)"
    )
    parser.add_argument(
        "--headless",
        action="store_true",
        help="record FILE or the first example, print its values, draw the window to a file",
    )
    add_python(parser)
    add_trust(parser)
    parser.add_argument("--version", action="version", version=f"gradscribe {version()}")


def run(options: argparse.Namespace) -> int:
    """Open or draw the window, and return the exit code."""
    if options.new and (options.file or options.headless or options.screenshot is not None):
        raise Refused(
            "--new opens an empty program: it takes no file, and goes with no other option"
        )
    elsewhere = "--python" if options.python is not None else "--engine" if options.engine else ""
    if elsewhere and (options.headless or options.screenshot is not None):
        raise Refused(f"{elsewhere} goes with a window, and with record, doctor and train")
    if options.file is not None and Path(options.file).suffix.lower() == watch_file.SUFFIX:
        return _watch(options)
    if options.screenshot is not None:
        return _screenshot(options)
    is_run = options.file is not None and tape_files.is_tape(Path(options.file))
    if options.theme is not None:
        raise Refused("--theme goes with --screenshot")
    if options.at is not None and (not is_run or options.headless):
        raise Refused("--at goes with --screenshot, or with a recorded run")
    if options.goto is not None and (not options.file or is_run or options.headless):
        raise Refused("--goto goes with a script")
    if options.goto is not None and options.goto < 1:
        raise Refused(f"{options.goto} is no line: lines count from 1")
    return _headless(options) if options.headless else _window(options)


def _watch(options: argparse.Namespace) -> int:
    """Show a watched training loop, which has a window of its own."""
    if options.goto is not None or options.at is not None or options.headless:
        raise Refused("--goto, --at and --headless do not go with a watched training loop")
    from gradscribe.app.cli import watch

    return watch.run(options)


def _screenshot(options: argparse.Namespace) -> int:
    """Draw the window on a script into a file."""
    from gradscribe.app.runtime.language import use_language

    use_language()
    _try_reading(options.file)
    documents.check_writable(Path(options.screenshot))
    from gradscribe.app.cli.screenshot import screenshot as draw

    theme, file = options.theme or "", options.file or ""
    return draw(options.screenshot, file, options.at, theme=theme, trusted=options.trust)


def _headless(options: argparse.Namespace) -> int:
    """Record a script, print its values and draw the window to a file, without a screen."""
    from gradscribe.app.cli import report
    from gradscribe.app.cli.record import record_source
    from gradscribe.app.document import examples

    if options.file is not None:
        title, filename = options.file, options.file
        source = read_program(options.file)
    else:
        example = examples.load()[0]
        title, filename, source = example.title, example.name, example.source
    say(f"{title}: forward and backward\n\n")
    from_outside = options.file is not None and not options.trust
    tape = record_source(
        source, filename=filename, policy=from_outside, is_open=options.trust, examine=False
    )
    if tape.stdout:
        say(tape.stdout.rstrip("\n") + "\n\n")
    say(f"{report.value_table(tape)}\n{report.counts_line(tape)}\n")
    report.write_problem(tape, filename)
    return max(BY_STATUS[tape.status], _draw_window(options.file or ""))


def _draw_window(file: str) -> int:
    """Draw the window to the current folder, or to a temporary one if that is read-only."""
    out = Path(PICTURE).absolute()
    if not os.access(out.parent, os.W_OK):
        try:
            out = Path(tempfile.mkdtemp(prefix="gradscribe-")) / PICTURE
        except OSError as error:
            raise Refused(f"{PICTURE} cannot be written: {atomic.reason(error)}") from error
    try:
        from gradscribe.app.cli.screenshot import screenshot as draw

        code = draw(str(out), file, None)
    except ImportError as error:
        reason = qt_libraries.import_failure(error) or str(error)
        sys.stderr.write(f"gradscribe: the window cannot be drawn: {reason}\n")
        return DIED
    if exists(out):
        say(f"\nThe window is drawn in {out}\n")
    say("For a real window run this where there is a display; over ssh, connect with ssh -X.\n")
    return code


def _window(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed."""
    _try_reading(options.file)
    if not has_screen():
        raise Refused(
            "no display here: over ssh connect with ssh -X; gradscribe --headless does without one"
        )
    request = OpenRequest(
        os.path.realpath(options.file or ""),
        options.goto or 0,
        -1 if options.at is None else options.at,
        options.temporary,
    )
    # A window that is open already may run its program in another Python.
    may_join = options.goto is not None and options.python is None and not options.engine
    # It would show the file as that window trusts it.
    may_join = may_join and not options.trust
    if may_join and (reply := open_requests.send(request)) is not None:
        if reply.refusal:
            raise Refused(reply.refusal)
        return RAN
    from gradscribe.app.runtime.language import use_language

    use_language()
    from gradscribe.app.window.startup import Opening, open_window

    is_plain = options.goto is None and options.at is None and not options.temporary
    python = chosen_python(options)
    opening = Opening(options.file or "", options.new, python=python)
    if not is_plain:
        opening = Opening(request=request, python=python)
    begin = _trust if options.trust and options.file else None
    return open_window(opening, [sys.argv[0]], begin)


def _trust(window: "Window") -> None:
    """Trust the file that the window shows, as its button does."""
    window.menus.perform_by("run.trust")


def _try_reading(name: str | None) -> None:
    """Refuse a file that the window could not open. Raises `Refused`."""
    if name is None:
        return
    if Path(name).suffix == documents.SESSION_SUFFIX:
        from gradscribe.app.training.saving import session_file

        session_file.read(Path(name))
    elif tape_files.is_tape(Path(name)):
        tape_files.read(Path(name))
    elif notebooks.is_notebook(Path(name)):
        notebooks.read(Path(name))
    else:
        documents.read(Path(name))


def has_screen() -> bool:
    """Return whether Qt has a display; only Linux can lack one."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
