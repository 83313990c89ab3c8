"""Checkpoints of a run in bounded memory, from which any step can be replayed."""

import bisect
import copy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import msgspec
import torch

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train.batches import Batches
from gradscribe.engine.train.source.program import TrainingProgram, suppress_warnings
from gradscribe.engine.train.user_module import attributes

BUDGET = 64 << 20
"""Memory budget in bytes for the checkpoints of one run."""
MAX_CHECKPOINTS = 256
T = TypeVar("T")
FIRST_STRIDE = 512
"""Initial number of steps between checkpoints: each costs as much as a step or two."""


@dataclass(frozen=True)
class Checkpoint:
    """The complete state of a run after ``step``."""

    step: int
    setup: Setup
    parameters: list[torch.Tensor]
    gradients: list[torch.Tensor | None]
    buffers: list[torch.Tensor]
    optimizer: dict[str, object]
    scheduler: dict[str, object] | None
    scaler: dict[str, object] | None
    rng: list[torch.Tensor]
    batches: tuple[object, ...]
    training: bool
    kept: attributes.ModuleAttributes = field(default_factory=attributes.ModuleAttributes)

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        tensors = [*self.parameters, *self.buffers, *(g for g in self.gradients if g is not None)]
        written = next(iter(self.batches[4:]), None) or ()
        data = sum(tensor.nbytes for tensor in cast("tuple[torch.Tensor, ...]", written))
        return sum(map(_bytes, tensors)) * 2 + data + self.kept.size + 20_000


def _bytes(tensor: torch.Tensor) -> int:
    parts = (tensor._indices(), tensor._values()) if tensor.is_sparse else (tensor,)
    return sum(part.nbytes for part in parts)


def take(program: TrainingProgram, batches: Batches, step: int) -> Checkpoint:
    """Copy the state of a run after ``step``."""
    model, scheduler, scaler = program.model, program.scheduler, program.scaler
    return Checkpoint(
        step,
        program.setup,
        [p.detach().clone() for p in model.parameters()],
        [None if p.grad is None else p.grad.detach().clone() for p in model.parameters()],
        [b.detach().clone() for b in model.buffers()],
        _copied(program.optimizer.state_dict()),
        None if scheduler is None else copy.deepcopy(scheduler.state_dict()),
        None if scaler is None else copy.deepcopy(scaler.state_dict()),
        program.random_state(),
        batches.state(),
        model.training,
        attributes.of_program(program),
    )


def _copied(state: dict[str, Any]) -> dict[str, object]:
    """Return a copy of an optimizer's state, ten times faster than `copy.deepcopy` for few tensors.

    State of an unusual form is copied by `copy.deepcopy`.
    """
    memories = state["state"]
    if any(not isinstance(memory, dict) for memory in memories.values()):
        return copy.deepcopy(state)
    plain = (bool, int, float, str, type(None))
    copies: dict[object, object] = {}
    for key, memory in memories.items():
        copies[key] = {
            name: value.detach().clone()
            if isinstance(value, torch.Tensor)
            else value
            if isinstance(value, plain)
            else copy.deepcopy(value)
            for name, value in memory.items()
        }
    return {**copy.deepcopy({k: v for k, v in state.items() if k != "state"}), "state": copies}


@torch.no_grad()
def restore(program: TrainingProgram, batches: Batches, saved: Checkpoint) -> None:
    """Restore a run's state bit for bit, in place."""
    if program.setup != saved.setup:
        program.change(saved.setup)
    batches.change(saved.setup)
    pairs = zip(program.model.parameters(), saved.parameters, saved.gradients, strict=True)
    for parameter, value, gradient in pairs:
        parameter.copy_(value)
        if gradient is None:
            parameter.grad = None
        elif parameter.grad is not None and parameter.grad.layout == gradient.layout:
            parameter.grad.copy_(gradient)
        else:
            # Gradients from a file are on the CPU; captured mode has no sparse gradients to share.
            parameter.grad = gradient.to(parameter.device, copy=True)
    for buffer, value in zip(program.model.buffers(), saved.buffers, strict=True):
        buffer.copy_(value)
    with suppress_warnings():
        program.optimizer.load_state_dict(copy.deepcopy(saved.optimizer))
        if program.scheduler is not None and saved.scheduler is not None:
            program.scheduler.load_state_dict(copy.deepcopy(saved.scheduler))
        if program.scaler is not None and saved.scaler is not None:
            program.scaler.load_state_dict(copy.deepcopy(saved.scaler))
    program.set_random_state(saved.rng)
    batches.restore(saved.batches)
    program.model.train(saved.training)
    saved.kept.restore(program.model)


def with_data_part(what: T, data: Part) -> T:
    """Return a setup with its data part replaced; anything else is returned unchanged."""
    return msgspec.structs.replace(what, data=data) if isinstance(what, Setup) else what


class Checkpoints:
    """Checkpoints in the order of their steps, always including step 0."""

    def __init__(self) -> None:
        self.all: list[Checkpoint] = []
        """All checkpoints, the earliest first."""
        self.stride = FIRST_STRIDE

    def __len__(self) -> int:
        return len(self.all)

    def restore(self, saved: list[Checkpoint], stride: int) -> None:
        """Replace all checkpoints."""
        self.all, self.stride = list(saved), stride

    def rename(self, data: Part) -> None:
        """Apply new names of the data to every checkpoint."""
        self.all = [replace(c, setup=with_data_part(c.setup, data)) for c in self.all]

    def copied(self, step: int) -> "Checkpoints":
        """Return the checkpoints up to ``step``, for another run."""
        copy_ = Checkpoints()
        copy_.stride = self.stride
        copy_.all = [c for c in self.all if c.step <= step]
        return copy_

    def is_due(self, step: int) -> bool:
        """Return whether a checkpoint is due after ``step``."""
        return step % self.stride == 0 and (not self.all or self.all[-1].step < step)

    def add(self, saved: Checkpoint) -> None:
        """Add a checkpoint; over budget, drop every second one and double the stride."""
        self.all.append(saved)
        # A module's attributes may grow, and the first checkpoint has none of that.
        size = max(self.all[0].size, saved.size)
        if len(self.all) > MAX_CHECKPOINTS or size * len(self.all) > BUDGET:
            if len(self.all) <= 2:
                return
            self.stride *= 2
            self.all = [c for c in self.all if c.step % self.stride == 0]

    def join(self, later: list[Checkpoint]) -> None:
        """Bring checkpoints after the last back, which `forget_after` dropped."""
        for saved in later:
            if self.all[-1].step < saved.step and saved.step % self.stride == 0:
                self.add(saved)

    def before(self, step: int) -> Checkpoint:
        """Return the last checkpoint at or before ``step``."""
        return self.all[bisect.bisect_right(self.all, step, key=lambda c: c.step) - 1]

    def forget_after(self, step: int) -> None:
        """Drop the checkpoints after ``step``."""
        self.all = [c for c in self.all if c.step <= step]
