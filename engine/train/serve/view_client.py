"""Client of the `view_process`, which computes the views of the playing run.

A user's module runs in that process too, so it is untrusted: it must never block the trainer, and
only complete views, no more than were ordered, are forwarded from it to the window.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
import torch

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS, RawArray, ViewReply
from gradscribe.engine.system import reap
from gradscribe.engine.train.arrays import dtype_of, pack_flat, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import view_process
from gradscribe.engine.train.serve.hosted_run import HostedRun
from gradscribe.engine.train.serve.view_process import DONE, FAILED, HEADER, RunSnapshot, ShowRun
from gradscribe.engine.train.user_module import attribute_lists
from gradscribe.engine.train.views import KINDS, is_only_paused, limits
from gradscribe.engine.zoo import provided_files

HARMLESS = (
    requests.WatchViews,
    requests.RecordStep,
    requests.Export,
    requests.ListCatalogue,
    requests.ProvideFile,
)
"""Requests that do not affect a playing run."""
EVERY_S = 1 / 60
SHARE = {"reference": 0.01, "captured": 0.02}
"""Minimum interval between snapshots, and the share of the trainer's time for them by mode."""
PER_VIEW = 4
"""Snapshots per interval of the view that is requested most often."""
POINTS_S = 0.3
"""Minimum interval between updates of the weight path."""
PATIENCE_S, WORK_S = 20.0, 5.0
"""After so many seconds without a reply, and so much CPU time of its own meanwhile, the trainer
computes the views itself. On an overloaded machine, either process may be stalled for long."""
MOST = 64 << 20
"""Maximum bytes of one message."""
_PIPE = 1 << 20
_TURN = 8 << 20
"""Maximum bytes to read in one call."""
_views = msgspec.msgpack.Decoder(ViewReply)


