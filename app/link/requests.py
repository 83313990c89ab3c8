"""Pending engine requests, and replies made on the engine's behalf when it dies."""

from msgspec import Struct

from gradscribe.app.link import launch
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.processor_waits import SpentTime
from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.playback.translation import tr


class PendingRequest(Struct):
    """A request that the engine has not answered; ``stopped``: the user has pressed Stop.

    ``overdue``: the engine was aborted and may still dump its traceback. ``printed`` is the output
    and ``at`` the current line, for the tape that the link makes if the engine cannot.
    """

    request: messages.Run | messages.Comparison | messages.Probe | messages.ModelRequest
    timeout: float
    stopped: bool = False
    overdue: bool = False
    printed: str = ""
    at: CurrentLine | None = None
    has_ended: bool = False
    """True if its program has ended and its tape is being made."""
    importing: float = 0.0
    """Seconds of imports that do not count."""
    spent: SpentTime | None = None
    """The time that it has taken so far; None before it begins."""


def fallback_reply(job: PendingRequest, tape: Tape | None) -> messages.Reply:
    """Return the reply to a request whose engine is gone; ``tape`` is that of its program."""
    request = job.request
    if isinstance(request, messages.Comparison):
        return failed_check_reply(request, tr("Python ended; run the program again first"))
    if isinstance(request, messages.ModelRequest):
        return failed_model_file(request, tr("Python ended; run the program again first"))
    if isinstance(request, messages.Probe):
        problem = Problem("EngineDied", tr("Python ended while these lines ran"))
        return messages.Probed(request.run_id, problem=problem)
    tape = tape or Tape(status="error", error=Problem("Stopped", tr("Stopped before it began")))
    return messages.Recorded(request.run_id, tape, 0.0)


def lost_engine_tape(job: PendingRequest, why: str, errors: str) -> Tape | None:
    """Return the tape of a program whose engine is gone; None if the request was no run.

    ``errors`` is the end of the engine's standard error.
    """
    run = job.request
    if not isinstance(run, messages.Run):
        return None
    output, at = (errors, job.printed), job.at
    if job.overdue and job.has_ended and not job.stopped:
        return launch.unfinished_tape(launch.FREEZE_S, job.printed)
    if job.overdue:
        return launch.timeout_tape(run.source, run.filename, job.timeout, *output, job.stopped, at)
    return launch.crash_tape(run.source, run.filename, why, *output, at)


def failed_model_file(request: messages.ModelRequest, why: str) -> messages.ModelFile:
    """Return the reply to a request for a module's file that was not made, with the reason."""
    return messages.ModelFile(request.run_id, request.module, request.kind, problem=why)


def failed_check_reply(request: messages.Comparison, why: str) -> messages.Compared:
    """Return the reply to a check that was not made, with the reason."""
    if isinstance(request, messages.HandCheck):
        problem = Problem("NotCompared", why)
        return messages.HandChecked(request.run_id, request.number, request.value, problem=problem)
    if isinstance(request, messages.MeasureCosts):
        return messages.MeasuredCosts(request.run_id, request.kind, problem=why)
    if isinstance(request, messages.Gradcheck):
        return messages.Gradchecked(request.run_id, request.op, "", problem=why)
    return messages.Checked(request.run_id, request.value, request.index, 0.0, 0.0, 0.0, False, why)
