"""Pending engine requests, and replies made on the engine's behalf when it dies."""

from msgspec import Struct

from app import child
from engine import wire
from engine.standing import At
from engine.tape import Problem, Tape


class Job(Struct):
    """A request that the engine has not answered; ``stopped``: the user has pressed Stop.

    ``overdue``: the engine was aborted and may still dump its traceback. ``printed`` is the output
    and ``at`` the current line, for the tape that the link makes if the engine cannot.
    """

    request: wire.Run | wire.Check | wire.Gradcheck | wire.Probe
    timeout: float
    stopped: bool = False
    overdue: bool = False
    printed: str = ""
    at: At | None = None


def answer(job: Job, tape: Tape | None) -> wire.Reply:
    """Return the reply to a request whose engine is gone; ``tape`` is that of its program."""
    request = job.request
    if isinstance(request, wire.Check | wire.Gradcheck):
        return unchecked(request, "Python ended; run the program again first")
    if isinstance(request, wire.Probe):
        problem = Problem("EngineDied", "Python ended while these lines ran")
        return wire.Probed(request.run_id, problem=problem)
    tape = tape or Tape(status="error", error=Problem("Stopped", "Stopped before it began"))
    return wire.Recorded(request.run_id, tape, 0.0)


def epitaph(job: Job, why: str, errors: str) -> Tape | None:
    """Return the tape of a program whose engine is gone; None if the request was no run.

    ``errors`` is the end of the engine's standard error.
    """
    run = job.request
    if not isinstance(run, wire.Run):
        return None
    output, at = (errors, job.printed), job.at
    if job.overdue:
        return child.overdue(run.source, run.filename, job.timeout, *output, job.stopped, at)
    return child.obituary(run.source, run.filename, why, *output, at)


def unchecked(request: wire.Check | wire.Gradcheck, why: str) -> wire.Checked | wire.Gradchecked:
    """Return the reply to a check that was not made, with the reason."""
    if isinstance(request, wire.Gradcheck):
        return wire.Gradchecked(request.run_id, request.op, "", problem=why)
    return wire.Checked(request.run_id, request.value, request.index, 0.0, 0.0, 0.0, False, why)
