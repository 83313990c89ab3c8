"""The command line: ``gradscribe [FILE]``, ``record``, ``doctor``, ``train``, lessons, headless.

Exit codes: 0 success, 1 the script raised or the doctor reported findings, 2 bad usage, missing
file or refused by the policy, 3 timeout or engine death, 130 interrupted. Qt is imported only
where something is drawn.
"""

from gradscribe.app.cli import sigint

# isort: split
import argparse
import math
import os
import sys
import tempfile
from pathlib import Path

from gradscribe.app.cli import doctor, report, terminal
from gradscribe.app.cli.terminal import ensure_streams, say
from gradscribe.app.files import atomic, documents
from gradscribe.app.files.documents import Refused, exists
from gradscribe.app.runtime.version import version
from gradscribe.engine.protocol.tape import Tape

sigint.restore()

RAN, FAILED, REFUSED, DIED = 0, 1, 2, 3
EXITS = {"ok": RAN, "error": FAILED, "refused": REFUSED, "timeout": DIED, "died": DIED}
PICTURE = "gradscribe-window.png"
"""File that ``--headless`` draws the window to, in the current folder."""
DRAWN = ("svg", "png", "dot", "gif", "mp4")
"""Output formats of `record`: option names, which are also the file suffixes."""


def main(argv: list[str] | None = None) -> int:
    """Do what the command line asks for and return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    ensure_streams()
    try:
        if words[:1] == ["train"]:
            from gradscribe.app.cli import train_args

            return train_args.main(words[1:])
        if words[:1] == ["record"]:
            return record(_record_parser().parse_args(words[1:]))
        if words[:1] == ["doctor"]:
            return doctor.run(doctor.parser().parse_args(words[1:]), EXITS)
        if words[:1] in (["lessons"], ["lesson"]):
            return learn(words[0], words[1:])
        options = _parser().parse_args(words)
        if options.screenshot is not None:
            return screenshot(options)
        for name in ("at", "theme"):
            if getattr(options, name) is not None:
                raise Refused(f"--{name} goes with --screenshot")
        return headless(options) if options.headless else window(options)
    except Refused as refusal:
        return _refuse(str(refusal))
    except BrokenPipeError:
        # The reader of standard output has closed the pipe.
        terminal.discard_stdout()
        return FAILED
    except KeyboardInterrupt:
        return sigint.INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gradscribe",
        description="See PyTorch run forward and backward.",
        epilog="gradscribe record SCRIPT.py records without a window, doctor SCRIPT.py reports its "
        "mistakes, train trains a model, lessons and lesson teach; each has its own --help.",
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a script, a training session or a set-up to open"
    )
    parser.add_argument("--screenshot", metavar="OUT.png", help="draw the window and exit")
    parser.add_argument(
        "--at", type=int, metavar="EVENT", help="position of the screenshot, in events"
    )
    parser.add_argument(
        "--theme", choices=("light", "dark"), help="theme of the screenshot (default: your setting)"
    )
    parser.add_argument(
        "--headless",
        action="store_true",
        help="record FILE or the first example, print its values, draw the window to a file",
    )
    _add_trust(parser)
    parser.add_argument("--version", action="version", version=f"gradscribe {version()}")
    return parser


def _record_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gradscribe record", description="Run a script and record everything it does."
    )
    parser.add_argument("script", metavar="SCRIPT.py")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu, cuda:0, ...")
    parser.add_argument("--json", metavar="OUT", help="write the tape as JSON; - is stdout")
    parser.add_argument("--svg", metavar="OUT", help="write a picture of the graph")
    parser.add_argument("--png", metavar="OUT", help="write a picture of the graph")
    parser.add_argument("--dot", metavar="OUT", help="write the graph for Graphviz")
    parser.add_argument("--gif", metavar="OUT", help="write the playing tape as an animated GIF")
    parser.add_argument("--mp4", metavar="OUT", help="write the playing tape as a video")
    parser.add_argument(
        "--theme",
        choices=("light", "dark"),
        default="light",
        help="theme of pictures and films (light)",
    )
    parser.add_argument(
        "--direction",
        choices=("down", "right"),
        default="down",
        help="direction of the data flow in pictures and films (down)",
    )
    parser.add_argument(
        "--timeout", type=_seconds, default=60.0, metavar="S", help="give up after S seconds (60)"
    )
    _add_trust(parser)
    return parser


def _add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust",
        action="store_true",
        help=report.TRUST_HELP,
    )


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise argparse.ArgumentTypeError(f"{word} is not a number of seconds above 0")
    return seconds


def _refuse(why: str) -> int:
    sys.stderr.write(f"gradscribe: {' '.join(why.split())}\n")
    return REFUSED


def record(options: argparse.Namespace) -> int:
    """Run a script, write what was asked for, and return the exit code."""
    from gradscribe.app.cli.record import record_file

    for ending in DRAWN:
        name = getattr(options, ending)
        if name is not None and Path(name).suffix.lower() != f".{ending}":
            raise Refused(f"{name}: --{ending} takes a name that ends in .{ending}")
    for name in (options.json, *(getattr(options, ending) for ending in DRAWN)):
        if name not in (None, "-"):
            documents.check_writable(Path(name))
    if options.mp4 is not None:
        from gradscribe.app.export.encoders import check_available

        check_available("mp4")
    talks = options.json != "-"
    streamed: list[int] = []
    on_terminal = sys.stdout.isatty() and not options.trust
    # Untrusted output must not send control sequences to the terminal.
    shown = report.strip_controls if on_terminal else str

    def printed(text: str) -> None:
        streamed.append(len(text))
        say(shown(text))

    tape = record_file(
        Path(options.script),
        device=options.device,
        timeout=options.timeout,
        printed=printed if talks else None,
        policy=not options.trust,
        is_open=options.trust,
    )
    if talks and tape.status != "refused":
        say(shown(tape.stdout[sum(streamed) :]))
        _tell(tape)
    _complain(tape, options.script)
    if tape.truncated:
        sys.stderr.write(f"gradscribe: {tape.truncated}\n")
    _write(tape, options)
    return EXITS[tape.status]


def _complain(tape: Tape, filename: str) -> None:
    if tape.error is not None:
        sys.stderr.write(f"{report.error_text(tape.error, filename)}\n")
    if tape.status == "refused":
        sys.stderr.write(f"gradscribe: {report.TRUST_HINT}\n")


def learn(verb: str, words: list[str]) -> int:
    """List or check the lessons, or open one."""
    from gradscribe.app.cli import lessons

    if verb == "lessons":
        return lessons.lessons_command(lessons.lessons_parser().parse_args(words))
    options = lessons.lesson_parser().parse_args(words)
    if options.screenshot is None and not has_screen():
        raise Refused("no display here; --screenshot OUT.png does without one")
    return lessons.lesson_command(options)


def _tell(tape: Tape) -> None:
    if tape.stdout:
        say("\n" if tape.stdout.endswith("\n") else "\n\n")
    leaves = report.leaf_table(tape)
    say(f"{leaves}\n{report.counts_line(tape)}\n" if leaves else f"{report.counts_line(tape)}\n")


def _write(tape: Tape, options: argparse.Namespace) -> None:
    if options.json is not None:
        from gradscribe.engine.inspect.export import encode

        text = encode(tape) + b"\n"
        if options.json == "-":
            say(text)
        else:
            documents.write_bytes(Path(options.json), text)
    for name in (options.svg, options.png, options.dot):
        if name is not None:
            from gradscribe.app.cli.screenshot import export_graph

            export_graph(tape, name, options.theme, options.direction)
    for name in (options.gif, options.mp4):
        if name is not None:
            from gradscribe.app.cli.screenshot import export_film

            progress = _progress if sys.stderr.isatty() else None
            export_film(tape, name, options.theme, options.direction, progress)


def _progress(name: str, done: int, count: int) -> None:
    """Show the progress of a film on one terminal line that is overwritten."""
    end = "\n" if done == count else ""
    sys.stderr.write(f"\r{name}: frame {done} of {count}{end}")
    sys.stderr.flush()


def screenshot(options: argparse.Namespace) -> int:
    """Draw the window on a script into a file."""
    _try_reading(options.file)
    documents.check_writable(Path(options.screenshot))
    from gradscribe.app.cli.screenshot import screenshot as draw

    theme, file = options.theme or "", options.file or ""
    return draw(options.screenshot, file, options.at, theme=theme, trusted=options.trust)


def headless(options: argparse.Namespace) -> int:
    """Record a script, print its values and draw the window to a file, without a screen."""
    from gradscribe.app.cli.record import record_source
    from gradscribe.app.document import examples

    if options.file is not None:
        title, filename = options.file, options.file
        source = documents.read(Path(options.file))
    else:
        example = examples.load()[0]
        title, filename, source = example.title, example.name, example.source
    say(f"{title}: forward and backward\n\n")
    from_outside = options.file is not None and not options.trust
    tape = record_source(source, filename=filename, policy=from_outside, is_open=options.trust)
    if tape.stdout:
        say(tape.stdout.rstrip("\n") + "\n\n")
    say(f"{report.value_table(tape)}\n{report.counts_line(tape)}\n")
    _complain(tape, filename)
    return max(EXITS[tape.status], _draw_window(options.file or ""))


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
        sys.stderr.write(f"gradscribe: the window cannot be drawn: {error}\n")
        return DIED
    if exists(out):
        say(f"\nThe window is drawn in {out}\n")
    say("For a real window run this where there is a display; over ssh, connect with ssh -X.\n")
    return code


def window(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed."""
    _try_reading(options.file)
    if not has_screen():
        raise Refused("no display here; gradscribe --headless does without one")
    from gradscribe.app.window.startup import open_window

    return open_window(options.file or "", [sys.argv[0]])


def _try_reading(name: str | None) -> None:
    """Refuse a file that the window could not open. Raises `Refused`."""
    if name is None:
        return
    if Path(name).suffix == documents.SESSION_SUFFIX:
        from gradscribe.app.training.saving import session_file

        session_file.read(Path(name))
    else:
        documents.read(Path(name))


def has_screen() -> bool:
    """Return whether Qt has a display; only Linux can lack one."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
