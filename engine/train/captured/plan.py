"""Captured mode of a run: its parameters in one flat vector, its step as straight-line calls.

It is used only if it has reproduced the steps of the reference mode (`trial`); else the run stays
in reference mode and gives the reason. The module's parameters become views of the flat vector.
"""

import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

import torch

from gradscribe.engine.train.batches import Batches
from gradscribe.engine.train.captured.batch_slots import BatchSlots
from gradscribe.engine.train.captured.capture import CaptureError, Emitter, Step, trace
from gradscribe.engine.train.captured.rules import Memory, flat_rule
from gradscribe.engine.train.source import steps
from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.train.user_module import attributes

Arguments = tuple[torch.Tensor, ...]

ROUNDING_NOTE = "a tanh of many numbers is NumPy's, which may round the last bit otherwise"
MOST_SHAPES = 3
ALIGNED = 64
"""Alignment in bytes of each parameter in the flat vector, that of torch's allocations: a matrix
product may sum in another order if its result is not aligned."""


@dataclass
class CapturedStep:
    """The captured step of one batch shape, with its batch buffers."""

    go: Step
    x: torch.Tensor
    y: torch.Tensor
    own: Arguments
    """The arguments for the buffers ``x`` and ``y``."""
    slots: BatchSlots | None = None
    in_slots: list[Arguments] = field(default_factory=list)


@dataclass
class StepResults:
    """Results of steps: their losses, and the learning rates after them if there is a schedule."""

    losses: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    goals: Callable[[float], bool] | None = None
    """Called with each loss; returns whether that step is the last."""

    def loss_callback(self) -> Callable[[float], object]:
        """Return a function to call with each loss; its result is true after the last step."""
        return self.losses.append if self.goals is None else self._add

    def _add(self, loss: float) -> bool:
        self.losses.append(loss)
        return self.goals is not None and self.goals(loss)


