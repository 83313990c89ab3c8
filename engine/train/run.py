"""A training run: its steps, checkpoints, curves and the changes made during it."""

import math
import time
from collections.abc import Iterator
from typing import Literal

import torch

from engine.errors import RAISES
from engine.setup import BadSetup, Part, Setup
from engine.tape import Problem
from engine.train import checkpoints, fitting, program, trial, wording
from engine.train import plan as plans
from engine.train.batches import Batches
from engine.train.capture import Refused
from engine.train.changing import Change, Edit
from engine.train.checkpoints import Checkpoint, Checkpoints
from engine.train.events import Events
from engine.train.goals import Goals
from engine.train.history import History
from engine.train.plan import Made, Plan
from engine.train.program import Batch, Failed, Program, quiet
from engine.train.trail import Trail
from engine.train.unlabelled import unlabelled
from engine.zoo.given import Files

CAPTURED_FROM = 2000
"""Steps after which capturing pays off for a run with mode ``auto``."""


class Run:
    """A run at one of its steps (0: the untrained model); ``files``: data files of another run."""

    def __init__(self, setup: Setup, files: Files | None = None) -> None:
        if setup.threads:
            torch.set_num_threads(setup.threads)
        self.program = Program(setup, files)
        if setup.model.name == "own":
            fitting.check(self.program)
        self.batches = Batches(self.program)
        self.step = 0
        self.problem: Problem | None = None
        self.history = History([n for n, _ in self.program.model.named_parameters()])
        self.past = Checkpoints()
        self.trail = Trail()
        self.changes: list[tuple[int, Change]] = []
        """The changes, each with the step after which it was made."""
        self.events: Events | None = None
        self.unfinished = 0
        """For a run that was saved inside a step: how many of its events had run."""
        self.left: tuple[str, ...] = ()
        """For a resumed run: module attributes that were not saved and have initial values."""
        self.ratios: list[tuple[float, float]] = []
        """Gradient norm and update ratio of each parameter at the last measured step."""
        self.plan: Plan | None = None
        self._plan_key: tuple[str, ...] = ()
        self.why = ""
        """Why captured mode is not used, or a remark on its precision; else empty."""
        self._attached = False
        self._validate_first()
        # After the first validation: a rewind to step 0 restores what it left in the model, such
        # as a call counter or batch norm statistics.
        self.past.add(checkpoints.take(self.program, self.batches, 0))
        self._rng = checkpoints.random_state(self.program)

    @property
    def setup(self) -> Setup:
        """The current setup, with every default filled in."""
        return self.program.setup

    @property
    def epoch(self) -> float:
        """The number of passes over the training data."""
        return self.batches.seen / self.batches.rows

    def enter(self) -> None:
        """Restore this run's state of torch's generators and its number of threads."""
        checkpoints.set_random_state(self.program, self._rng)
        if self.setup.threads:
            torch.set_num_threads(self.setup.threads)

    def leave(self) -> None:
        """Save the state of torch's generators for the next `enter`."""
        self._rng = checkpoints.random_state(self.program)

    # Going on

    def draw(self) -> list[Batch]:
        """Return the batches of the next step."""
        return [self.batches.draw() for _ in range(self.setup.accumulate)]

    def advance(self, steps: int, seconds: float = math.inf, goals: Goals | None = None) -> int:
        """Make up to ``steps`` steps within about ``seconds``; return how many were made.

        It stops early at its ``goals`` and, with `problem` set, if a step or its loss fails.
        """
        end = time.perf_counter() + seconds
        if self.events is None and self.problem is None:
            self._attach()
        try:
            return self._advance(steps, end, goals)
        finally:
            self._detach()

    def _advance(self, steps: int, end: float, goals: Goals | None) -> int:
        count = 0
        with quiet():
            while count < steps and self.problem is None:
                if self.events is not None:
                    self.finish_events()
                    count += 1
                else:
                    count += self._burst(min(steps - count, self._until_due()), end, goals)
                if time.perf_counter() >= end or (goals and goals.reached):
                    break
        return count

    def _until_due(self) -> int:
        """Return the number of steps until a validation, checkpoint or weight path point is due."""
        every, stride = self.setup.validate_every, self.past.stride
        wait = stride - self.step % stride
        if self._attached:
            wait = min(wait, self.trail.left(self.step))
        return min(wait, every - self.step % every) if every else wait

    def _burst(self, most: int, end: float, goals: Goals | None) -> int:
        """Make up to ``most`` consecutive steps; return how many were made."""
        results = Made(goals=goals or None)
        error: BaseException | None = None
        try:
            with unlabelled(self.program.optimizer):
                if self._attached and self.plan:
                    self.plan.advance(most, end, results)
                else:
                    self._reference_steps(most, end, results)
        except RAISES as raised:
            error = raised
        if results.losses:
            self.arrive(results)
        if error is not None:
            self._fail(error)
        return len(results.losses) + (error is not None)

    def _reference_steps(self, most: int, end: float, results: Made) -> None:
        """Make up to ``most`` steps in reference mode."""
        clock, note, step = time.perf_counter, results.noter(), self.program.step_function
        group, schedule = self.program.optimizer.param_groups[0], self.program.scheduler
        trail, model, at = self.trail, self.program.model, self.step
        due = at + trail.left(at)
        for batch in self._arguments(most):
            value = step(*batch)
            is_last = note(value)
            at += 1
            if schedule is not None:
                results.rates.append(group["lr"])
            if at == due:
                trail.add(at, model)
                due = at + trail.left(at)
            if is_last or value - value != 0 or clock() >= end:
                return

    def _arguments(self, most: int) -> Iterator[tuple[object, ...]]:
        """Yield the arguments of each step."""
        if self.setup.accumulate > 1:
            return ((self.draw(),) for _ in range(most))
        draw = self.batches.draw
        return (draw() for _ in range(most))

    @property
    def mode(self) -> Literal["reference", "captured"]:
        """The mode in use."""
        return "captured" if self.plan is not None else "reference"

    def _attach(self) -> None:
        """Use captured mode for the next steps if it is wanted and possible."""
        wanted = self.setup.mode == "captured" or (
            self.setup.mode == "auto" and self.step >= CAPTURED_FROM
        )
        key = (self.setup.mode, *plans.key(self.program)) if wanted else ()
        if key != self._plan_key:
            self._plan_key, self.plan, self.why = key, None, ""
            if wanted:
                try:
                    self.plan = trial.build(self.program, self.batches)
                    self.why = "" if self.plan.is_exact else plans.ROUNDED
                except Refused as error:
                    self.why = str(error)
        if self.plan is not None:
            self.plan.attach()
            self._attached = True

    def _detach(self) -> None:
        """Write the state of captured mode back into the optimizer."""
        if self._attached and self.plan is not None:
            self.plan.detach()
        self._attached = False

    def arrive(self, results: Made) -> None:
        """Record completed steps; validate and take a checkpoint if due after the last."""
        rates = results.rates or [self.program.optimizer.param_groups[0]["lr"]] * len(
            results.losses
        )
        self.history.add(self.step + 1, results.losses, rates)
        self.step += len(results.losses)
        every = self.setup.validate_every
        if every and self.step % every == 0 and self.program.has_validation:
            self.history.validated(self.step, self._validation_loss())
        self.trail.add(self.step, self.program.model)
        if self.past.due(self.step):
            if self._attached and self.plan is not None:
                self.plan.detach()
            self.past.add(checkpoints.take(self.program, self.batches, self.step))
        if not math.isfinite(results.losses[-1]):
            self.problem = Problem("NaN", f"The loss of step {self.step} is {results.losses[-1]}")

    def _validation_loss(self) -> float:
        """Return the validation loss; NaN, with `problem` set, if the model raises."""
        try:
            return self.program.evaluate()
        except RAISES as error:
            self.program.model.train()
            self.problem = self.program.failure(error)
            return math.nan

    def _validate_first(self) -> None:
        if self.setup.validate_every and self.program.has_validation:
            with quiet():
                try:
                    self.history.validated(0, self.program.evaluate())
                except RAISES as error:
                    if self.setup.model.name == "own":
                        raise Failed(self.program.failure(error), "model.source") from error
                    raise wording.refusal(error, self.setup) from error

    def _fail(self, error: BaseException) -> None:
        """Return to the last completed step, before the next batch was drawn."""
        self._detach()
        problem = self.program.failure(error)
        now, step = self.state(), self.step
        try:
            self.go_to(step)
        except RAISES:
            # A module that counts its calls cannot be replayed.
            self.load(now)
        # Set last: replaying a change resets `problem`.
        self.problem = problem

    # One event inside a step

    def next_event(self) -> Events:
        """Execute the next event of the current step, or the first of a new step."""
        if self.events is None or self.events.done:
            self.events = Events(self.program, self.draw())
        try:
            with quiet():
                self.events.advance()
        except RAISES as error:
            self.events = None
            self._fail(error)
            raise Failed(self.program.failure(error)) from error
        events = self.events
        if events.done:
            self.events = None
            self.arrive(Made([events.loss]))
        return events

    def finish_events(self) -> None:
        """Execute the remaining events of a partly executed step."""
        while self.events is not None and self.problem is None:
            try:
                self.next_event()
            except Failed:
                return

    # Changing something

    def alter(self, setup: Setup) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Apply a new setup from the next step on.

        Returns the keys that were applied, and those that need a restart; if there are any of
        these, nothing has changed. Raises `BadSetup`.
        """
        self.finish_events()
        setup = program.filled(setup, self.program.task)
        applied, anew = program.changed(self.setup, setup)
        if anew or not applied:
            return applied, anew
        self.apply(setup)
        if "data" in applied:
            self._rename(setup.data)
        if applied != ("data",):
            self.changes.append((self.step, setup))
        return applied, ()

    def _rename(self, data: Part) -> None:
        """Apply new names for the same data from step 0 on: no step depends on them."""
        self.past.rename(data)
        self.changes = [(at, checkpoints.renamed(what, data)) for at, what in self.changes]

    def edit(self, edit: Edit) -> None:
        """Set an element of a parameter. Raises `BadSetup` without one, or if it is not finite."""
        self.finish_events()
        parameter = dict(self.program.model.named_parameters()).get(edit.name)
        if parameter is None or not 0 <= edit.index < parameter.numel():
            raise BadSetup(f"there is no element {edit.index} in {edit.name!r}", "weight")
        if not torch.tensor(edit.value, dtype=torch.float64).to(parameter.dtype).isfinite():
            raise BadSetup(f"a weight cannot be {edit.value:g}", "weight")
        self.apply(edit)
        self.changes.append((self.step, edit))

    def repeat_edits(self, other: "Run") -> None:
        """Repeat the manual weight edits that another run had before its first step."""
        for at, change in other.changes:
            if at == 0 and isinstance(change, Edit):
                self.edit(change)

    def apply(self, change: Change) -> None:
        """Make a change without recording it."""
        self.problem = None
        if isinstance(change, Setup):
            self.program.change(change)
            self.batches.change(change)
            return
        self.program.model.get_parameter(change.name).detach().view(-1)[change.index] = change.value

    # Going back

    def rewind(self, step: int) -> None:
        """Restore ``step`` bit for bit and discard everything after it."""
        self.events = None
        self.program.let_go()
        step = max(0, min(step, self.step))
        self.go_to(step)
        self.problem = None
        self.past.forget_after(step)
        self.trail.forget_after(step)
        self.history.forget_after(step)
        self.changes = [(at, change) for at, change in self.changes if at <= step]

    def go_to(self, step: int) -> None:
        """Move to an earlier step without discarding later ones."""
        saved = self.past.before(step)
        self.load(saved)
        # A checkpoint is taken as its step ends, so changes made after that step are not in it.
        later = [(at, change) for at, change in self.changes if at >= saved.step]
        with quiet():
            for at in range(saved.step, step + 1):
                while later and later[0][0] == at:
                    self.apply(later.pop(0)[1])
                if at < step:
                    self._replay(at + 1)
        self.step = step

    def _replay(self, step: int) -> None:
        """Repeat a step in the mode that made it, as modes may differ in the last bit."""
        if self.setup.mode == "captured" and (self.plan is None or not self.plan.is_exact):
            self._attach()
        if self._attached and self.plan is not None and not self.plan.is_exact:
            self.plan.advance(1, math.inf, Made())
        else:
            self._detach()
            self.program.step(self.draw())
        self._detach()
        every = self.setup.validate_every
        if every and step % every == 0 and self.program.has_validation:
            self._validation_loss()

    def load(self, saved: Checkpoint) -> None:
        """Restore the state of a checkpoint."""
        checkpoints.put_back(self.program, self.batches, saved)
        self.step = saved.step

    def fork(self, step: int, setup: Setup) -> "Run":
        """Return a new run in the state of this one at ``step``, continuing with ``setup``.

        Raises:
            BadSetup: the setup changes a setting that cannot change during a run.
        """
        self.finish_events()
        step = max(0, min(step, self.step))
        _, anew = program.changed(self.setup, program.filled(setup, self.program.task))
        if anew:
            raise BadSetup(f"a fork cannot change {', '.join(anew)}: begin a new run", anew[0])
        run = Run(self.past.before(0).setup, self.program.files)
        run.past, run.trail = self.past.copied(step), self.trail.copied(step)
        run.changes = [(at, change) for at, change in self.changes if at <= step]
        run.step = step
        run.go_to(step)
        run.history = self.history.copied(step)
        run.alter(setup)
        run.leave()
        return run

    def state(self) -> Checkpoint:
        """Return the current state."""
        return checkpoints.take(self.program, self.batches, self.step)
