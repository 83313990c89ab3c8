"""Steps per second of the bare eager loop, the reference mode and the captured mode, side by side.

Each number is the best of several interleaved rounds in CPU time, so that a busy machine disturbs
the ratios little.
"""

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from engine import setup
from engine.train import views
from engine.train.program import Program
from engine.train.run import Run

ROUNDS = 5
SECONDS = 0.4
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
VIEWS = ("boundary", "fit", "units", "gradients", "histograms", "scores", "confusion")


def bare(given: Mapping[str, object]) -> Callable[[], None]:
    """Return one step of the plain loop: the exported script's lines, each loss recorded."""
    program = Program(setup.parse(dict(given)))
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
    count, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        for _ in range(20):
            go()
        count += 20
    return count / spent


def run_rate(run: Run, wishes: tuple[str, ...] = (), seconds: float = SECONDS) -> float:
    """Return a run's steps per second of CPU time, its views made as the host makes them."""
    due = dict.fromkeys(wishes, 0.0)
    first, begun = run.step, time.process_time()
    while (now := time.process_time() - begun) < seconds:
        run.advance(1 << 30, 0.004)
        for kind, when in due.items():
            if when <= now:
                before = time.process_time()
                views.show(run, kind, {})
                cost = time.process_time() - before
                due[kind] = now + max(1 / 30, cost / views.KINDS[kind].share)
        run.history.take()
    return (run.step - first) / (time.process_time() - begun)


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    say(f"{'steps/s':<20} {'bare':>8} {'reference':>10} {'with views':>11} {'captured':>9}")
    for name, given in SETUPS.items():
        given = {**given, "validate_every": 0}
        plain = bare(given)
        runs = {
            mode: Run(setup.parse({**given, "mode": mode})) for mode in ("reference", "captured")
        }
        seen = Run(setup.parse({**given, "mode": "reference"}))
        for run in (*runs.values(), seen):
            run.advance(50)
        best = [0.0] * 4
        for _ in range(ROUNDS):
            found = (
                rate(plain),
                run_rate(runs["reference"]),
                run_rate(seen, VIEWS),
                run_rate(runs["captured"]),
            )
            best = [max(pair) for pair in zip(best, found, strict=True)]
        ratios = [one / best[0] for one in best]
        numbers = f"{best[0]:>8.0f} {best[1]:>10.0f} {best[2]:>11.0f} {best[3]:>9.0f}"
        say(f"{name:<20} {numbers}")
        words = f"{'x1':>8} {ratios[1]:>9.2f}x {ratios[2]:>10.2f}x {ratios[3]:>8.2f}x"
        say(f"{'':<20} {words}  {runs['captured'].mode} {runs['captured'].why}")


if __name__ == "__main__":
    main()
