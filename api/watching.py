"""`watch`: a training loop in the user's own process, measured now and then."""

import array
import atexit
import contextlib
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from gradscribe.engine.protocol.watch_file import (
    SUFFIX,
    WatchEvent,
    WatchHeader,
    WatchLosses,
    WatchSample,
)
from gradscribe.watch_writer import WatchWriter, say_once

if TYPE_CHECKING:
    import torch

    from gradscribe.recording import Recording
    from gradscribe.watch_sampler import StepSampler

BUDGET = 0.002
"""Share of the time that measurements may take; they wait until they have earned it."""
GAP_S = 0.5
"""Least seconds between two measured steps."""
SPARSER = 2000
"""A long run is measured at most once in such a part of the time that it has run."""
MOST_LOSSES = 1024
"""Losses that are sent at once; of more between two measurements every second is left out."""
MOST_READING = 4
"""Measurements that wait for an accelerator; a later one is dropped."""
MOST_TENSORS = 256
"""Losses on an accelerator that wait to be read; the oldest are dropped."""
LOOK_S = 0.05
"""Seconds between two looks at the time."""
MOST_BLIND = 200
"""Most steps between them."""
SPIKE = 8.0
"""Deviations above the usual loss from which on a loss is a spike, if it is twice that, too."""
SETTLED = 20
"""Steps before a loss can be a spike."""
FLOOR = 0.01
"""Share of the highest usual loss below which nothing is a spike: noise around zero."""
_INSIDE = ("torch.", "gradscribe.")


def watch(
    model: "torch.nn.Module",
    optimizer: "torch.optim.Optimizer | None" = None,
    to: "str | os.PathLike[str] | None" = None,
) -> "Watch":
    """Watch a training loop of your own: call ``watch.step(loss)`` at the end of each step.

    Loss, learning rate, norms of every parameter and its gradient, update ratios, mean and spread
    of the modules' outputs go to a file in the background, and live to a window in a process of its
    own. The loop never waits: few steps are measured, so that it takes less than a hundredth of
    the time, and what the disk does not take is dropped, which the window says. No number of the
    training changes; in the steps between nothing of torch is different. Closing the window loses
    nothing: ``gradscribe FILE.watch`` shows it again. With ``GRADSCRIBE=0`` in the environment
    nothing at all is done.

    With ``with gs.watch(model, optimizer) as watch:`` the optimizer's steps count unless
    ``watch.step`` is called at the first; losses may come now and then, or never. Under DDP each
    rank has a file, and rank 0 opens the window. Of a compiled model the output as a whole is
    measured, as hooks inside would be compiled, too.

    Args:
        model: the module that is trained; also compiled, or in ``DistributedDataParallel``.
        optimizer: without it there are no learning rates and no updates.
        to: a new file that is written instead of a temporary one; no window is opened then.
            Windows read it while it grows.

    Raises:
        TypeError: ``model`` is no module, or ``optimizer`` no optimizer.
        ValueError: the file cannot be created, or is there already.
    """
    if os.environ.get("GRADSCRIBE") == "0":
        return Watch(None, None)
    import torch

    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"watch needs a module, not {type(model).__name__}")
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"watch needs an optimizer, not {type(optimizer).__name__}")
    from gradscribe.watch_sampler import StepSampler

    rank, ranks = _rank()
    made = Watch(StepSampler(model, optimizer), _file(to, rank, ranks))
    made.begin(model, optimizer, rank, ranks)
    if to is None and rank == 0:
        made.open()
    return made