class ViewClient:
    """The trainer's end of the pipes: sends snapshots, and forwards the views that come back."""

    def __init__(
        self, send: Callable[[ViewReply], None], orders: int, results: int, child: int = 0
    ) -> None:
        self._send, self._orders, self._results, self._child = send, orders, results, child
        _enlarge(orders, results)
        for end in (orders, results):
            os.set_blocking(end, False)
        self._buffer, self._unsent = bytearray(), bytearray()
        self._subject = self._run_id = 0
        self._run: TrainingRun | None = None
        self._modules: tuple[torch.nn.Module, ...] = ()
        """Cached modules of the model: walking them takes longer than copying a small model."""
        self._setup: Setup | None = None
        self._unfit: Setup | None = None
        """A setup that the view process could not handle."""
        self._sent_points: set[int] = set()
        self._unanswered, self._waiting_since, self._last_call = 0, 0.0, 0.0
        self._cpu_before = 0.0
        self._cost = float("inf")
        self._due = 0
        """The number of views that may still arrive for the orders sent."""
        self._next = self._points_at = 0.0
        self._is_gone = False

    def send_snapshot(self, hosted: HostedRun) -> bool:
        """Send a snapshot if the last one is done; return False if no view process is usable."""
        if not hosted.playing:
            self._stop()
            return False
        self.exchange()
        now = time.perf_counter()
        if now - self._last_call > PATIENCE_S / 2:
            self._restart_timer()  # Nothing was read or written while the run was paused.
        self._last_call = now
        is_late = self._unanswered > 0 and now - self._waiting_since > PATIENCE_S
        if is_late and time.thread_time() - self._cpu_before > WORK_S:
            self._close()
        setup = hosted.run.setup
        if self._is_gone and self._child and reap(self._child):
            self._child = 0
        if self._is_gone or setup.device != "cpu" or setup is self._unfit:
            return False
        if self._run is not hosted.run and limits.parameter_count(hosted.run) > MAX_VIEW_PARAMETERS:
            return False  # Copying them would take more time and memory than a step.
        if self._unanswered or now < self._next:
            return True
        if self._run is not hosted.run or self._setup is not setup:
            self._choose(hosted)
        wishes = tuple(
            pair
            for pair in hosted.keyed_wishes()
            if pair[1].kind != "beside" and not is_only_paused(pair[1].kind)
        )
        if wishes:
            attributes, left = attribute_lists.program_lists(hosted.run.program)
            if left:  # Without these attributes the views would be wrong.
                self._unfit = setup
                return False
            self._order(self._moment(hosted.run, wishes, attributes))
        spent = time.perf_counter() - now
        # A single slow one was interrupted by the system and not more expensive itself.
        self._cost = min(spent, 1.5 * self._cost)
        # More often than the views are made, as the view process waits for the next snapshot.
        pause = min((wish.every_ms for _, wish in wishes), default=0) / 1000 / PER_VIEW
        self._next = now + max(EVERY_S, pause, self._cost / SHARE[hosted.run.mode])
        return not self._is_gone

    def _restart_timer(self) -> None:
        self._waiting_since, self._cpu_before = time.perf_counter(), time.thread_time()

    def handle_request(self, request: object) -> None:
        """Discard outstanding views if a request changes the run."""
        if isinstance(request, requests.WatchViews):
            self._next = 0.0
        if not isinstance(request, HARMLESS):
            self._stop()

    def _stop(self) -> None:
        if self._run is not None:
            self._run, self._subject = None, self._subject + 1

    def exchange(self) -> None:
        """Forward the views that have arrived, and write more of the pending orders."""
        self._push()
        taken = 0
        while not self._is_gone and taken < _TURN:
            try:
                data = os.read(self._results, _PIPE)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            taken += len(data)
            self._buffer += data
            if not data or not all(map(self._handle, self._messages())):
                self._close()

    def _handle(self, received: tuple[int, bytes]) -> bool:
        """Handle one message; return False if it breaks the protocol."""
        subject, message = received
        is_answer = message in (DONE, FAILED)
        self._unanswered -= is_answer
        self._due -= not is_answer
        if self._unanswered < 0 or self._due < 0:
            return False
        if subject != self._subject:
            return True
        if is_answer:
            if message == FAILED:
                self._unfit = self._setup
            return True
        try:
            view = _views.decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        if view.run_id == self._run_id:
            self._send(view)
        return view.run_id == self._run_id

    def _messages(self) -> Iterator[tuple[int, bytes]]:
        while len(self._buffer) >= HEADER.size:
            length, subject = HEADER.unpack_from(self._buffer)
            if length > MOST:
                self._close()
            if len(self._buffer) < HEADER.size + length:
                return
            yield subject, bytes(self._buffer[HEADER.size : HEADER.size + length])
            del self._buffer[: HEADER.size + length]

    def _close(self) -> None:
        """Close the pipes; the process exits when it notices."""
        if not self._is_gone:
            self._is_gone = True
            self._buffer.clear()
            self._unsent.clear()
            os.close(self._orders)
            os.close(self._results)

    def _choose(self, hosted: HostedRun) -> None:
        run = hosted.run
        self._run, self._setup = run, run.setup
        self._sent_points, self._points_at = set(), 0.0
        self._subject += 1
        self._run_id = hosted.run_id
        path = str(run.setup.data.options.get("path") or "")
        content = provided_files.provided_bytes(path, run.program.files)
        self._order(ShowRun(hosted.run_id, run.setup, path, content))

    def _order(self, order: view_process.Order) -> None:
        body = msgspec.msgpack.encode(order)
        self._unsent += HEADER.pack(len(body), self._subject) + body
        self._unanswered += 1
        self._restart_timer()
        self._due += len(order.wishes) if isinstance(order, RunSnapshot) else 0
        self._push()

    def _push(self) -> None:
        """Write what fits into the pipe, without ever blocking on a process that does not read."""
        try:
            while self._unsent and not self._is_gone:
                with memoryview(self._unsent) as view:
                    sent = os.write(self._orders, view[:_PIPE])
                del self._unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._close()

    def _moment(
        self,
        run: TrainingRun,
        wishes: Sequence[tuple[str, requests.ViewRequest]],
        attributes: list[object],
    ) -> RunSnapshot:
        needs = [KINDS[wish.kind] for _, wish in wishes if wish.kind in KINDS]
        grads = any(view.needs_gradients for view in needs)
        has_state = any(view.needs_optimizer_state for view in needs)
        model, optimizer = run.program.model, run.program.optimizer
        if self._modules[:1] != (model,):
            self._modules = tuple(model.modules())
        parameters = _each(module._parameters for module in self._modules)
        buffers = _each(module._buffers for module in self._modules)
        state = optimizer.state
        return RunSnapshot(
            run.step,
            tuple(wishes),
            float(optimizer.param_groups[0]["lr"]),
            run.ratios,
            pack_flat(parameters),
            pack_flat(buffers),
            [p.grad is not None for p in parameters] if grads else [],
            pack_flat([p.grad for p in parameters if p.grad is not None]) if grads else (),
            [_memory(state.get(p, {})) for p in parameters] if has_state else [],
            self._points(run) if any(view.needs_weight_path for view in needs) else {},
            attributes,
        )

    def _points(self, run: TrainingRun) -> dict[int, RawArray]:
        """Return the points of the weight path not yet sent, at most every `POINTS_S`."""
        now = time.perf_counter()
        if now < self._points_at:
            return {}
        self._points_at = now + POINTS_S
        points_by_step = {
            c.step: torch.cat([p.reshape(-1).float() for p in c.parameters])
            for c in run.checkpoints.all
            if c.step not in self._sent_points
        }
        points = run.weight_path.points
        points_by_step |= {step: points[step].float() for step in points.keys() - self._sent_points}
        self._sent_points |= points_by_step.keys()
        return {step: to_array(point) for step, point in points_by_step.items()}


def _enlarge(*ends: int) -> None:
    """Enlarge pipe buffers to more than one view, if the system supports it."""
    if sys.platform == "linux":
        import fcntl

        for end in ends:
            with contextlib.suppress(OSError):
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE)


def _each(groups: Iterable[Mapping[str, torch.Tensor | None]]) -> list[torch.Tensor]:
    """Return the tensors of modules in the order of ``model.parameters()``, without duplicates."""
    tensors = {
        id(tensor): tensor for group in groups for tensor in group.values() if tensor is not None
    }
    return list(tensors.values())


def _memory(state: dict[str, object]) -> dict[str, RawArray | float]:
    return {
        name: to_array(value, dtype_of(value)) if isinstance(value, torch.Tensor) else float(value)
        for name, value in state.items()
        if isinstance(value, torch.Tensor | int | float)
    }
