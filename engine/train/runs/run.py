"""A training run: its steps, checkpoints, curves and the changes made during it."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch

from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.run.errors import USER_ERRORS
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.batches import Batches
from gradscribe.engine.train.captured import plan as plans
from gradscribe.engine.train.captured import verify
from gradscribe.engine.train.captured.capture import CaptureError
from gradscribe.engine.train.captured.plan import CapturePlan, StepResults
from gradscribe.engine.train.captured.unprofiled import unprofiled
from gradscribe.engine.train.checkpoints import Checkpoint, Checkpoints
from gradscribe.engine.train.runs.events import StepEvents
from gradscribe.engine.train.runs.history import TrainingHistory
from gradscribe.engine.train.runs.later_steps import LaterSteps
from gradscribe.engine.train.runs.stop_conditions import StopConditions
from gradscribe.engine.train.runs.weight_path import WeightPath
from gradscribe.engine.train.source import error_messages, program
from gradscribe.engine.train.source.changes import Change, WeightEdit
from gradscribe.engine.train.source.program import (
    Batch,
    ProgramError,
    TrainingProgram,
    suppress_warnings,
)
from gradscribe.engine.train.user_module import output_check
from gradscribe.engine.zoo.provided_files import ProvidedFiles

CAPTURED_FROM = 2000
"""Steps after which capturing pays off for a run with mode ``auto``."""


class TrainingRun:
    """A run at one of its steps (0: the untrained model); ``files``: data files of another run."""

    def __init__(self, setup: Setup, files: ProvidedFiles | None = None) -> None:
        if setup.threads:
            torch.set_num_threads(setup.threads)
        self.program = TrainingProgram(setup, files)
        if setup.model.name == "own":
            output_check.check(self.program)
        self.batches = Batches(self.program)
        self.step = 0
        self.problem: Problem | None = None
        self.history = TrainingHistory([n for n, _ in self.program.model.named_parameters()])
        self.checkpoints = Checkpoints()
        self.weight_path = WeightPath()
        self.changes: list[tuple[int, Change]] = []
        """The changes, each with the step after which it was made."""
        self.later: LaterSteps | None = None
        """The steps from before the run went back, until it has made them again or leaves them."""
        self.events: StepEvents | None = None
        self.pending_events = 0
        """For a run that was saved inside a step: how many of its events had run."""
        self.left: tuple[str, ...] = ()
        """For a resumed run: module attributes that were not saved and have initial values."""
        self.ratios: list[tuple[float, float]] = []
        """Gradient norm and update ratio of each parameter at the last measured step."""
        self.plan: CapturePlan | None = None
        self._plan_key: tuple[str, ...] = ()
        self.why = ""
        """Reason why captured mode is not used, or a remark on its precision; else empty."""
        self._attached = False
        self._validate_first()
        # After the first validation: a rewind to step 0 restores what it left in the model, such
        # as a call counter or batch norm statistics.
        self.checkpoints.add(checkpoints.take(self.program, self.batches, 0))
        self._rng = self.program.random_state()

    @property
    def setup(self) -> Setup:
        """The current setup, with every default filled in."""
        return self.program.setup

    @property
    def last_step(self) -> int:
        """The last known step: later than `step` after going back."""
        return self.step if self.later is None else max(self.step, self.later.last)

    @property
    def epoch(self) -> float:
        """The number of passes over the training data."""
        return self.batches.seen / self.batches.rows

    def enter(self) -> None:
        """Restore this run's state of torch's generators and its number of threads."""
        self.program.set_random_state(self._rng)
        if self.setup.threads:
            torch.set_num_threads(self.setup.threads)

    def leave(self) -> None:
        """Save the state of torch's generators for the next `enter`."""
        self._rng = self.program.random_state()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Use this run's state of torch's generators within a block."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    # Going on

    def draw(self) -> list[Batch]:
        """Return the batches of the next step."""
        return [self.batches.draw() for _ in range(self.setup.accumulate)]

    def advance(
        self, steps: int, seconds: float = math.inf, goals: StopConditions | None = None
    ) -> int:
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

    def _advance(self, steps: int, end: float, goals: StopConditions | None) -> int:
        count = 0
        with suppress_warnings():
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
        every, stride = self.setup.validate_every, self.checkpoints.stride
        wait = stride - self.step % stride
        if self._attached:
            wait = min(wait, self.weight_path.steps_to_next(self.step))
        return min(wait, every - self.step % every) if every else wait

    def _burst(self, most: int, end: float, goals: StopConditions | None) -> int:
        """Make up to ``most`` consecutive steps; return how many were made."""
        results = StepResults(goals=goals or None)
        error: BaseException | None = None
        try:
            with unprofiled(self.program.optimizer):
                if self._attached and self.plan:
                    self.plan.advance(most, end, results)
                else:
                    self._reference_steps(most, end, results)
        except USER_ERRORS as raised:
            error = raised
        if results.losses:
            self.finish_steps(results)
        if error is not None:
            self._fail(error)
        return len(results.losses) + (error is not None)

    def _reference_steps(self, most: int, end: float, results: StepResults) -> None:
        """Make up to ``most`` steps in reference mode."""
        clock, note, step = time.perf_counter, results.loss_callback(), self.program.step_function
        group, schedule = self.program.optimizer.param_groups[0], self.program.scheduler
        trail, model, at = self.weight_path, self.program.model, self.step
        due = at + trail.steps_to_next(at)
        for batch in self._arguments(most):
            value = step(*batch)
            is_last = note(value)
            at += 1
            if schedule is not None:
                results.rates.append(group["lr"])
            if at == due:
                trail.add(at, model)
                due = at + trail.steps_to_next(at)
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
        key = (self.setup.mode, *plans.plan_key(self.program)) if wanted else ()
        if key != self._plan_key:
            self._plan_key, self.plan, self.why = key, None, ""
            if wanted:
                try:
                    self.plan = verify.build_verified(self.program, self.batches)
                    self.why = "" if self.plan.is_exact else plans.ROUNDING_NOTE
                except CaptureError as error:
                    self.why = str(error)
        if self.plan is not None:
            self.plan.attach()
            self._attached = True

    def _detach(self) -> None:
        """Write the state of captured mode back into the optimizer."""
        if self._attached and self.plan is not None:
            self.plan.detach()
        self._attached = False

    def finish_steps(self, results: StepResults) -> None:
        """Record completed steps; validate and take a checkpoint if due after the last."""
        rates = results.rates or [self.program.optimizer.param_groups[0]["lr"]] * len(
            results.losses
        )
        self.history.add(self.step + 1, results.losses, rates)
        self._compare_with_later(self.step + 1, results.losses)
        self.step += len(results.losses)
        every = self.setup.validate_every
        if every and self.step % every == 0 and self.program.has_validation:
            self.history.add_validation(self.step, self._validation_loss())
        self.weight_path.add(self.step, self.program.model)
        if self.checkpoints.is_due(self.step):
            if self._attached and self.plan is not None:
                self.plan.detach()
            self.checkpoints.add(checkpoints.take(self.program, self.batches, self.step))
        if not math.isfinite(results.losses[-1]):
            self.problem = Problem("NaN", f"The loss of step {self.step} is {results.losses[-1]}")

    def _compare_with_later(self, first: int, losses: list[float]) -> None:
        """Forget the later steps once they are made again, or the run takes another way."""
        later = self.later
        if later is None:
            return
        reaches = first + len(losses) > later.last
        if reaches or not later.agrees(first, losses):
            self.later = None

    def _validation_loss(self) -> float:
        """Return the validation loss; NaN, with `problem` set, if the model raises."""
        try:
            return self.program.evaluate()
        except USER_ERRORS as error:
            self.program.model.train()
            self.problem = self.program.failure(error)
            return math.nan

    def _validate_first(self) -> None:
        if self.setup.validate_every and self.program.has_validation:
            with suppress_warnings():
                try:
                    self.history.add_validation(0, self.program.evaluate())
                except USER_ERRORS as error:
                    if self.setup.model.name == "own":
                        raise ProgramError(self.program.failure(error), "model.source") from error
                    raise error_messages.as_bad_setup(error, self.setup) from error

    def _fail(self, error: BaseException) -> None:
        """Return to the last completed step, before the next batch was drawn."""
        self._detach()
        problem = self.program.failure(error)
        now, step = self.state(), self.step
        try:
            self.go_to(step)
        except USER_ERRORS:
            # A module that counts its calls cannot be replayed.
            self.load(now)
        # Set last: replaying a change resets `problem`.
        self.problem = problem

    # One event inside a step

    def next_event(self) -> StepEvents:
        """Execute the next event of the current step, or the first of a new step."""
        if self.events is None or self.events.done:
            self.events = StepEvents(self.program, self.draw())
        try:
            with suppress_warnings():
                self.events.advance()
        except USER_ERRORS as error:
            self.events = None
            self._fail(error)
            raise ProgramError(self.program.failure(error)) from error
        events = self.events
        if events.done:
            self.events = None
            self.finish_steps(StepResults([events.loss]))
        return events

    def finish_events(self) -> None:
        """Execute the remaining events of a partly executed step."""
        while self.events is not None and self.problem is None:
            try:
                self.next_event()
            except ProgramError:
                return

    # Changing something

    def change_setup(self, setup: Setup) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Apply a new setup from the next step on.

        Returns the keys that were applied, and those that need a restart; if there are any of
        these, nothing has changed. Raises `SetupError`.
        """
        self.finish_events()
        setup = program.fill_defaults(setup, self.program.task)
        applied, anew = program.changed_keys(self.setup, setup)
        if anew or not applied:
            return applied, anew
        self.apply(setup)
        if "data" in applied:
            self._rename(setup.data)
        if applied != ("data",):
            self.forget_later()
            self.changes.append((self.step, setup))
        return applied, ()

    def _rename(self, data: Part) -> None:
        """Apply new names for the same data from step 0 on: no step depends on them."""
        self.checkpoints.rename(data)
        self.changes = [(at, checkpoints.with_data_part(what, data)) for at, what in self.changes]
        if self.later is not None:
            self.later.rename(data)

    def edit(self, edit: WeightEdit) -> None:
        """Set an element of a parameter. Raises `SetupError` without it, or if not finite."""
        self.finish_events()
        parameter = dict(self.program.model.named_parameters()).get(edit.name)
        if parameter is None or not 0 <= edit.index < parameter.numel():
            raise SetupError(f"there is no element {edit.index} in {edit.name!r}", "weight")
        if not torch.tensor(edit.value, dtype=torch.float64).to(parameter.dtype).isfinite():
            raise SetupError(f"a weight cannot be {edit.value:g}", "weight")
        self.apply(edit)
        self.forget_later()
        self.changes.append((self.step, edit))

    def repeat_edits(self, other: "TrainingRun") -> None:
        """Repeat the manual weight edits that another run had before its first step."""
        for at, change in other.changes:
            if at == 0 and isinstance(change, WeightEdit):
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
        """Restore ``step`` bit for bit; the steps after it stay known as `later`.

        A step after the current one is restored too, if it is known.
        """
        self.program.release_graphs()
        step = max(0, min(step, self.last_step))
        if self.events is not None and step != self.step:
            self.go_to(self.step)
        self.events = None
        if step > self.step:
            self._join(step)
        else:
            self._leave(step)
        self.problem = None

    def forget_later(self) -> None:
        """Forget the steps after the current one."""
        self.later = None

    def _leave(self, step: int) -> None:
        """Go back to ``step``."""
        later = self.later
        if step < self.step:
            if later is None:
                later = LaterSteps(self.state(), self.history.copied(self.step))
            later.go_back(step, self.checkpoints.all, self.weight_path.points, self.changes)
        self.go_to(step)
        self.later = later
        self.checkpoints.forget_after(step)
        self.weight_path.forget_after(step)
        self.history.forget_after(step)
        self.changes = [(at, change) for at, change in self.changes if at <= step]

    def _join(self, step: int) -> None:
        """Go on to ``step``, which is one of the later steps."""
        later = self.later
        assert later is not None
        checkpoints_, points, changes = later.take(step)
        self.checkpoints.join(checkpoints_)
        self.weight_path.points |= points
        self.changes += changes
        self.history.join(later.history, step)
        if step == later.last:
            self.load(later.end)
            self.later = None
        else:
            self.go_to(step)

    def go_to(self, step: int) -> None:
        """Move to an earlier step without discarding later ones."""
        saved = self.checkpoints.before(step)
        self.load(saved)
        # A checkpoint is taken as its step ends, so changes made after that step are not in it.
        later = [(at, change) for at, change in self.changes if at >= saved.step]
        with suppress_warnings():
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
            self.plan.advance(1, math.inf, StepResults())
        else:
            self._detach()
            self.program.step(self.draw())
        self._detach()
        every = self.setup.validate_every
        if every and step % every == 0 and self.program.has_validation:
            self._validation_loss()

    def load(self, saved: Checkpoint) -> None:
        """Restore the state of a checkpoint."""
        checkpoints.restore(self.program, self.batches, saved)
        self.step = saved.step

    def fork(self, step: int, setup: Setup | None = None) -> "TrainingRun":
        """Return a new run in the state of this one at ``step``, continuing with ``setup``.

        ``setup``: None for the settings of that step. This run stays as it is, also inside a step.

        Raises:
            SetupError: the setup changes a setting that cannot change during a run.
        """
        step = max(0, min(step, self.step))
        if setup is not None:
            wanted = program.fill_defaults(setup, self.program.task)
            _, anew = program.changed_keys(self.setup, wanted)
            if anew:
                names = ", ".join(anew)
                raise SetupError(f"a fork cannot change {names}: begin a new run", anew[0])
        run = TrainingRun(self.checkpoints.before(0).setup, self.program.files)
        run.checkpoints, run.weight_path = (
            self.checkpoints.copied(step),
            self.weight_path.copied(step),
        )
        run.changes = [(at, change) for at, change in self.changes if at <= step]
        run.step = step
        run.go_to(step)
        run.history = self.history.copied(step)
        if setup is not None:
            run.change_setup(setup)
        run.leave()
        return run

    def state(self) -> Checkpoint:
        """Return the current state."""
        return checkpoints.take(self.program, self.batches, self.step)
