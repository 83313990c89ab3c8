"""``gradscribe doctor SCRIPT.py``: print the doctor's findings as text or JSON."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from app import documents, report
from app.documents import Refused
from app.terminal import say
from engine.tape import Finding, Tape
from playback.mended import changes

NONE, SOME = 0, 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    made = argparse.ArgumentParser(
        prog="gradscribe doctor", description="Run a script and report the mistakes in it."
    )
    made.add_argument("script", metavar="SCRIPT.py")
    made.add_argument("--device", default="cpu", metavar="D", help="cpu, cuda:0, ...")
    made.add_argument("--json", metavar="OUT", help="write the findings as JSON; - is stdout")
    made.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="give up after S seconds (60)"
    )
    made.add_argument("--trust", action="store_true", help=report.TRUSTED)
    return made


def doctor(options: argparse.Namespace, exits: dict[str, int]) -> int:
    """Run a script, print the findings, and return the exit code.

    ``exits`` maps each status to its code; findings in a script that ran give code 1.
    """
    from app.record import record_file

    if options.timeout <= 0:
        raise Refused(f"{options.timeout} is not a number of seconds above 0")
    if options.json not in (None, "-"):
        documents.check_writable(Path(options.json))
    source = documents.read(Path(options.script))
    tape = record_file(
        Path(options.script),
        device=options.device,
        timeout=options.timeout,
        policy=not options.trust,
        is_open=options.trust,
    )
    if options.json is not None:
        _write(tape, options.json)
    else:
        say(told(tape, options.script, source))
    if tape.error is not None:
        sys.stderr.write(f"{report.complaint(tape.error, options.script)}\n")
    if tape.status == "refused":
        sys.stderr.write(f"gradscribe: {report.TRUST}\n")
    return max(exits[tape.status], SOME if tape.findings else NONE)


def _write(tape: Tape, out: str) -> None:
    from engine.export import encode_findings

    text = encode_findings(tape) + b"\n"
    if out == "-":
        say(text)
    else:
        documents.write_bytes(Path(out), text)


def told(tape: Tape, script: str, source: str) -> str:
    """Return the findings of a tape as text for a terminal."""
    if tape.status == "refused":
        return ""  # It never ran.
    if not tape.findings:
        return f"The doctor found nothing{' but this error' if tape.error is not None else ''}.\n"
    return "\n".join("".join(_finding_text(finding, script, source)) for finding in tape.findings)


def _finding_text(finding: Finding, script: str, source: str) -> Iterator[str]:
    maybe = " (perhaps)" if finding.severity == "hint" else ""
    where = f"{script}:{finding.place.line}" if finding.place.line else script
    yield f"{where}: {finding.title}{maybe} [{finding.id}]\n"
    yield f"  {finding.message}.\n  {finding.why}\n"
    others = [place.line for place in finding.related if place.line != finding.place.line]
    if others:
        lines = ", ".join(str(line) for line in dict.fromkeys(others))
        yield f"  See also line {lines}.\n"
    if finding.unmended:
        yield f"  Not fixed here. {finding.unmended}.\n"
    yield from (f"    {line}\n" for line in changes(source, finding.fix))