class Watch:
    """A training loop that is being watched; `watch` returns it."""

    def __init__(self, sampler: "StepSampler | None", path: "Path | None") -> None:
        self._sampler, self._path = sampler, path
        self._pid = os.getpid()
        self._writer: WatchWriter | None = None
        self._number = 0
        self._steps, self._numbers = array.array("q"), array.array("d")
        self._pending: list[tuple[int, torch.Tensor, int]] = []
        self._reading: list[Callable[[], WatchSample | None]] = []
        self._dropped = self._lost = 0
        self._since = self._next = time.perf_counter()
        self._cost = 0.0
        self._usual, self._deviation, self._highest = 0.0, 0.0, 0.0
        self._seen = self._learned = 0
        self._low, self._high = -math.inf, math.inf
        self._due = 0
        """Step from which on `step` does more than add the loss."""
        self._looked = 0, self._since
        self._found: set[str] = set()
        self._tape_at = -1
        self._recording: tuple[Recording, FrameType] | None = None
        self._is_on = sampler is not None
        if sampler is not None and path is not None:
            sampler.time = self._timed
            try:
                self._writer = WatchWriter(path, self.record)
            except OSError as error:
                raise ValueError(f"{path} cannot be created: {error.strerror or error}") from error
            atexit.register(self.close)

    @property
    def path(self) -> "Path | None":
        """The file that is written; None with ``GRADSCRIBE=0``."""
        return self._path

    @property
    def steps(self) -> int:
        """Number of steps so far."""
        return self._number

    def begin(
        self,
        model: "torch.nn.Module",
        optimizer: "torch.optim.Optimizer | None",
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        """Send what is watched, and measure the first step."""
        import torch

        from gradscribe.watch_sampler import is_compiled

        sampler = self._sampler
        assert sampler is not None
        notes = []
        if any(is_compiled(module) for module in model.modules()):
            notes.append("Compiled modules are measured as a whole")
        if sampler.left_out:
            notes.append(f"{sampler.left_out:,} parameters are not measured")
        self._send(
            WatchHeader(
                type(getattr(model, "_orig_mod", model)).__name__,
                type(optimizer).__name__ if optimizer is not None else "",
                tuple((name, tuple(p.shape)) for name, p in sampler.parameters),
                tuple(name for name, _ in sampler.modules),
                Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "",
                str(torch.__version__),
                time.time(),
                rank,
                ranks,
                ". ".join(notes),
            )
        )
        self._timed(sampler.arm)

    def step(self, loss: "torch.Tensor | float | None" = None) -> None:
        """Note the end of a training step; ``loss`` is a tensor of one element or a number.

        It raises nothing: what is wrong is said once on standard error, and the loop goes on.
        """
        try:
            # Most steps end here, for the loop to be as fast as without.
            if self._number + 1 < self._due and getattr(loss, "is_cpu", False):
                number = loss.item()  # type: ignore[union-attr]
                if self._low < number < self._high:
                    self._number += 1
                    self._steps.append(self._number)
                    self._numbers.append(number)
                    return
            if self._is_on and not self._is_counted(loss):
                self._advance(loss, sys._getframe(1))
        except Exception as error:  # noqa: BLE001 - nothing here may end the user's loop
            self._give_up(error)

    def record(self, step: int = 0) -> None:
        """Record a whole step as a tape, beside the file: the step of that number, 0 for the next.

        The tape has every op and gradient of it; that step takes longer.
        """
        self._tape_at = max(step, 1)
        self._due = 0

    def open(self) -> None:
        """Open a window on the file, in a process of its own, and return at once."""
        if self._path is not None:
            open_window(self._path)

    def close(self) -> None:
        """End the watch and write what is left; torch is as it was. A second call does nothing."""
        if not self._is_on:
            return
        self._is_on, self._due = False, 0
        atexit.unregister(self.close)
        if os.getpid() != self._pid:
            return
        try:
            self._end_tape()
            if self._sampler is not None:
                self._sampler.stop()
            self._collect(wait=True)
            self._flush()
        except Exception as error:  # noqa: BLE001 - nothing here may end the user's program
            say_once(f"the end of the watch is lost: {type(error).__name__}: {error}")
        self._send(WatchEvent("end", self._number, "The training loop has ended"))
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        """Count the steps of the optimizer until `step` is called."""
        if self._sampler is not None and self._is_on:
            self._sampler.count(self._count)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the watch; an exception goes on as it was."""
        if kind is not None and self._is_on:
            self._send(WatchEvent("note", self._number, f"{kind.__name__} ended the loop"))
        self.close()

    def __repr__(self) -> str:
        """Return a line: number of steps and the file."""
        if self._path is None:
            return "<Watch: off>"
        return f"<Watch: {self._number:,} steps to {self._path}>"

    def _count(self) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
            frame = frame.f_back
        try:
            if self._is_on:
                self._advance(None, frame)
        except Exception as error:  # noqa: BLE001 - nothing here may end the user's loop
            self._give_up(error)

    def _is_counted(self, loss: object) -> bool:
        """Return whether the optimizer's step has counted already; add its loss then."""
        sampler = self._sampler
        if sampler is None or not sampler.is_counting:
            return False
        if self._number < 2:
            # From the first step on the loop counts by itself.
            sampler.count_no_more()
        if self._number and loss is not None:
            self._take_loss(loss, self._number)
        return self._number > 0

    def _advance(self, loss: object, frame: FrameType) -> None:
        self._number = number = self._number + 1
        if self._recording is not None:
            self._end_tape()
        if loss is not None:
            self._take_loss(loss, number)
        now = time.perf_counter()
        sampler = self._sampler
        if sampler is not None and sampler.is_armed:
            self._finish_sample(sampler, number)
        elif now >= self._next:
            if self._pid != os.getpid():
                self._is_on = False  # A forked worker has neither the thread nor the file.
                return
            self._timed(self._report)
            if sampler is not None:
                self._timed(sampler.arm)
        if 0 < self._tape_at <= number + 1:
            self._begin_tape(frame)
        self._learn()
        self._plan(now)

    def _plan(self, now: float) -> None:
        """Set the step at which the time is looked at again."""
        number, (last, at) = self._number, self._looked
        self._looked = number, now
        is_busy = self._recording is not None or (
            self._sampler is not None and (self._sampler.is_armed or self._sampler.is_counting)
        )
        if is_busy or self._seen <= SETTLED:
            self._due = number
            return
        rate = (number - last) / max(now - at, 1e-9)
        self._due = number + 1 + min(MOST_BLIND, int(rate * LOOK_S))
        if self._tape_at > number + 1:
            self._due = min(self._due, self._tape_at - 1)

    def _take_loss(self, loss: object, number: int) -> None:
        if isinstance(loss, float | int):
            self._note(number, float(loss))
            return
        if loss.device.type == "cpu":  # type: ignore[attr-defined]
            self._note(number, loss.item())  # type: ignore[attr-defined]
            return
        if loss.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("the loss has to have one element")
        if len(self._pending) >= MOST_TENSORS:
            del self._pending[0]
            self._dropped += 1
        self._pending.append((number, loss.detach(), loss._version))  # type: ignore[attr-defined]

    def _note(self, step: int, loss: float) -> None:
        """Add a loss, and look for the first that is not finite and the first spike."""
        self._steps.append(step)
        self._numbers.append(loss)
        if not math.isfinite(loss):
            self._find("nan", step, f"The loss is {loss}")
        elif loss >= self._high:
            self._find("spike", step, f"The loss rose from {self._usual:.4g} to {loss:.4g}")
        if len(self._steps) >= MOST_LOSSES:
            self._learn()
            self._thin()

    def _learn(self) -> None:
        """Update the usual loss, and the loss from which on there is a spike."""
        for loss in self._numbers[self._learned :]:
            if not math.isfinite(loss):
                continue
            away = loss - self._usual
            share = max(0.05, 1 / (self._seen + 1))
            self._seen += 1
            self._usual += share * away
            self._deviation += share * (abs(away) - self._deviation)
            self._highest = max(self._highest, abs(self._usual))
        self._learned = len(self._numbers)
        if self._seen > SETTLED:
            rise = max(SPIKE * self._deviation, abs(self._usual), FLOOR * self._highest)
            self._high = self._usual + rise

    def _thin(self) -> None:
        """Leave out every second of the losses that wait, except the lowest and the highest."""
        steps, numbers = self._steps, self._numbers
        ends = {numbers.index(min(numbers)), numbers.index(max(numbers))}
        left = [at for at in range(len(steps)) if at % 2 == 0 or at in ends]
        self._dropped += len(steps) - len(left)
        self._steps = array.array("q", [steps[at] for at in left])
        self._numbers = array.array("d", [numbers[at] for at in left])
        self._learned = len(left)

    def _find(self, kind: str, step: int, text: str) -> None:
        """Send what has happened for the first time, and have the next step recorded."""
        if kind in self._found:
            return
        self._found.add(kind)
        self._send(WatchEvent("nan" if kind == "nan" else "spike", step, text))
        if self._tape_at <= 0:
            self.record()

    def _finish_sample(self, sampler: "StepSampler", number: int) -> None:
        begun = time.perf_counter()
        read = sampler.finish(number)
        if len(self._reading) < MOST_READING:
            self._reading.append(read)
        else:
            self._lost += 1
        self._report()
        now = time.perf_counter()
        self._cost += now - begun
        self._next = now + max(GAP_S, self._cost / BUDGET, (now - self._since) / SPARSER)
        self._cost = 0.0

    def _report(self) -> None:
        """Send what has been measured."""
        self._collect()
        self._flush()
        lost = self._lost + (self._writer.lost if self._writer is not None else 0)
        if lost and self._send(WatchEvent("lost", self._number, f"{lost:,} measurements lost")):
            self._lost = 0

    def _collect(self, wait: bool = False) -> None:
        """Take the measurements that have arrived from their device."""
        for read in list(self._reading):
            sample = read()
            while sample is None and wait:
                import torch

                torch.cuda.synchronize()
                sample = read()
            if sample is None:
                break
            self._reading.remove(read)
            self._send(sample)
        pending, self._pending = self._pending, []
        if not pending:
            return
        import torch

        same = [(step, t) for step, t, version in pending if t._version == version]
        self._dropped += len(pending) - len(same)
        if same:
            stacked = torch.stack([t.reshape(()).double() for _, t in same]).tolist()
            for (step, _), loss in zip(same, stacked, strict=True):
                self._note(step, loss)

    def _flush(self) -> None:
        if not self._steps:
            return
        steps, numbers, dropped = self._steps, self._numbers, self._dropped
        self._learn()
        self._steps, self._numbers, self._dropped = array.array("q"), array.array("d"), 0
        self._learned = 0
        if sys.byteorder == "big":
            steps.byteswap()
            numbers.byteswap()
        if not self._send(WatchLosses(steps.tobytes(), numbers.tobytes(), dropped)):
            self._dropped = dropped + len(steps)

    def _send(self, record: "WatchHeader | WatchLosses | WatchSample | WatchEvent") -> bool:
        return self._writer is not None and self._writer.send(record)

    def _timed(self, work: Callable[[], None]) -> None:
        begun = time.perf_counter()
        try:
            work()
        except Exception as error:  # noqa: BLE001 - nothing here may end the user's loop
            self._give_up(error)
        self._cost += time.perf_counter() - begun

    def _give_up(self, error: Exception) -> None:
        """End the watch after a fault, which is said once."""
        if not self._is_on:
            return
        why = f"{type(error).__name__}: {error}"
        say_once(f"the watch ends at step {self._number:,}, the training goes on. {why}")
        self._send(WatchEvent("note", self._number, f"The watch ended: {why[:500]}"))
        self.close()

    def _begin_tape(self, frame: FrameType) -> None:
        from gradscribe.errors import RecordingError
        from gradscribe.recording import Recording

        self._tape_at = 0
        recording = Recording(takes_numbers=False)
        recording.put_compiler_away()
        try:
            recording.begin(frame)
        except RecordingError as error:
            recording.resume_compiler(frame)
            self._send(WatchEvent("note", self._number, f"No tape: {error}"))
            return
        self._recording = recording, frame

    def _end_tape(self) -> None:
        found, self._recording = self._recording, None
        if found is None:
            return
        recording, frame = found
        from gradscribe.engine.run.in_process import visible_names

        try:
            tape = recording.end(visible_names(frame))
        finally:
            recording.resume_compiler(frame)
        if self._writer is not None and not self._writer.send((tape, self._number)):
            self._lost += 1


def open_window(path: Path) -> None:
    """Open a window on a watched loop, in a process that outlives this one."""
    is_bare = sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    )
    if is_bare:
        say_once(f"there is no display: the watch goes to {path}")
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", "gradscribe", "watch", str(path)]
    try:
        window = subprocess.Popen(
            command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        say_once(f"no window can be started: {error}. The watch goes to {path}")
        return
    import threading

    # So that no zombie is left if the window is closed first.
    threading.Thread(target=window.wait, name="window", daemon=True).start()


def _rank() -> tuple[int, int]:
    """Return the rank of this process and the number of ranks."""
    distributed = sys.modules.get("torch.distributed")
    with contextlib.suppress(Exception):
        if distributed is not None and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
    with contextlib.suppress(ValueError):
        return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    return 0, 1


def _file(to: "str | os.PathLike[str] | None", rank: int, ranks: int) -> Path:
    """Return the path of the file, which is not there yet."""
    if to is None:
        folder = Path(tempfile.mkdtemp(prefix="gradscribe-"))
        return folder / f"training{SUFFIX}"
    path = Path(os.path.abspath(to))
    if path.suffix != SUFFIX:
        path = path.with_name(path.name + SUFFIX)
    return path if ranks == 1 else path.with_name(f"{path.stem}.rank{rank}{SUFFIX}")
