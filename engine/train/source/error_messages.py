"""Rephrase torch's errors in a run in terms of its setup."""

import re

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.run.errors import error_message

_ONEDNN = re.compile(
    r"could not create a primitive(?:.* for (?:the|an?) (.+?)(?: \w+ propagation)? prim)?"
)
"""Error of oneDNN, torch's CPU backend, for a dtype that the processor does not support."""


_SCHEDULE_END = re.compile(
    r"Tried to step \d+ times\. The specified number of total steps is (\d+)"
)
"""Error of a schedule with a fixed number of steps."""

_SINGLE_EXAMPLE = "Expected more than 1 value per channel when training"
"""Error of batch norm for a batch of one example."""


def explained(problem: Problem, setup: Setup) -> Problem:
    """Return a problem with a message and hint about the setup, if the error is a known one."""
    if "allocate memory" in problem.message:
        return replace(problem, message="Not enough memory for this")
    if setup.schedule is not None and (over := _SCHEDULE_END.match(problem.message)):
        message = f"The schedule {setup.schedule.name} is over after {int(over[1]):,} steps"
        return replace(problem, message=message, hint="Give it more total_steps, or choose another")
    if _SINGLE_EXAMPLE in problem.message and setup.batch > 1 and not setup.drop_last:
        hint = "The last batch of an epoch has a single example: drop it, or choose another size"
        return replace(problem, hint=hint)
    dtype = setup.amp or setup.dtype
    match = _ONEDNN.search(problem.message)
    if match is None or dtype == "float32":
        return problem
    what = match[1] or "This model"
    hint = "Choose float32: leave amp empty" if setup.amp else "Choose dtype float32"
    return replace(problem, message=f"{what} in {dtype} is not possible on this device", hint=hint)


def as_bad_setup(error: BaseException, setup: Setup) -> SetupError:
    """Return an error of a built-in model's first evaluation as a `SetupError`."""
    problem = Problem(type_name(type(error)), error_message(error))
    better = explained(problem, setup)
    if better.message != problem.message and better.hint:
        return SetupError(f"{better.message}. {better.hint}", "amp" if setup.amp else "dtype")
    first = problem.message.strip().partition("\n")[0]
    return SetupError(f"{problem.type}: {first}", "model")
