"""Trials of the doctor's fixes on the command line: each runs before it is offered."""

import argparse
import sys
import time
from collections.abc import Callable

from gradscribe.app.cli.options import chosen_python
from gradscribe.app.cli.record import EVENT_LIMIT, ProgramRecorder, full_device_name
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.outcome import Outcome
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Tape

TRIAL_S = 10.0
"""Time limit of one run of a fixed program."""
ALL_S = 40.0
"""Time after which no further fix is tried."""
OUT_OF_TIME = f"Not tried, and so not offered: trials end after {ALL_S:.0f} s"
LEFT_OUT = "Not tried, and so not offered"

FixRun = Callable[[str], Outcome]


def with_tried_fixes(
    tape: Tape, request: messages.Run, *, is_open: bool, interpreter: Interpreter | None = None
) -> Tape:
    """Return the tape of a run with only the fixes that work.

    ``request`` is that of a brief run of its program. A fix that fails, or that there is no time
    for, is replaced by the reason.
    """
    if not any(finding.fix for finding in tape.findings):
        return tape
    _say_progress("Trying the fixes...")
    with ProgramRecorder(is_open, interpreter) as recorder:
        found = tried_findings(
            tape, request.source, lambda text: recorder.outcome(replace(request, source=text))
        )
    _say_progress("")
    return replace(tape, findings=found)


def tried_findings(tape: Tape, source: str, run: FixRun) -> tuple[Finding, ...]:
    """Return the findings of a tape, their fixes tried by ``run``; see `with_tried_fixes`."""
    from gradscribe.engine.doctor import fix_trial

    before, since = fix_trial.outcome_of(tape, source), time.monotonic()
    found = list[Finding]()
    for finding in tape.findings:
        if finding.fix and time.monotonic() - since < ALL_S:
            trial = fix_trial.try_fix(finding, source, before, run)
            found.append(fix_trial.tried(finding, trial))
        else:
            found.append(without_fix(finding, OUT_OF_TIME))
    return tuple(found)


def without_fix(finding: Finding, why: str = LEFT_OUT) -> Finding:
    """Return a finding without its untried fix, with the reason."""
    return replace(finding, fix="", why_no_fix=why) if finding.fix else finding


def without_fixes(tape: Tape) -> Tape:
    """Return a tape whose findings have no fixes, as none was tried."""
    return replace(tape, findings=tuple(map(without_fix, tape.findings)))


def tried_as_asked(tape: Tape, source: str, options: argparse.Namespace) -> Tape:
    """Return a tape with the fixes that work, or without fixes if no trial is wanted."""
    if options.no_trials:
        return without_fixes(tape)
    request = messages.Run(
        1,
        source,
        options.script,
        device=full_device_name(options.device),
        timeout=min(options.timeout, TRIAL_S),
        event_limit=EVENT_LIMIT,
        threads=0,
        policy=not options.trust,
        brief=True,
    )
    return with_tried_fixes(
        tape, request, is_open=options.trust, interpreter=chosen_python(options)
    )


def _say_progress(text: str) -> None:
    """Show a text on the terminal in place of the one before."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
