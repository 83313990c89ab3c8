"""What the engine has been asked for, and what is answered where it cannot."""

from msgspec import Struct

from app import child
from engine import wire
from engine.standing import At
from engine.tape import Problem, Tape


class Job(Struct):
    """What the engine has been asked for and has not answered; ``stopped``: by the user.

    ``overdue``: it has been told to die and may still say where it was. ``printed`` is its output,
    for the tape that the link has to make if the engine cannot, and ``at`` where it stood.
    """

    request: wire.Run | wire.Check | wire.Gradcheck | wire.Probe
    timeout: float
    stopped: bool = False
    overdue: bool = False
    printed: str = ""
    at: At | None = None


def answer(job: Job, tape: Tape | None) -> wire.Reply:
    """Return the answer that no engine will give any more; ``tape`` tells of a program's end."""
    request = job.request
    if isinstance(request, wire.Check | wire.Gradcheck):
        return unchecked(request, "Python ended; run the program again first")
    if isinstance(request, wire.Probe):
        problem = Problem("EngineDied", "Python ended while these lines ran")
        return wire.Probed(request.run_id, problem=problem)
    tape = tape or Tape(status="error", error=Problem("Stopped", "Stopped before it began"))
    return wire.Recorded(request.run_id, tape, 0.0)


def epitaph(job: Job, why: str, errors: str) -> Tape | None:
    """Return the tape of a program whose engine is gone, None where it was none.

    ``errors`` is the end of what the engine wrote to its standard error.
    """
    run = job.request
    if not isinstance(run, wire.Run):
        return None
    told, at = (errors, job.printed), job.at
    if job.overdue:
        return child.overdue(run.source, run.filename, job.timeout, *told, job.stopped, at)
    return child.obituary(run.source, run.filename, why, *told, at)


def unchecked(request: wire.Check | wire.Gradcheck, why: str) -> wire.Checked | wire.Gradchecked:
    """Return the answer to a check that was not made, and why."""
    if isinstance(request, wire.Gradcheck):
        return wire.Gradchecked(request.run_id, request.op, "", problem=why)
    return wire.Checked(request.run_id, request.value, request.index, 0.0, 0.0, 0.0, False, why)
