"""``gradscribe doctor SCRIPT.py``: print the doctor's findings as text or JSON."""

import argparse
import textwrap
from collections.abc import Iterator
from pathlib import Path

from gradscribe.app.cli import fix_trials, record, report
from gradscribe.app.cli.exit_codes import BY_STATUS, FAILED, RAN
from gradscribe.app.cli.options import (
    add_recording,
    add_trials,
    add_trust,
    chosen_python,
    read_program,
)
from gradscribe.app.cli.terminal import say
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape import Finding, Tape
from gradscribe.playback.code.fix_diff import TRIED_IN_PART, changed_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Run a script and report the mistakes in it."
    add_recording(parser)
    parser.add_argument("--json", metavar="OUT", help="write the findings as JSON; - is stdout")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="give up after S seconds (60)"
    )
    add_trials(parser)
    add_trust(parser)


def run(options: argparse.Namespace) -> int:
    """Run a script, print the findings, and return the exit code."""
    if options.timeout <= 0:
        raise Refused(f"{options.timeout} is not a number of seconds above 0")
    if options.json not in (None, "-"):
        documents.check_writable(Path(options.json))
    source = read_program(options.script)
    tape = record.record_source(
        source,
        filename=options.script,
        device=options.device,
        timeout=options.timeout,
        policy=not options.trust,
        is_open=options.trust,
        interpreter=chosen_python(options),
    )
    tape = fix_trials.tried_as_asked(tape, source, options)
    if options.json is not None:
        _write(tape, options.json)
    else:
        say(findings_text(tape, options.script, source))
    report.write_problem(tape, options.script)
    return max(BY_STATUS[tape.status], FAILED if tape.findings else RAN)


def _write(tape: Tape, out: str) -> None:
    from gradscribe.engine.inspect.export import encode_findings

    text = encode_findings(tape) + b"\n"
    if out == "-":
        say(text)
    else:
        documents.write_bytes(Path(out), text)


def findings_text(tape: Tape, script: str, source: str) -> str:
    """Return the findings of a tape as text for a terminal."""
    if tape.status == "refused":
        return ""  # It never ran.
    if not tape.findings:
        return f"The doctor found nothing{' but this error' if tape.error is not None else ''}.\n"
    texts = ("".join(_finding_text(finding, script, source)) for finding in tape.findings)
    return "\n".join(
        textwrap.indent(text, "    ") if finding.follows else text
        for finding, text in zip(tape.findings, texts, strict=True)
    )


def _finding_text(finding: Finding, script: str, source: str) -> Iterator[str]:
    maybe = " (perhaps)" if finding.severity == "hint" else ""
    where = f"{script}:{finding.place.line}" if finding.place.line else script
    yield f"{where}: {finding.title}{maybe} [{finding.id}]\n"
    yield f"  {finding.message}.\n  {finding.why}\n"
    others = [place.line for place in finding.related if place.line != finding.place.line]
    if others:
        lines = ", ".join(str(line) for line in dict.fromkeys(others))
        yield f"  See also line {lines}.\n"
    if finding.why_no_fix:
        yield f"  Not fixed here. {finding.why_no_fix}.\n"
    if finding.tried == "part":
        yield f"  {TRIED_IN_PART}.\n"
    yield from (f"    {line}\n" for line in changed_lines(source, finding.fix))
