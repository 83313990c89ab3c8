"""Build a captured plan and verify it: it must reproduce the steps of the reference mode."""

import copy
import math

import torch
from torch.nn.parameter import is_lazy

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.run.errors import USER_ERRORS, error_message
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.batches import Batches
from gradscribe.engine.train.captured.capture import CaptureError
from gradscribe.engine.train.captured.plan import CapturePlan, StepResults
from gradscribe.engine.train.source.program import TrainingProgram, suppress_warnings
from gradscribe.engine.train.user_module import external_state, nondeterminism

CHECKED_STEPS = 3
"""Number of steps made in both modes to verify a plan."""
TOLERANCE = 1e-5
"""Relative tolerance for losses and weights if an operation rounds differently; else they must be
bitwise equal."""
MOST_PARAMETERS = 1 << 24


def unsupported_reason(program: TrainingProgram) -> str:
    """Return why a setup has no captured mode, or an empty text."""
    setup = program.setup
    if setup.device != "cpu":
        return "captured mode is for the CPU"
    if setup.amp or setup.accumulate > 1:
        return "autocast and accumulation run in reference mode"
    if sum(p.numel() for p in program.model.parameters()) > MOST_PARAMETERS:
        return "a model of so many parameters has nothing to gain from captured mode"
    if any(event == "step" and "closure" in text for event, text in program.lines):
        return f"{setup.optimizer.name} calls the model several times a step"
    if setup.mistakes:
        return "mistakes on purpose run in reference mode"
    if setup.deviates:
        return "another order of the step, or an update by hand, runs in reference mode"
    if any(p.dtype != next(program.model.parameters()).dtype for p in program.model.parameters()):
        return "parameters of several dtypes run in reference mode"
    if program.has_external_state:
        return "forward depends on more than its inputs, weights and attributes"
    if not all(p.is_contiguous() for p in program.model.parameters()):
        return "a parameter that lies in memory in another order runs in reference mode"
    return ""


def build_verified(program: TrainingProgram, batches: Batches) -> CapturePlan:
    """Return a plan verified against the reference mode; the run is left unchanged.

    Raises:
        Refused: the step cannot be captured, or does not give the same numbers.
    """
    why = unsupported_reason(program)
    if why:
        raise CaptureError(why)
    before = checkpoints.take(program, batches, 0)
    if program.setup.model.name != "own":
        return _verified(program, batches, before)
    data = [(tensor, tensor.clone()) for tensor in (batches.x, batches.y) if batches.is_whole]
    try:
        # Hidden state of a user's module cannot be restored, so a copy is tried first.
        _verified(_copied(program, batches, before), batches, before)
        return _verified(program, batches, before)
    finally:
        # It may write into its batch, which is the data itself if there is a single batch.
        for tensor, was in data:
            tensor.copy_(was)


def _copied(
    program: TrainingProgram, batches: Batches, saved: checkpoints.Checkpoint
) -> TrainingProgram:
    """Return a program on the same data with a newly created module in a saved state."""
    program_copy = copy.copy(program)
    program_copy.names = dict(program.names)
    program_copy.sections = dict(program.sections)
    try:
        program_copy.rebuild_model()
        if any(map(is_lazy, program_copy.model.parameters())):
            with torch.no_grad(), suppress_warnings():
                program_copy.model(program_copy.tensor("x_train")[:1].clone())
        checkpoints.restore(program_copy, batches, saved)
    except USER_ERRORS as error:
        checkpoints.restore(program, batches, saved)
        raise CaptureError("the module could not be made a second time, to try it") from error
    return program_copy


def _verified(
    program: TrainingProgram, batches: Batches, before: checkpoints.Checkpoint
) -> CapturePlan:
    try:
        with suppress_warnings():
            expected = [program.step([batches.draw()])]
            # Compared from here on, as state that only the first step creates does not matter.
            state = external_state.snapshot(program)
            with nondeterminism.watch_reads() as read:
                expected += [program.step([batches.draw()]) for _ in range(CHECKED_STEPS - 1)]
            if external_state.snapshot(program) != state:
                raise CaptureError("a step changes what its program keeps outside of the module")
            if read:
                raise CaptureError(f"a step depends on more than its run: it calls {read[0]}()")
            weights = [p.detach().clone() for p in program.model.parameters()]
            if any(p.grad is not None and p.grad.is_sparse for p in program.model.parameters()):
                raise CaptureError("sparse gradients run in reference mode")
            memory = [b.detach().clone() for b in program.model.buffers()]
            checkpoints.restore(program, batches, before)
            plan = CapturePlan(program, batches)
            plan.attach()
            results = StepResults()
            plan.advance(CHECKED_STEPS, math.inf, results)
            plan.detach()
    except CaptureError:
        checkpoints.restore(program, batches, before)
        raise
    except USER_ERRORS as error:
        checkpoints.restore(program, batches, before)
        first = error_message(error).strip().partition("\n")[0][:160]
        raise CaptureError(f"{type_name(type(error))}: {first}") from error
    now = [p.detach() for p in program.model.parameters()]
    agree = torch.equal if plan.is_exact else _tensors_agree
    same = (
        (
            results.losses == expected
            or (not plan.is_exact and _losses_agree(results.losses, expected))
        )
        and all(map(agree, weights, now))
        and all(map(agree, memory, program.model.buffers()))
    )
    checkpoints.restore(program, batches, before)
    if not same:
        raise CaptureError("it did not give the same bits as reference mode")
    return plan


def _losses_agree(losses: list[float], other: list[float]) -> bool:
    return len(losses) == len(other) and all(
        math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(losses, other, strict=True)
    )


def _tensors_agree(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(tensor, other, rtol=TOLERANCE, atol=TOLERANCE / 10)
