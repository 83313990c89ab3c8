"""``gradscribe compare LEFT.py RIGHT.py``: print what differs first, and what follows from it."""

import argparse
from pathlib import Path

from gradscribe.app.cli import record, report
from gradscribe.app.cli.exit_codes import BY_STATUS, FAILED, RAN
from gradscribe.app.cli.options import add_trust, read_program
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Run two scripts and compare every value and every gradient to the bit. The first "
        "difference in order of execution comes first, with what follows from it. "
        "Exits with 0 if both runs are the same, with 1 if they differ."
    )
    parser.add_argument("left", metavar="LEFT.py")
    parser.add_argument("right", metavar="RIGHT.py")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu, cuda:0, ...")
    parser.add_argument("--json", metavar="OUT", help="write the differences as JSON; - is stdout")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="give up after S seconds each (60)"
    )
    add_trust(parser)


def run(options: argparse.Namespace) -> int:
    """Run both scripts, print what differs, and return the exit code."""
    if not options.timeout > 0:
        raise Refused(f"{options.timeout} is not a number of seconds above 0")
    if options.json not in (None, "-"):
        documents.check_writable(Path(options.json))
    names = options.left, options.right
    sources = [read_program(name) for name in names]
    tapes = [
        record.record_source(
            source,
            filename=name,
            device=options.device,
            timeout=options.timeout,
            policy=not options.trust,
            is_open=options.trust,
            examine=False,
        )
        for name, source in zip(names, sources, strict=True)
    ]
    for tape, name in zip(tapes, names, strict=True):
        report.write_problem(tape, name)
    worst = max(BY_STATUS[tape.status] for tape in tapes)
    if any(tape.status == "refused" for tape in tapes):
        return worst  # At least one of them never ran.
    from gradscribe.app.cli.runs import differences

    heading = f"left {names[0]}, right {names[1]}\n"
    differ = differences.write(tapes[0], tapes[1], heading, options.json)
    return max(worst, FAILED if differ else RAN)
