"""Loops of a running program: long ones are recorded in part, a step here and there in full.

A step is a round of the innermost loop that runs backward passes and has many rounds; without
passes, of the innermost loop that records anything. The first steps are recorded in full. From then
on torch has its own functions back and a step leaves a few numbers (`light_mode`), until the
`StepPlan` wants one in full again. What the steps between changed becomes one event, a gap.
"""

import sys
import threading
from collections.abc import Callable
from types import FrameType

import torch

from gradscribe.engine.protocol.tape import Change, Gap, StepLoop
from gradscribe.engine.record.backward.hooks import NodeHooks
from gradscribe.engine.record.log import EventRow, GapRow, Log, ValueRow
from gradscribe.engine.record.loops.columns import GrowingColumn, StepNumbers, tape_column
from gradscribe.engine.record.loops.full_steps import with_full_steps
from gradscribe.engine.record.loops.light_mode import LightMode, Parameter
from gradscribe.engine.record.loops.plan import LEAST_STEPS, StepPlan
from gradscribe.engine.record.loops.round_count import round_count
from gradscribe.engine.record.loops.sites import LoopSite
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.raw_reads import dispatch_mode_count
from gradscribe.engine.record.values.tensors import Tensors, is_leaf, version
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_pop_mode: Callable[[], object] = torch.overrides._pop_mode
_push_mode: Callable[[object], None] = torch.overrides._push_mode
MANY_ROUNDS = 16
"""Rounds per run from which an inner loop's rounds, not those of the loop around it, are steps."""
LEAST_ROUNDS = 16
"""Rounds with events of a loop without backward passes, before any is left out."""


class StepReached(BaseException):
    """Raised to stop a program after the last step that was asked for."""


class SteppedLoop:
    """A loop some of whose steps were left out."""

    def __init__(self, site: LoopSite) -> None:
        self.site = site
        self.numbers = StepNumbers()
        self.prints: list[tuple[int, int]] = []
        self.known: dict[int, int] = {}
        """By the number of a parameter's tensor: its first value, which its columns are of."""


