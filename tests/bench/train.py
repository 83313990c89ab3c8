"""Steps per second of the bare eager loop and of the trainer's modes, with and without views.

Each ratio is the median of interleaved rounds, to the bare loop just before and just after. The
trainer runs as in the engine, with views computed in another process: use an otherwise idle machine
with two cores. If the cores share execution units, that process alone slows the bare loop down;
one row shows how much.
"""

import gc
import logging
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch.func import functional_call, grad_and_value

from gradscribe.engine.protocol import frames, setup
from gradscribe.engine.protocol.training import TrainReply, replies, requests
from gradscribe.engine.train import views
from gradscribe.engine.train.memory import resident_bytes
from gradscribe.engine.train.serve import view_process
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.engine.train.serve.view_client import ViewClient
from gradscribe.engine.train.source.program import TrainingProgram

ROUNDS = 9
SECONDS = 0.25
SETUPS: dict[str, Mapping[str, object]] = {
    "linear regression": {
        "data": {"name": "line", "n": 100},
        "model": "linear",
        "optimizer": {"name": "sgd", "lr": 0.01},
        "train": 1.0,
    },
    "sine 1-16-1": {
        "data": {"name": "sine", "n": 1000},
        "model": {"name": "mlp", "layers": [16]},
        "train": 1.0,
    },
    "playground 2-4-2-1": {
        "data": "circle",
        "model": {"name": "mlp", "layers": [4, 2], "init": "playground", "output": "tanh"},
        "loss": "half",
        "optimizer": {"name": "sgd", "lr": 0.03},
        "train": 0.5,
        "batch": 10,
    },
}
WINDOW = {"scores": 200, "boundary": 33, "fit": 33, "gradients": 50}
"""Views that are open in the window at once, with their update interval in milliseconds."""
PICTURES = {"boundary": 33, "units": 33}
ALL = dict.fromkeys(views.KINDS, 33) | WINDOW | {"surface": 1500, "confusion": 200}
BUSY = """
import torch
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
x = torch.randn(10_000, 2)
print(flush=True)
with torch.no_grad():
    while True:
        net(x)
"""
"""Computes the map of a boundary in an endless loop."""
BESIDE = "bare loop, maps computed beside it"
COMPILED = "torch.compile, whole step"
LONG = 1_000_000
SETTLED = 20_000


class Served:
    """A run as the engine serves it: every message is built and packed, then discarded."""

    def __init__(self, given: Mapping[str, object], mode: str, wishes: Mapping[str, int]) -> None:
        self.made = Counter[str]()
        ends = view_process.fork_process(lambda: None, ())
        host = TrainingHost(self.take, ViewClient(self.take, *ends) if ends else None)
        host.take(requests.Train(1, setup.parse({**given, "mode": mode}), play=True))
        host.take(
            requests.WatchViews(1, tuple(requests.ViewRequest(*wish) for wish in wishes.items()))
        )
        self.host, self.run = host, host._runs[1].run
        while self.run.step < 300:
            host.work()
        self.made.clear()
        self.seconds = 0.0

    def take(self, message: TrainReply) -> None:
        """Pack a message, as if it were sent."""
        deque(frames.encode_frames(message), maxlen=0)
        if isinstance(message, replies.ViewReply):
            self.made[message.kind] += 1

    def rate(self, seconds: float) -> float:
        """Train for ``seconds`` and return the steps per second of CPU time."""
        first, begun, cpu = self.run.step, time.perf_counter(), time.thread_time()
        while (spent := time.perf_counter() - begun) < seconds:
            self.host.work()
        self.seconds += spent
        return (self.run.step - first) / (time.thread_time() - cpu)


def bare(given: Mapping[str, object]) -> Callable[[], None]:
    """Return one step of the plain loop: the exported script's lines, each loss recorded."""
    program = TrainingProgram(setup.parse(dict(given)))
    names, losses = dict(program.names), []
    source = "def batches():\n" + (
        "    while True:\n        yield x_train, y_train\n"
        if not given.get("batch")
        else "    while True:\n        for rows in torch.randperm(len(x_train)).split(10):\n"
        "            yield x_train[rows], y_train[rows]\n"
    )
    exec(source, names)
    stream, step = names["batches"](), program.step_function

    def go() -> None:
        losses.append(step(*next(stream)))

    return go


def rate(go: Callable[[], object], seconds: float = SECONDS) -> float:
    """Return calls per second of CPU time."""
    count, begun = 0, time.thread_time()
    while (spent := time.thread_time() - begun) < seconds:
        for _ in range(20):
            go()
        count += 20
    return count / spent


