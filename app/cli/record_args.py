"""``gradscribe record SCRIPT.py``: write what a script does as text, JSON, pictures and films."""

import argparse
import math
import sys
from pathlib import Path

from gradscribe.app.cli import film_args, fix_trials, record, report
from gradscribe.app.cli.exit_codes import BY_STATUS
from gradscribe.app.cli.options import (
    add_ranks,
    add_recording,
    add_trials,
    add_trust,
    chosen_python,
    read_program,
)
from gradscribe.app.cli.terminal import say
from gradscribe.app.files import documents, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.flow import take_home
from gradscribe.playback.flow.take_home import GraphFormat

GRAPHS: dict[str, GraphFormat] = {"graphml": "graphml", "gexf": "gexf", "graph_json": "json"}
"""Names of the options that write the graph -> their formats."""
MEMORY_MIB = 256
DRAWN = ("svg", "png", "dot", "gif", "mp4")
"""Output formats: option names, which are also the file suffixes."""
FILES = (*DRAWN, "tape", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Run a script and record everything it does."
    add_recording(parser)
    add_ranks(parser)
    _add_outputs(parser)
    film_args.add_arguments(parser)
    parser.add_argument(
        "--timeout", type=_seconds, default=60.0, metavar="S", help="give up after S seconds (60)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="record every step of a long loop in full, not only a choice of them",
    )
    parser.add_argument(
        "--memory",
        type=_mebibytes,
        default=MEMORY_MIB,
        metavar="MIB",
        help=f"memory for numbers of big tensors, past it only their statistics ({MEMORY_MIB})",
    )
    parser.add_argument(
        "--numbers",
        type=_whole_mebibytes,
        default=tape_file.NUMBERS_BUDGET >> 20,
        metavar="MIB",
        help="numbers of big tensors that --tape writes, past it only their statistics"
        f" ({tape_file.NUMBERS_BUDGET >> 20}; 0 for none)",
    )
    add_trials(parser)
    add_trust(parser)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="OUT", help="write the tape as JSON; - is stdout")
    parser.add_argument(
        "--tape", metavar="OUT", help="write the run to a file that opens elsewhere without torch"
    )
    parser.add_argument(
        "--html", metavar="OUT", help="write a page that plays the run in any browser, offline"
    )
    parser.add_argument("--svg", metavar="OUT", help="write a picture of the graph")
    parser.add_argument("--png", metavar="OUT", help="write a picture of the graph")
    parser.add_argument("--dot", metavar="OUT", help="write the graph for Graphviz")
    parser.add_argument("--graphml", metavar="OUT", help="write the graph for yEd, Gephi, networkx")
    parser.add_argument("--gexf", metavar="OUT", help="write the graph for Gephi")
    parser.add_argument("--graph-json", metavar="OUT", help="write the graph as node-link JSON")
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


def _mebibytes(word: str) -> int:
    if not (word.isdecimal() and 0 < int(word) < 1 << 20):
        raise argparse.ArgumentTypeError(f"{word} is not a number of MiB above 0")
    return int(word)


def _whole_mebibytes(word: str) -> int:
    return 0 if word == "0" else _mebibytes(word)


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise argparse.ArgumentTypeError(f"{word} is not a number of seconds above 0")
    return seconds