class LoopRecorder:
    """The loops of one run; `watch` gives them to it."""

    def __init__(
        self,
        log: Log,
        source: Source,
        threads: RecordedThreads,
        tensors: Tensors,
        hooks: NodeHooks,
        plan: StepPlan,
        replace: Callable[[], None],
        restore: Callable[[], None],
    ) -> None:
        """``restore`` gives torch its own functions back, ``replace`` takes them again."""
        self.log, self.source, self.threads = log, source, threads
        self.tensors, self.hooks, self.plan = tensors, hooks, plan
        self._replace, self._restore = replace, restore
        self._sites: list[LoopSite] = []
        self._running: list[LoopSite] = []
        """The loops that run, the innermost last."""
        self._least: dict[int, int] = {}
        """By ``id()`` of a loop: the number of events from which steps of it may be left out."""
        self._main = threading.get_ident()
        self._loops: list[SteppedLoop] = []
        self._light: LightMode | None = None
        self._loop: SteppedLoop | None = None
        """The loop whose steps are being left out."""
        self._first = 0
        """The first step that is left out."""
        self._full_at: int | None = None
        """The step that will be recorded in full."""
        self._modes_below = 0
        """Number of modes below the recorder's on torch's stack, while that is taken off."""
        self._left = 0
        """Number of times that an inner loop ended while its steps were left out."""
        self._left_in_full = 0
        """That number when its end was last recorded in full."""
        self.draft_wanted = False
        """True if `on_draft` is to be called where a step ends; set from any thread."""
        self.on_draft: Callable[[], None] | None = None
        self._has_seen_bad = False
        """True once a step was recorded in full because a loss before it was NaN or infinite."""

    @property
    def is_light(self) -> bool:
        """Return whether the present step is not recorded in full."""
        return self._light is not None

    def watch(self, sites: list[LoopSite]) -> None:
        """Watch the loops of a program that is about to run."""
        self._sites = sites
        self._main = threading.get_ident()
        for site in sites:
            site.watcher = self

    def finish(self) -> None:
        """End it with the program."""
        for site in self._sites:
            site.watcher = None
        if self._light is not None:
            self._resume()

    def on_round(self, site: LoopSite) -> None:
        """Note that a round of a loop begins."""
        light = self._light
        if light is not None:
            loop = self._loop
            if loop is None or site is not loop.site or threading.get_ident() != self._main:
                return
            site.rounds += 1
            light.end_step()
            if self.draft_wanted and not dispatch_mode_count():
                self._draft()
                light.restart_clock()
            if self._full_at is not None and site.rounds >= self._full_at:
                self._resume()
            elif light.found_bad and not self._has_seen_bad:
                self._has_seen_bad = True
                self._resume()
            else:
                return
        elif threading.get_ident() != self._main:
            return
        else:
            site.rounds += 1
        self._begin_full(site, sys._getframe(2))

    def _begin_full(self, site: LoopSite, frame: FrameType) -> None:
        """Begin a round of a loop while events are recorded."""
        running, log = self._running, self.log
        events, passes = len(log.events), len(log.passes)
        has_passed = passes > site.passes
        if not running or running[-1] is not site:
            if site in running:
                del running[running.index(site) + 1 :]
            else:
                running.append(site)
                site.entries += 1
                has_passed = False
        site.passes = passes
        site.has_passes = site.has_passes or has_passed
        starts = site.starts
        if starts and starts[-1][1] == events:
            starts[-1] = site.rounds, events
        else:
            starts.append((site.rounds, events))
        least = self._least.get(id(site))
        if least is None:
            least = self._least[id(site)] = self.plan.events_before(events)
        # Not before the first round has ended: there is a graph then.
        has_round = self.draft_wanted and site.rounds > site.entries
        if has_round and not dispatch_mode_count() and self._may_switch(frame):
            self._draft()
        if has_passed and site.rounds >= MANY_ROUNDS * site.entries:
            for outer in running[:-1]:
                outer.has_steps_inside = True
        if (
            (events >= least or log.truncated)
            and self._is_stepping(site, has_passed)
            and self._may_switch(frame)
        ):
            self._leave_out(site, frame)

    def _draft(self) -> None:
        """Let what was recorded so far be read: the log does not change meanwhile."""
        self.draft_wanted = False
        if self.on_draft is None:
            return
        try:
            self.on_draft()
        except Exception:  # noqa: BLE001 - whatever it is, the program goes on
            self.on_draft = None

    def _is_stepping(self, site: LoopSite, has_passed: bool) -> bool:
        """Return whether the rounds of a loop are steps."""
        if site.has_steps_inside or len(site.starts) <= LEAST_STEPS:
            return False
        if has_passed:
            return len(self._running) == 1 or site.rounds >= MANY_ROUNDS * site.entries
        if len(site.starts) <= LEAST_ROUNDS:
            return False
        return not any(outer.has_passes for outer in self._running)

    def _may_switch(self, frame: FrameType) -> bool:
        """Return whether torch can be given its functions back at this point of the program."""
        thread = self.threads.only()
        return (
            thread is not None
            and not (thread.calls or thread.runs or thread.steps or thread.quiet)
            and not thread.is_inside_torch_function()
            and frame.f_code.co_filename == self.source.filename
            and (self.log.is_recording or bool(self.log.truncated))
        )

    def on_end(self, site: LoopSite) -> None:
        """Note that a loop has ended, by itself or by an exception."""
        if threading.get_ident() != self._main:
            return
        running = self._running
        if site not in running:
            return
        is_outermost = running[0] is site
        loop = self._loop
        if loop is None or self._light is None:
            del running[running.index(site) :]
            return
        if is_outermost:
            # The last step has ended with its loop.
            self._light.end_step()
            self._resume()
            running.clear()
        elif site is loop.site:
            self._left += 1
            if self._left > 2 * self._left_in_full and self._full_at is not None:
                self._left_in_full = self._left
                self._light.end_step()
                self._resume()
                running.pop()

    def note_print(self, line: str) -> bool:
        """Note a line that a step printed; return False if it is to be recorded as usual."""
        if self._light is None or self._loop is None:
            return False
        self.log.prints.append(line)
        self._loop.prints.append((self._light.step, len(self.log.prints) - 1))
        return True

    def _leave_out(self, site: LoopSite, frame: FrameType) -> None:
        """Stop recording in full before a step."""
        log, step = self.log, site.rounds
        loop = next((one for one in self._loops if one.site is site), None)
        if loop is None:
            loop = SteppedLoop(site)
            self._loops.append(loop)
        starts = site.starts
        cost = max((b[1] - a[1] for a, b in zip(starts[-4:], starts[-3:])), default=0)  # noqa: B905
        self._full_at = None
        if not log.truncated:
            self._full_at = self.plan.next_full(site.first, step, len(log.events), cost)
            if self.plan.wanted is None and (end := self._step_count(frame)) is not None:
                self._full_at = self.plan.with_last(self._full_at, step, end)
        if self._full_at is None and self.plan.is_wanted(site.first):
            starts.pop()
            site.rounds -= 1
            raise StepReached
        if self._full_at == step:
            return
        # The step that is about to begin has no events.
        if starts[-1][0] == step:
            starts.pop()
        light = LightMode(self.source, loop.numbers, self._parameters(loop))
        log.is_recording = False
        self._loop, self._first = loop, step
        self._pop_mode()
        self._restore()
        self._light = light
        light.start(step)

    def _step_count(self, frame: FrameType) -> int | None:
        """Return the number of steps that the running loops will have made; None if unknown."""
        count = 1
        names = {**frame.f_globals, **frame.f_locals}
        for site in self._running:
            rounds = round_count(site.iterated, names)
            if rounds is None:
                return None
            count *= rounds
        return count

    def _resume(self) -> None:
        """Record in full again, and what the steps since changed."""
        light, loop, log = self._light, self._loop, self.log
        assert light is not None
        assert loop is not None
        light.stop()
        self._light = self._loop = None
        self._replace()
        self._push_mode()
        log.is_recording = log.open and not log.truncated
        last = light.step - 1
        if not log.truncated and last >= self._first:
            with torch._C.DisableTorchFunction(), self.threads.lock:
                try:
                    self._add_gap(self._loops.index(loop), last, loop.site.first)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                    log.stop_on_error(error)

    def _add_gap(self, number: int, last: int, line: int) -> None:
        changes: list[Change] = []
        gradients: list[tuple[int, int | None]] = []
        for before in list(self.tensors.values_by_id.values()):
            t = before.ref()
            if t is None or self.tensors.values_by_id.get(id(t)) is not before:
                continue
            row = before
            if before.maker != ".grad" and self._has_changed(t, before):
                row = self.tensors.add(t, before.where, maker=before.maker)
                changes.append(Change(before.id, row.id))
            if is_leaf(t) and t.requires_grad:
                found = self.hooks.gradient_after_gap(t, row)
                if found is not None:
                    gradients.append((row.id, found[0]))
        row_ = GapRow(number, self._first, last, line, changes, gradients)
        self.log.gaps.append(row_)
        self.log.add_event("gap", len(self.log.gaps) - 1, None)

    def _has_changed(self, t: torch.Tensor, row: ValueRow) -> bool:
        """Return whether a tensor changed; of the result of an op, by its version.

        What an op wrote into an older tensor, as batch norm into its statistics, is compared:
        torch counts no version there. There may be very many other results.
        """
        is_written = row.tensor in self.tensors.written
        if row.op is None or is_written or row.storage in self.tensors.exposed:
            return self.tensors.differs(t, row)
        return row.version != version(t)

    def _parameters(self, loop: SteppedLoop) -> list[Parameter]:
        """Return the leaves that received gradients in the last steps recorded in full."""
        log, since = self.log, loop.site.starts[-1][1] if loop.site.starts else 0
        found: dict[int, Parameter] = {}
        leaves = {
            log.tensor_of(log.accumulations[event.ref].leaf)
            for event in log.events[since:]
            if type(event) is EventRow and event.kind == "accumulate"
        }
        for row in self.tensors.values_by_id.values():
            t = row.ref()
            if t is None:
                continue
            if row.tensor in leaves or (row.role == "parameter" and t.grad is not None):
                first = loop.known.setdefault(row.tensor, row.id)
                found[row.tensor] = first, row.name, row.ref
        return list(found.values())

    def _pop_mode(self) -> None:
        """Take the recorder's mode off torch's stack, and note how many modes are below it."""
        thread = self.threads.only()
        assert thread is not None
        above = []
        while (mode := _pop_mode()) is not thread.mode:
            above.append(mode)
        self._modes_below = torch._C._len_torch_function_stack()
        for mode in reversed(above):
            _push_mode(mode)

    def _push_mode(self) -> None:
        """Put the recorder's mode back to where it was in torch's stack."""
        thread = self.threads.state(self._main)
        if thread is None:
            return
        above = []
        while torch._C._len_torch_function_stack() > self._modes_below:
            above.append(_pop_mode())
        _push_mode(thread.mode)
        for mode in reversed(above):
            _push_mode(mode)

    def losses(self) -> list[GrowingColumn]:
        """Return the growing columns of losses; callable from another thread."""
        return [c for loop in list(self._loops) for c in loop.numbers.losses()]

    def gaps(self) -> tuple[Gap, ...]:
        """Return the gaps as the tape has them."""
        return tuple(
            Gap(g.loop, g.first, g.last, tuple(g.changes), tuple(g.gradients))
            for g in self.log.gaps
        )

    def step_loops(self) -> tuple[StepLoop, ...]:
        """Return the loops some of whose steps were left out, with the numbers of all steps."""
        made = []
        for loop in self._loops:
            site = loop.site
            columns = with_full_steps(loop.numbers.columns(), site.starts, loop.known, self.log)
            numbered = tuple(tape_column(c, self._line(c)) for c in columns)
            full = tuple(site.starts)
            loop_ = StepLoop(site.first, site.last, site.rounds, full, numbered, tuple(loop.prints))
            made.append(loop_)
        return tuple(made)

    def _line(self, column: GrowingColumn) -> int:
        span = self.source.span(column.where)
        return span[0] if span is not None else 0
