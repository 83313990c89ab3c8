"""Process that computes the views of a run which another process trains.

It is a fork of the engine from before its first program, confined like it. It receives the run's
setup, from which it creates the same data and model, and then snapshots of the weights and of the
attributes of a user's module. So views cost the trainer only a copy of these, and a module that
draws random numbers or counts its calls in a forward does not affect the trainer's copy.
"""

import contextlib
import os
import select
import struct
import threading
import time
from collections.abc import Callable, Iterator

import msgspec
import torch
from msgspec import Struct

from gradscribe.engine import system
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.protocol.training.replies import RawArray, ViewReply
from gradscribe.engine.run.errors import USER_ERRORS
from gradscribe.engine.train import views
from gradscribe.engine.train.arrays import unpack_flat
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import program
from gradscribe.engine.train.user_module import attribute_lists
from gradscribe.engine.train.views.scheduler import ViewScheduler
from gradscribe.engine.zoo import provided_files

SHARE = 0.5
"""Maximum share of a core for views: the window needs time to paint as well."""
HEADER = struct.Struct("<II")
"""Message header: length of the message, and number of its subject."""
DONE, FAILED = b"", b"!"
"""Final reply to an order: done, or not possible in this process."""


class ShowRun(Struct, frozen=True, tag=True, array_like=True):
    """Order to show another run from now on, with its data file."""

    run_id: int
    setup: Setup
    path: str = ""
    file: bytes = b""


class RunSnapshot(Struct, frozen=True, tag=True, array_like=True):
    """Snapshot of a run after ``step``, from which to compute its views."""

    step: int
    wishes: tuple[tuple[str, requests.ViewRequest], ...]
    lr: float
    ratios: list[tuple[float, float]]
    parameters: tuple[RawArray, ...]
    buffers: tuple[RawArray, ...]
    has_grad: list[bool]
    """Flag per parameter: it has a gradient; empty if no view needs gradients."""
    grads: tuple[RawArray, ...]
    memory: list[dict[str, RawArray | float]]
    points: dict[int, RawArray]
    """Flat weights of earlier steps that were not sent yet, by step."""
    kept: list[object] = []
    """Attributes of a user's module, as written by `engine.train.user_module.attribute_lists`."""


Order = ShowRun | RunSnapshot


class ViewProcess:
    """The run that is shown, and the schedule of its views."""

    def __init__(self) -> None:
        self._run_id = 0
        self._run: TrainingRun | None = None
        self._pace = ViewScheduler()
        self._wishes: tuple[tuple[str, requests.ViewRequest], ...] = ()

    def take(self, order: Order) -> Iterator[ViewReply]:
        """Handle an order; yield the views that are due for a snapshot."""
        if isinstance(order, ShowRun):
            self._choose(order)
        elif self._run is not None:
            _refresh(self._run, order)
            yield from self._views(self._run, order)

    def _choose(self, subject: ShowRun) -> None:
        if subject.file:
            provided_files.provide(subject.path, subject.file)
        same = self._run is not None and self._run_id == subject.run_id
        run, self._run, self._wishes = self._run, None, ()
        if same and run is not None and not program.changed_keys(run.setup, subject.setup)[1]:
            run.program.change(subject.setup)
            run.weight_path.forget_after(-1)
        else:
            run = TrainingRun(msgspec.structs.replace(subject.setup, threads=1))
        self._run_id, self._run = subject.run_id, run

    def _views(self, run: TrainingRun, moment: RunSnapshot) -> Iterator[ViewReply]:
        if moment.wishes != self._wishes:
            self._wishes = moment.wishes
            self._pace.set_intervals({key: wish.every_ms / 1000 for key, wish in moment.wishes})
        for key, wish in moment.wishes:
            begun = time.perf_counter()
            if not self._pace.is_due(key, begun + wish.every_ms / 4000):
                continue
            try:
                picture = views.compute(run, wish.kind, wish.options)
            except USER_ERRORS:
                pass  # Skipped if the module raises; it may work with other weights.
            else:
                if picture is None:
                    self._pace.disable(key)
                    continue
                yield ViewReply(self._run_id, wish.kind, run.step, picture.arrays, picture.facts)
            self._pace.record_cost(key, time.perf_counter() - begun, begun, SHARE)


@torch.no_grad()
def _refresh(run: TrainingRun, moment: RunSnapshot) -> None:
    """Apply a snapshot of the trained run to this process's copy."""
    program_copy = run.program
    parameters, buffers = list(program_copy.model.parameters()), list(program_copy.model.buffers())
    for tensors, arrays in ((parameters, moment.parameters), (buffers, moment.buffers)):
        for tensor, value in zip(tensors, unpack_flat(arrays, tensors), strict=True):
            tensor.copy_(value)
    having = [p for p, has in zip(parameters, moment.has_grad, strict=False) if has]
    for parameter in parameters:
        parameter.grad = None
    for parameter, grad in zip(having, unpack_flat(moment.grads, having), strict=True):
        parameter.grad = grad.to(parameter.dtype)
    program_copy.optimizer.state.clear()
    for parameter, memory in zip(parameters, moment.memory, strict=False):
        program_copy.optimizer.state[parameter] = {
            name: _tensor(value) if isinstance(value, RawArray) else value
            for name, value in memory.items()
        }
    program_copy.optimizer.param_groups[0]["lr"] = moment.lr
    if moment.kept:
        attribute_lists.from_lists(moment.kept, "cpu").restore(program_copy.model)
    run.step, run.ratios = moment.step, moment.ratios
    run.weight_path.points.update({step: _tensor(point) for step, point in moment.points.items()})


def _tensor(array: RawArray) -> torch.Tensor:
    return torch.from_numpy(array.array().copy())


def fork_process(
    confine: Callable[[], None], close: tuple[int, ...]
) -> tuple[int, int, int] | None:
    """Fork the process, which confines itself first; see `engine.system.fork_worker`."""

    def work(orders: int, results: int) -> None:
        confine()
        threading.Thread(target=_exit_when_closed, args=(results,), daemon=True).start()
        serve(orders, results)

    return system.fork_worker(work, close)


def _exit_when_closed(results: int) -> None:
    """Exit once the pipe of results is closed, even if a module hangs."""
    waiting = select.poll()
    waiting.register(results, 0)
    waiting.poll()
    os._exit(0)


def serve(orders: int, results: int) -> None:
    """Read orders from one descriptor and write views to another until the first is closed.

    The final reply to each order is `DONE` or `FAILED`.
    """
    torch.set_num_threads(1)
    easel, decoder = ViewProcess(), msgspec.msgpack.Decoder(Order)
    with contextlib.suppress(OSError), open(orders, "rb") as incoming:
        while len(head := incoming.read(HEADER.size)) == HEADER.size:
            length, subject = HEADER.unpack(head)
            order, answer = decoder.decode(incoming.read(length)), DONE
            try:
                for view in easel.take(order):
                    _write(results, subject, msgspec.msgpack.encode(view))
            except OSError:
                return
            except USER_ERRORS:
                # The trainer then computes the views of this run.
                easel, answer = ViewProcess(), FAILED
            _write(results, subject, answer)


def _write(results: int, subject: int, data: bytes) -> None:
    view = memoryview(HEADER.pack(len(data), subject) + data)
    while view:
        view = view[os.write(results, view) :]
