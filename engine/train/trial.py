"""Build a captured plan and verify it: it must reproduce the steps of the reference mode."""

import copy
import math

import torch
from torch.nn.parameter import is_lazy

from engine.errors import RAISES, message_of, name_of
from engine.train import checkpoints, clocks, outside
from engine.train.batches import Batches
from engine.train.capture import Refused
from engine.train.plan import Made, Plan
from engine.train.program import Program, Sections, quiet

CHECKED = 3
"""Number of steps made in both modes to verify a plan."""
TOLERANCE = 1e-5
"""Relative tolerance for losses and weights if an operation rounds differently; else they must be
bitwise equal."""
MOST_PARAMETERS = 1 << 24


def why_not(program: Program) -> str:
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
    if any(p.dtype != next(program.model.parameters()).dtype for p in program.model.parameters()):
        return "parameters of several dtypes run in reference mode"
    if program.keeps_elsewhere:
        return "forward depends on more than its inputs, weights and attributes"
    if not all(p.is_contiguous() for p in program.model.parameters()):
        return "a parameter that lies in memory in another order runs in reference mode"
    return ""


def build(program: Program, batches: Batches) -> Plan:
    """Return a plan verified against the reference mode; the run is left unchanged.

    Raises:
        Refused: the step cannot be captured, or does not give the same numbers.
    """
    why = why_not(program)
    if why:
        raise Refused(why)
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


def _copied(program: Program, batches: Batches, saved: checkpoints.Checkpoint) -> Program:
    """Return a program on the same data with a newly created module in a saved state."""
    program_copy = copy.copy(program)
    program_copy.names, program_copy.sections = (
        dict(program.names),
        Sections(dict(program.sections.texts)),
    )
    try:
        program_copy.begin_again()
        if any(map(is_lazy, program_copy.model.parameters())):
            with torch.no_grad(), quiet():
                program_copy.model(program_copy.tensor("x_train")[:1].clone())
        checkpoints.put_back(program_copy, batches, saved)
    except RAISES as error:
        checkpoints.put_back(program, batches, saved)
        raise Refused("the module could not be made a second time, to try it") from error
    return program_copy


def _verified(program: Program, batches: Batches, before: checkpoints.Checkpoint) -> Plan:
    try:
        with quiet():
            expected = [program.step([batches.draw()])]
            # Compared from here on, as state that only the first step creates does not matter.
            state = outside.seen(program)
            with clocks.watched() as read:
                expected += [program.step([batches.draw()]) for _ in range(CHECKED - 1)]
            if outside.seen(program) != state:
                raise Refused("a step changes what its program keeps outside of the module")
            if read:
                raise Refused(f"a step depends on more than its run: it calls {read[0]}()")
            weights = [p.detach().clone() for p in program.model.parameters()]
            if any(p.grad is not None and p.grad.is_sparse for p in program.model.parameters()):
                raise Refused("sparse gradients run in reference mode")
            memory = [b.detach().clone() for b in program.model.buffers()]
            checkpoints.put_back(program, batches, before)
            plan = Plan(program, batches)
            plan.attach()
            results = Made()
            plan.advance(CHECKED, math.inf, results)
            plan.detach()
    except Refused:
        checkpoints.put_back(program, batches, before)
        raise
    except RAISES as error:
        checkpoints.put_back(program, batches, before)
        first = message_of(error).strip().partition("\n")[0][:160]
        raise Refused(f"{name_of(type(error))}: {first}") from error
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
    checkpoints.put_back(program, batches, before)
    if not same:
        raise Refused("it did not give the same bits as reference mode")
    return plan


def _losses_agree(losses: list[float], other: list[float]) -> bool:
    return len(losses) == len(other) and all(
        math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(losses, other, strict=True)
    )


def _tensors_agree(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(tensor, other, rtol=TOLERANCE, atol=TOLERANCE / 10)