class CapturePlan:
    """Flat storage of a run, with a captured step for each batch shape."""

    def __init__(self, program: TrainingProgram, batches: Batches) -> None:
        self._program, self._batches = program, batches
        self.is_exact = True
        """True if every captured step is bitwise equal to the reference mode."""
        named = dict(program.model.named_parameters())
        self._trainable = {n: p for n, p in named.items() if p.requires_grad}
        if not self._trainable:
            raise CaptureError("nothing learns")
        parameters = list(self._trainable.values())
        sizes = [-(-p.nbytes // ALIGNED) * ALIGNED // p.itemsize for p in parameters]
        self._starts = list(itertools.accumulate(sizes[:-1], initial=0))
        self._flat = parameters[0].detach().new_zeros(sum(sizes))
        self._grad = torch.zeros_like(self._flat)
        self._values = self._cut(self._flat)
        self._grads = self._cut(self._grad)
        self._views: dict[str, list[torch.Tensor]] = {}
        """Optimizer state by name, as views in the shapes of the parameters."""
        for parameter, value in zip(parameters, self._values, strict=True):
            value.copy_(parameter.detach())
            parameter.data = value
        self._memory: Memory = {}
        self._steps: dict[int, CapturedStep] = {}
        self._count = 0
        self._loss_of = self._forward()
        self._update_step = self._update()

    def _cut(self, flat: torch.Tensor) -> list[torch.Tensor]:
        """Return views of a flat vector in the shapes of the parameters."""
        pairs = zip(self._starts, self._trainable.values(), strict=True)
        return [flat[start : start + p.numel()].view(p.shape) for start, p in pairs]

    def _forward(self) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
        """Return a function from a batch to its loss, compiled from the displayed lines."""
        lines = [text for event, text in self._program.lines if event in ("forward", "loss")]
        names = dict(self._program.names)
        body = steps.indented("\n".join([*lines, "return loss"]))
        exec(f"def loss_of(inputs, targets):\n{body}\n", names)
        return cast("Callable[[torch.Tensor, torch.Tensor], torch.Tensor]", names["loss_of"])

    def _update(self) -> Callable[[torch.Tensor], None] | None:
        """Return clipping, update and schedule as a function of the loss; None without either."""
        before = [text for event, text in self._program.lines if event == "clip"]
        later = [text for event, text in self._program.lines if event == "schedule"]
        names = {**self._program.names, "update": self._step_optimizer}
        if not before and not later:
            return None
        body = steps.indented("\n".join([*before, "update()", *later]))
        exec(f"def after(loss):\n{body}\n", names)
        return cast("Callable[[torch.Tensor], None]", names["after"])

    # Before and after steps

    def attach(self) -> None:
        """Make gradients and optimizer state views of the flat vectors."""
        for parameter, grad in zip(self._trainable.values(), self._grads, strict=True):
            parameter.grad = grad
        optimizer = self._program.optimizer
        rule_entry = flat_rule(optimizer)
        self._rule = rule_entry[0] if rule_entry else None
        if rule_entry is None:
            return
        self._count = 0
        for name in rule_entry[1]:
            if name not in self._memory:
                self._memory[name] = torch.zeros_like(self._flat)
                self._views[name] = self._cut(self._memory[name])
            for parameter, view in zip(self._trainable.values(), self._views[name], strict=True):
                self._share_state(optimizer.state.get(parameter, {}), name, view)
        self._memory.setdefault("scratch", torch.zeros_like(self._flat))

    def _share_state(self, state: dict[str, object], name: str, view: torch.Tensor) -> None:
        tensor = state.get(name)
        if isinstance(tensor, torch.Tensor):
            if tensor.data_ptr() != view.data_ptr():
                view.copy_(tensor)
                state[name] = view
            step = state.get("step")
            self._count = int(step.item()) if isinstance(step, torch.Tensor) else 1
        else:
            view.zero_()

    def detach(self) -> None:
        """Write the step count and new state tensors back into the optimizer."""
        if self._rule is None:
            return
        rule_entry = flat_rule(self._program.optimizer)
        if rule_entry is None or self._count == 0:
            return
        state = self._program.optimizer.state
        is_sgd = "momentum_buffer" in rule_entry[1]
        if is_sgd and not self._program.optimizer.param_groups[0]["momentum"]:
            return
        if not is_sgd:
            for parameter in self._trainable.values():
                step = state[parameter].get("step")
                if isinstance(step, torch.Tensor):
                    step.fill_(self._count)
                else:
                    state[parameter]["step"] = torch.tensor(float(self._count))
        for name in rule_entry[1]:
            for parameter, view in zip(self._trainable.values(), self._views[name], strict=True):
                state[parameter][name] = view

    # Steps

    def advance(self, most: int, end: float, results: StepResults) -> None:
        """Make up to ``most`` steps until time ``end``, or until a loss is not finite."""
        while len(results.losses) < most:
            before, (captured, ready) = len(results.losses), self._ready(most - len(results.losses))
            try:
                if self._update_step is None and self._rule is not None:
                    goes_on = self._fast_steps(captured.go, ready, end, results)
                else:
                    goes_on = self._mixed_steps(captured.go, ready, end, results)
            finally:
                self._batches.skip(len(captured.x) * (len(results.losses) - before))
            if not goes_on:
                return

    def _ready(self, most: int) -> tuple[CapturedStep, Iterable[Arguments]]:
        """Return the captured step for the next batches, and the arguments of at least one."""
        batches = self._batches
        if batches.is_whole:
            captured = self._steps.get(batches.rows) or self._capture(batches.rows)
            return captured, itertools.repeat(captured.own, most)
        left = batches.left()
        size = min(batches.size, left)
        captured = self._steps.get(size) or self._capture(size)
        if captured.slots is not None:
            first, end = captured.slots.next(left)
            return captured, captured.in_slots[first : min(end, first + most)]
        assert batches.order is not None
        rows = batches.order[batches.at : batches.at + size]
        torch.index_select(batches.x, 0, rows, out=captured.x)
        torch.index_select(batches.y, 0, rows, out=captured.y)
        return captured, (captured.own,)

    @torch.inference_mode()
    def _fast_steps(
        self, go: Step, ready: Iterable[Arguments], end: float, results: StepResults
    ) -> bool:
        """Make steps of captured operations only; return whether to continue."""
        clock, note, rule = time.perf_counter, results.loss_callback(), self._rule
        flat, grad, memory = self._flat, self._grad, self._memory
        group, count = self._program.optimizer.param_groups[0], self._count
        assert rule is not None
        try:
            for arguments in ready:
                loss = go(*arguments)
                count += 1
                rule(flat, grad, memory, group, count)
                value = loss.item()
                if note(value) or value - value != 0 or clock() >= end:
                    return False
        finally:
            self._count = count
        return True

    def _mixed_steps(
        self, go: Step, ready: Iterable[Arguments], end: float, results: StepResults
    ) -> bool:
        """Make steps with torch's optimizer, a schedule or clipping; return as `_fast_steps`."""
        group, note = self._program.optimizer.param_groups[0], results.loss_callback()
        for arguments in ready:
            loss = go(*arguments)
            if self._update_step is None:
                self._step_optimizer()
            else:
                self._update_step(loss)
            value = loss.item()
            if self._program.scheduler is not None:
                results.rates.append(group["lr"])
            if note(value) or value - value != 0 or time.perf_counter() >= end:
                return False
        return True

    def _step_optimizer(self) -> None:
        if self._rule is None:
            self._program.optimizer.step()
            return
        self._count += 1
        group = self._program.optimizer.param_groups[0]
        with torch.no_grad():
            self._rule(self._flat, self._grad, self._memory, group, self._count)

    def _capture(self, size: int) -> CapturedStep:
        if len(self._steps) >= MOST_SHAPES:
            self._steps.clear()
        x, y = self._batches.x, self._batches.y
        if size != self._batches.rows:
            x, y = x[:size].clone(), y[:size].clone()
        model = self._program.model
        random = self._program.random_state()
        buffers = attributes.buffers_of(model)
        attributes_before = attributes.of_model(model)
        try:
            graph = trace(model, self._trainable, self._loss_of, x.clone(), y.clone())
            if name := attributes.first_difference(attributes_before, attributes.of_model(model)):
                raise CaptureError(f"forward changes self.{name}, which a replayed step would not")
            with torch.no_grad():
                may_round = self._program.setup.mode == "captured"
                emitter = Emitter(graph, self._values, (x, y), may_round)
                captured = CapturedStep(
                    emitter.emit(self._grads), x, y, emitter.batch_arguments(x, y)
                )
                self.is_exact &= emitter.is_exact
                if size == self._batches.size < self._batches.rows and BatchSlots.fits(
                    self._batches, size
                ):
                    captured.slots = BatchSlots(self._batches, size)
                    captured.in_slots = [
                        emitter.batch_arguments(*p) for p in captured.slots.pairs()
                    ]
        finally:
            attributes.restore_buffers(buffers)
            attributes_before.restore(model)
            self._program.set_random_state(random)
        self._steps[size] = captured
        return captured


def plan_key(program: TrainingProgram) -> tuple[str, ...]:
    """Return the cache key of a plan: if it changes, a new plan has to be built."""
    setup, sections = program.setup, program.sections
    return (
        *(sections[name] for name in ("step", "loss", "freeze")),
        setup.optimizer.name,
        *map(str, setup.mistakes),
        str(setup.schedule),
    )