def run(options: argparse.Namespace) -> int:
    """Run a script, write what was asked for, and return the exit code."""
    _check_names(options)
    film_args.check(options)
    if options.ranks is not None:
        from gradscribe.app.cli.runs import ranks

        return ranks.run(options, lambda tape, made, source: _write(tape, made, source, {}))
    talks = options.json != "-"
    streamed: list[int] = []
    on_terminal = sys.stdout.isatty() and not options.trust
    # Untrusted output must not send control sequences to the terminal.
    shown = report.strip_controls if on_terminal else str

    def printed(text: str) -> None:
        streamed.append(len(text))
        say(shown(text))

    source = read_program(options.script)
    big = record.BigTensors(0 if options.tape is None else options.numbers << 20)
    is_examined = any(name is not None for name in (options.json, options.tape, options.html))
    tape = record.record_source(
        source,
        filename=options.script,
        device=options.device,
        timeout=options.timeout,
        printed=printed if talks else None,
        policy=not options.trust,
        is_open=options.trust,
        interpreter=chosen_python(options),
        is_full=options.full,
        memory=options.memory << 20,
        examine=is_examined,
        leaves_only=not _is_written(options),
        arguments=tuple(options.arguments),
        big=big,
    )
    if talks and tape.status != "refused":
        say(shown(tape.stdout[sum(streamed) :]))
        _print_summary(tape)
    report.write_problem(tape, options.script)
    if tape.truncated:
        sys.stderr.write(f"gradscribe: {tape.truncated}\n")
    if is_examined:
        tape = fix_trials.tried_as_asked(tape, source, options)
    _write(tape, options, source, big.found)
    return BY_STATUS[tape.status]


def _is_written(options: argparse.Namespace) -> bool:
    """Return whether something is made of the tape."""
    names = (options.json, *(getattr(options, option) for option in (*FILES, *GRAPHS)))
    return any(name is not None for name in names)


def _check_names(options: argparse.Namespace) -> None:
    """Refuse names of files with a wrong suffix, and where nothing can be written."""
    for option, ending in {**{ending: ending for ending in FILES}, **GRAPHS}.items():
        name = getattr(options, option)
        if name is not None and Path(name).suffix.lower() != f".{ending}":
            flag = option.replace("_", "-")
            raise Refused(f"{name}: --{flag} takes a name that ends in .{ending}")
    for name in (options.json, *(getattr(options, option) for option in (*FILES, *GRAPHS))):
        if name not in (None, "-"):
            documents.check_writable(Path(name))


def _print_summary(tape: Tape) -> None:
    if tape.stdout:
        say("\n" if tape.stdout.endswith("\n") else "\n\n")
    leaves = report.leaf_table(tape)
    say(f"{leaves}\n{report.counts_line(tape)}\n" if leaves else f"{report.counts_line(tape)}\n")


def _write(tape: Tape, options: argparse.Namespace, source: str, big: dict[int, Snapshot]) -> None:
    # A part that the tape does not have is said before anything is written.
    film = film_args.read(options, tape) if film_args.wanted(options) else None
    if options.json is not None:
        from gradscribe.engine.inspect.export import encode

        text = encode(tape) + b"\n"
        if options.json == "-":
            say(text)
        else:
            documents.write_bytes(Path(options.json), text)
    if options.tape is not None:
        program = tape_files.describe(source, Path(options.script).name, 0, tape)
        documents.write_bytes(Path(options.tape), tape_files.encode(program, tape, big=big))
        if left := tape_file.summarized(tape, options.numbers << 20)[1]:
            sys.stderr.write(f"gradscribe: {options.tape} has {tape_files.left_out(left)}\n")
    if options.html is not None:
        from gradscribe.playback.web_page.document import to_html

        page = to_html(tape, source, Path(options.script).name, tape.findings)
        documents.write_bytes(Path(options.html), page.encode())
    for option, kind in GRAPHS.items():
        if (name := getattr(options, option)) is not None:
            documents.write_bytes(Path(name), take_home.encode(tape, kind))
    for name in (options.svg, options.png, options.dot):
        if name is not None:
            from gradscribe.app.cli.screenshot import export_graph

            export_graph(tape, name, options.theme, options.direction)
    for name in (options.gif, options.mp4):
        if name is not None:
            from gradscribe.app.cli.screenshot import export_film

            progress = _progress if sys.stderr.isatty() else None
            export_film(tape, name, options.theme, options.direction, progress, film, source)


def _progress(name: str, done: int, count: int) -> None:
    """Show the progress of a film on one terminal line that is overwritten."""
    end = "\n" if done == count else ""
    sys.stderr.write(f"\r{name}: frame {done} of {count}{end}")
    sys.stderr.flush()