def compiled(given: Mapping[str, object]) -> Callable[[], object] | str:
    """Return a whole step through ``torch.compile`` as one graph, or the reason why not.

    Forward, loss, gradients and update are one function of the batch: compiling the script's own
    lines causes a graph break at ``backward()`` and is slower.
    """
    if not any(map(shutil.which, ("g++", "clang++", "c++"))):
        return "no C++ compiler here"
    program = TrainingProgram(setup.parse(dict(given)))
    model, group = program.model, program.optimizer.param_groups[0]
    weights = {name: p.detach().clone() for name, p in model.named_parameters()}
    mean, square = ({n: torch.zeros_like(w) for n, w in weights.items()} for _ in range(2))
    count = torch.zeros(())

    def loss_of(values: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return program.criterion(functional_call(model, values, (x,)), y)

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        grads, loss = grad_and_value(loss_of)(weights, x, y)
        count.add_(1)
        for name, weight in weights.items():
            if "betas" not in group:
                weight.sub_(group["lr"] * grads[name])
                continue
            first, second = group["betas"]
            mean[name].lerp_(grads[name], 1 - first)
            square[name].mul_(second).addcmul_(grads[name], grads[name], value=1 - second)
            size = (square[name] / (1 - second**count)).sqrt() + group["eps"]
            weight.sub_(group["lr"] / (1 - first**count) * mean[name] / size)
        return loss  # type: ignore[no-any-return]

    x, y = program.tensor("x_train"), program.tensor("y_train")
    size = given.get("batch")
    batch = (x[: int(str(size))], y[: int(str(size))]) if size else (x, y)
    try:
        whole = torch.compile(step, fullgraph=True)
        for _ in range(5):
            whole(*batch)
    except Exception as error:  # noqa: BLE001 - whatever the compiler says
        return str(error).strip().partition("\n")[0][:80]
    return lambda: whole(*batch).item()


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Busy:
    """Another process that computes continuously, stopped by SIGSTOP while not measured."""

    def __init__(self) -> None:
        words = [sys.executable, "-c", BUSY]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._process.stdout.readline()
        self._process.send_signal(signal.SIGSTOP)

    def rate(self, go: Callable[[], object]) -> float:
        """Return calls per second of CPU time while it computes."""
        self._process.send_signal(signal.SIGCONT)
        try:
            return rate(go)
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.communicate()


def measure(name: str, given: Mapping[str, object], busy: Busy) -> None:
    """Print the ratios of one setup to the bare loop."""
    plain = bare(given)
    runs = {
        "reference, boundary and units": Served(given, "reference", PICTURES),
        "reference, no view open": Served(given, "reference", {}),
        "reference, the window's views": Served(given, "reference", WINDOW),
        "reference, every view at once": Served(given, "reference", ALL),
        "captured, no view open": Served(given, "captured", {}),
        "captured, boundary and units": Served(given, "captured", PICTURES),
        "captured, every view at once": Served(given, "captured", ALL),
    }
    rows: dict[str, Callable[[], float]] = {
        row: partial(served.rate, SECONDS) for row, served in runs.items()
    }
    rows[BESIDE] = lambda: busy.rate(plain)
    made = compiled(given)
    if not isinstance(made, str):
        rows[COMPILED] = partial(rate, made)
    gc.collect()
    gc.freeze()
    rates, base = _interleaved(rows, plain)
    say(f"{name}: bare loop {statistics.median(base):,.0f} steps/s")
    for row, found in rates.items():
        words = ""
        if row in runs:
            served = runs[row]
            shown = {k: n / served.seconds for k, n in served.made.items() if k in PICTURES}
            words = "".join(f"  {kind} {n:.0f}/s" for kind, n in sorted(shown.items()))
            words += f"  ({served.run.why})" if served.run.why else ""
        say(f"    {row:<34} {statistics.median(found):>6.2f}x{words}")
    if isinstance(made, str):
        say(f"    {COMPILED:<34} {made}")


def _interleaved(
    rows: Mapping[str, Callable[[], float]], plain: Callable[[], None]
) -> tuple[dict[str, list[float]], list[float]]:
    """Return each row's ratios to the bare loop, round by round, and that loop's rates."""
    rates: dict[str, list[float]] = {row: [] for row in rows}
    base = [rate(plain)]
    for _ in range(ROUNDS):
        for row, made in rows.items():
            found = made()
            base.append(rate(plain))
            rates[row].append(2 * found / (base[-2] + base[-1]))
    return rates, base


def long_run(given: Mapping[str, object]) -> None:
    """Print the resident memory after up to a million steps."""
    served = Served(given, "captured", WINDOW)
    sizes = []
    for goal in (SETTLED, LONG // 10, LONG):
        while served.run.step < goal:
            served.host.work()
        gc.collect()
        sizes.append(resident_bytes())
    parts = "  ".join(f"{n / 1e6:.1f} MB" for n in sizes)
    say(f"resident after {SETTLED:,}, {LONG // 10:,} and {LONG:,} steps: {parts}")


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    logging.getLogger("torch").setLevel(logging.ERROR)
    # Started before anything is forked.
    busy = Busy()
    try:
        for name, given in SETUPS.items():
            measure(name, {**given, "validate_every": 0}, busy)
    finally:
        busy.end()
    long_run({**SETUPS["linear regression"], "validate_every": 0})


if __name__ == "__main__":
    main()
