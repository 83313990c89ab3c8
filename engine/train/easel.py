"""The process that makes views of a run which another process trains.

It is a fork of the engine from before its first program, confined like it. What it knows of a run
is its setup, from which it makes the same data and the same model, and then, step by step, its
weights and what a module of the user's keeps besides. So views cost the trainer no more than a copy
of these, and a module that draws random numbers or counts its calls draws and counts its own.
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

from engine import process
from engine.errors import RAISES
from engine.setup import Setup
from engine.train import attribute_lists, attributes, program, views
from engine.train.run import Run
from engine.train.views.arrays import parted
from engine.train.views.pace import Pace
from engine.training import asks
from engine.training.answers import Array, View
from engine.zoo import given

SHARE = 0.5
"""The part of a core that views take at most: the window wants to paint as well."""
HEADER = struct.Struct("<II")
"""Before each message: its length, and which subject it is about."""
DONE, UNFIT = b"", b"!"
"""How an order is answered in the end: by nothing more, or by a word that it cannot be done."""


class Subject(Struct, frozen=True, tag=True, array_like=True):
    """A run that is to be shown from now on, and the file that its data is in."""

    run_id: int
    setup: Setup
    path: str = ""
    file: bytes = b""


class Moment(Struct, frozen=True, tag=True, array_like=True):
    """A run after ``step``: what its views are made from."""

    step: int
    wishes: tuple[tuple[str, asks.Wish], ...]
    lr: float
    ratios: list[tuple[float, float]]
    parameters: tuple[Array, ...]
    buffers: tuple[Array, ...]
    has_grad: list[bool]
    """Which parameters have a gradient; empty: none is wanted."""
    grads: tuple[Array, ...]
    memory: list[dict[str, Array | float]]
    points: dict[int, Array]
    """Where the weights have been at steps that were not told yet."""
    kept: list[object] = []
    """What a module of the user's keeps, as `engine.train.attribute_lists` writes it."""


Order = Subject | Moment


class Easel:
    """What is known of the run that is shown, and when its views are due."""

    def __init__(self) -> None:
        self._run_id = 0
        self._run: Run | None = None
        self._pace = Pace()
        self._wishes: tuple[tuple[str, asks.Wish], ...] = ()

    def take(self, order: Order) -> Iterator[View]:
        """Do what is ordered; yields the views of a moment that are due."""
        if isinstance(order, Subject):
            self._choose(order)
        elif self._run is not None:
            _refresh(self._run, order)
            yield from self._views(self._run, order)

    def _choose(self, subject: Subject) -> None:
        if subject.file:
            given.give(subject.path, subject.file)
        same = self._run is not None and self._run_id == subject.run_id
        run, self._run, self._wishes = self._run, None, ()
        if same and run is not None and not program.changed(run.setup, subject.setup)[1]:
            run.program.change(subject.setup)
            run.trail.forget_after(-1)
        else:
            run = Run(msgspec.structs.replace(subject.setup, threads=1))
        self._run_id, self._run = subject.run_id, run

    def _views(self, run: Run, moment: Moment) -> Iterator[View]:
        if moment.wishes != self._wishes:
            self._wishes = moment.wishes
            self._pace.want({key: wish.every_ms / 1000 for key, wish in moment.wishes})
        for key, wish in moment.wishes:
            begun = time.perf_counter()
            if not self._pace.is_due(key, begun + wish.every_ms / 4000):
                continue
            try:
                picture = views.show(run, wish.kind, wish.options)
            except RAISES:
                # What a module cannot show is left out; with other weights it may be possible.
                self._pace.made(key, time.perf_counter() - begun, begun, SHARE)
                continue
            if picture is None:
                self._pace.never(key)
                continue
            yield View(self._run_id, wish.kind, run.step, picture.arrays, picture.facts)
            self._pace.made(key, time.perf_counter() - begun, begun, SHARE)


@torch.no_grad()
def _refresh(run: Run, moment: Moment) -> None:
    """Bring a run to a moment of the one that is trained."""
    made = run.program
    parameters, buffers = list(made.model.parameters()), list(made.model.buffers())
    for tensors, arrays in ((parameters, moment.parameters), (buffers, moment.buffers)):
        for tensor, held in zip(tensors, parted(arrays, tensors), strict=True):
            tensor.copy_(held)
    having = [p for p, has in zip(parameters, moment.has_grad, strict=False) if has]
    for parameter in parameters:
        parameter.grad = None
    for parameter, grad in zip(having, parted(moment.grads, having), strict=True):
        parameter.grad = grad.to(parameter.dtype)
    made.optimizer.state.clear()
    for parameter, memory in zip(parameters, moment.memory, strict=False):
        made.optimizer.state[parameter] = {
            name: _tensor(held) if isinstance(held, Array) else held
            for name, held in memory.items()
        }
    made.optimizer.param_groups[0]["lr"] = moment.lr
    if moment.kept:
        attributes.put_back(made.model, attribute_lists.read(moment.kept, "cpu"))
    run.step, run.ratios = moment.step, moment.ratios
    run.trail.points.update({step: _tensor(point) for step, point in moment.points.items()})


def _tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array.array().copy())


def begin(confine: Callable[[], None], close: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Begin that process, which confines itself first; see `engine.process.fork`."""

    def work(orders: int, results: int) -> None:
        confine()
        threading.Thread(target=_end_unheard, args=(results,), daemon=True).start()
        live(orders, results)

    return process.fork(work, close)


def _end_unheard(results: int) -> None:
    """End this process once nobody reads its views, whatever it is doing: a module may hang."""
    waiting = select.poll()
    waiting.register(results, 0)
    waiting.poll()
    os._exit(0)


def live(orders: int, results: int) -> None:
    """Take orders from one descriptor and write views to another until the first is closed.

    Each order is answered in the end by `DONE` or `UNFIT`.
    """
    torch.set_num_threads(1)
    easel, decoder = Easel(), msgspec.msgpack.Decoder(Order)
    with contextlib.suppress(OSError), open(orders, "rb") as incoming:
        while len(head := incoming.read(HEADER.size)) == HEADER.size:
            length, subject = HEADER.unpack(head)
            order, answer = decoder.decode(incoming.read(length)), DONE
            try:
                for view in easel.take(order):
                    _write(results, subject, msgspec.msgpack.encode(view))
            except OSError:
                return
            except RAISES:
                # A run that cannot be shown from here is not shown.
                easel, answer = Easel(), UNFIT
            _write(results, subject, answer)


def _write(results: int, subject: int, data: bytes) -> None:
    view = memoryview(HEADER.pack(len(data), subject) + data)
    while view:
        view = view[os.write(results, view) :]
