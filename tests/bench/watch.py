"""Overhead of `gs.watch`: a training loop that is watched against the same loop without it.

`make bench` prints the table as Markdown. Blocks of steps of both are interleaved in one run, so
that both see the same machine; CPU time of the whole process, the writer's thread included, on one
thread of torch. All blocks are added up, as few steps are measured and those cost the most. The
clock of the watch goes on while the other loop trains, so that it measures more often than alone.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

import gradscribe as gs
from tests.bench.record import mlp, resnet

Step = Callable[[], torch.Tensor]


def loops() -> dict[str, tuple[Callable[[], nn.Module], torch.Tensor, int, int]]:
    """Return name -> (model, input, steps of a block, blocks)."""
    images = torch.randn(4, 3, 64, 64)
    return {
        "MLP, 10 layers, 64 wide, batch 64": (lambda: mlp(10), torch.randn(64, 64), 50, 150),
        "ResNet-18-like, 64 x 64, batch 4": (resnet, images, 2, 45),
    }


def training(make: Callable[[], nn.Module], given: torch.Tensor) -> tuple[nn.Module, object, Step]:
    """Return a model, its optimizer and a step of its training."""
    torch.manual_seed(0)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = model(given).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


def overhead(
    make: Callable[[], nn.Module], given: torch.Tensor, size: int, blocks: int, folder: Path
) -> dict[str, float]:
    """Return the CPU seconds of all blocks: plain, watched, and with ``GRADSCRIBE=0``."""
    _, _, plain = training(make, given)
    model, optimizer, step = training(make, given)
    watch = gs.watch(model, optimizer, to=folder / f"{len(list(folder.iterdir()))}.watch")  # type: ignore[arg-type]
    other, other_optimizer, silent = training(make, given)
    os.environ["GRADSCRIBE"] = "0"
    off = gs.watch(other, other_optimizer)  # type: ignore[arg-type]
    del os.environ["GRADSCRIBE"]
    runs: dict[str, Callable[[], None]] = {
        "plain": lambda: _repeat(size, lambda: plain()),
        "watched": lambda: _repeat(size, lambda: watch.step(step())),
        "off": lambda: _repeat(size, lambda: off.step(silent())),
    }
    spent = dict.fromkeys(runs, 0.0)
    names = list(runs)
    for work in runs.values():
        work()
    for block in range(blocks):
        for name in names[block % 3 :] + names[: block % 3]:
            start = time.process_time()
            runs[name]()
            spent[name] += time.process_time() - start
    watch.close()
    return spent


def _repeat(count: int, work: Callable[[], object]) -> None:
    for _ in range(count):
        work()


def main() -> int:
    """Measure and print the table."""
    torch.set_num_threads(1)
    sys.stdout.write("| a step of training | plain, ms | watched | GRADSCRIBE=0 |\n")
    sys.stdout.write("|---|---:|---:|---:|\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, given, size, blocks) in loops().items():
            spent = overhead(make, given, size, blocks, Path(folder))
            plain = spent["plain"]
            cells = [f"{1000 * plain / size / blocks:.2f}"]
            cells += [f"{100 * (spent[kind] / plain - 1):+.1f} %" for kind in ("watched", "off")]
            sys.stdout.write(f"| {name} | " + " | ".join(cells) + " |\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
