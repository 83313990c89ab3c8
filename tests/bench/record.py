"""Overhead of recording: forward and backward with the recorder against the same without it.

`make bench` prints the table as Markdown: *recorded* is the run alone, as the program experiences
it; *with the tape* includes the decoding and freezing after it, and *gs.record* is that by the API,
which reads the file's text and the names around it, too. Each figure is the median of interleaved
rounds of CPU time, in one process on one thread; read the ratios. Installed peers are measured on
the same models (`pip install -e .[bench]`): torchlens and torchview see the forward pass only,
torchviz draws the finished graph; the app needs none of them.
"""

import contextlib
import datetime
import functools
import gc
import importlib.util
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

import torch  # noqa: E402
from torch import nn  # noqa: E402

import gradscribe as gs  # noqa: E402
from gradscribe.engine.record.freeze import freeze, leaves  # noqa: E402
from gradscribe.engine.record.recorder import Recorder  # noqa: E402
from gradscribe.engine.system import raise_stack_limit  # noqa: E402

Work = Callable[[], object]


class Block(nn.Module):
    """A residual block of two convolutions."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(after), nn.BatchNorm2d(after)
        self.skip = nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return an image of ``after`` channels."""
        y = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        return torch.relu(y + self.skip(x))


class Layer(nn.Module):
    """A transformer layer with causal attention written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, steps, width) as given."""
        batch, steps, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(width, dim=2)
        shape = (batch, steps, self.heads, width // self.heads)
        q, k, v = (t.view(shape).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(2, 3) / shape[3] ** 0.5
        hidden = torch.ones(steps, steps, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, steps, width))
        return x + self.mlp(self.norm2(x))


class Last(nn.Module):
    """An LSTM that returns its outputs alone."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(32, 64, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (steps, batch, 64)."""
        out: torch.Tensor = self.lstm(x)[0]
        return out


def mlp(layers: int, width: int = 64) -> nn.Module:
    """Return Linear and ReLU, ``layers`` times."""
    pairs = ((nn.Linear(width, width), nn.ReLU()) for _ in range(layers))
    return nn.Sequential(*(module for pair in pairs for module in pair))


def resnet() -> nn.Module:
    """Return a net of ResNet-18's depth and widths for images of 64 x 64."""
    plan = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    plan += [(128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*stem, *(Block(*p) for p in plan), nn.Flatten())


def models() -> dict[str, tuple[nn.Module | None, torch.Tensor, int]]:
    """Return name -> (model, input, rounds); the expression has no model."""
    torch.manual_seed(0)
    gpt = nn.Sequential(*(Layer(256, 4) for _ in range(12)))
    return {
        "expression, 3 ops": (None, torch.tensor(2.0), 200),
        "MLP, 10 layers, 64 wide, batch 64": (mlp(10), torch.randn(64, 64), 60),
        "MLP, 100 layers, 64 wide, batch 64": (mlp(100), torch.randn(64, 64), 15),
        "MLP, 100 layers, 128 wide, batch 128": (mlp(100, 128), torch.randn(128, 128), 15),
        "ResNet-18-like, 64 x 64, batch 4": (resnet(), torch.randn(4, 3, 64, 64), 7),
        "GPT, 12 layers, d = 256": (gpt, torch.randn(4, 64, 256), 5),
        "LSTM, 2 layers, 50 steps": (Last(), torch.randn(50, 8, 32), 25),
    }


def step(model: nn.Module | None, given: torch.Tensor) -> tuple[Work, Work]:
    """Return forward and backward of one model, and a function that clears its gradients.

    A program begins without gradients; the latter is called, unmeasured, before each round.
    """
    if model is None:
        x = given.clone().requires_grad_()
        y = torch.tensor(3.0, requires_grad=True)

        def expression() -> None:
            z = x * y
            w = z + x
            (w**2).backward()

        return expression, lambda: _clear((x, y))

    def forward_backward() -> None:
        model(given).pow(2).mean().backward()

    return forward_backward, lambda: _clear(model.parameters())


def _clear(leaves: Iterable[torch.Tensor]) -> None:
    for leaf in leaves:
        leaf.grad = None


def recorded(work: Work) -> Work:
    """Return the same work under a recorder, whose copies are released at the end."""

    def run() -> None:
        with Recorder("", __file__, event_limit=10**7) as recorder:
            work()
        recorder.release()

    return run


def taped(work: Work) -> Work:
    """Return the same work under a recorder, including the assembly of the tape."""

    def run() -> None:
        with Recorder("", __file__, event_limit=10**7) as recorder:
            work()
        freeze(recorder, leaves(recorder, {}))
        recorder.release()

    return run


def by_api(work: Work) -> Work:
    """Return the same work in ``with gs.record()``, which assembles the tape as well."""

    def run() -> None:
        with gs.record():
            work()

    return run


def costs(count: int = 500) -> dict[str, float]:
    """Return the cost of an op, module call and backward node in microseconds, on tiny tensors."""
    x, module = torch.tensor(1.0), nn.Identity()
    leaf = torch.tensor(1.0, requires_grad=True)

    def ops() -> None:
        for _ in range(count):
            x * 1.0001

    def calls() -> None:
        for _ in range(count):
            module(x)

    def nodes() -> None:
        y = leaf
        for _ in range(count):
            y = y * 1.0001
        y.backward()

    found: dict[str, float] = {}
    for name, work in (("op", ops), ("module call", calls), ("node", nodes)):
        took = medians({"plain": work, "recorded": recorded(work)}, 15)
        found[name] = 1000 * (took["recorded"] - took["plain"]) / count
    found["node"] -= found["op"]
    return found


def training(steps: int = 20) -> dict[str, Work]:
    """Return training loops by optimizer, in which in-place updates are recorded, too."""
    given = torch.randn(64, 64)

    def train(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            model(given).pow(2).mean().backward()
            optimizer.step()

    found: dict[str, Work] = {}
    for kind in (torch.optim.SGD, torch.optim.Adam):
        model = mlp(10)
        optimizer = kind(model.parameters(), lr=1e-4)
        found[kind.__name__] = functools.partial(train, model, optimizer)
    return found


def loops() -> dict[str, Work]:
    """Return long loops over one tiny tensor, whose time must grow linearly with their length."""
    leaf = torch.tensor(1.0, requires_grad=True)

    def ops(count: int) -> None:
        y = leaf
        for _ in range(count):
            y = y * 1.0001

    def passes(count: int) -> None:
        for _ in range(count):
            leaf.grad = None
            (leaf * 1.0001).backward()

    kinds = {"ops in a chain": ops, "backward passes over one op": passes}
    return {
        f"{count:,} {name}": functools.partial(work, count)
        for name, work in kinds.items()
        for count in (20_000, 80_000)
    }


def peers(model: nn.Module | None, given: torch.Tensor) -> dict[str, Work]:
    """Return the work of each installed peer on a model."""
    found: dict[str, Work] = {}
    if model is None:
        return found
    if importlib.util.find_spec("torchlens"):
        import torchlens

        found["torchlens"] = lambda: torchlens.trace(model, given)
    if importlib.util.find_spec("torchview"):
        import torchview

        found["torchview"] = lambda: torchview.draw_graph(model, input_data=given)
    if importlib.util.find_spec("torchviz"):
        import torchviz

        def dot() -> None:
            loss = model(given).pow(2).mean()
            torchviz.make_dot(loss)
            loss.backward()

        found["torchviz"] = dot
    return found


def spent(work: Work) -> float:
    """Return the CPU time of one call in milliseconds."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def medians(
    contenders: dict[str, Work], rounds: int, before: Work = lambda: None
) -> dict[str, float]:
    """Return each contender's median CPU time in milliseconds; rounds are interleaved."""
    times: dict[str, list[float]] = {}
    for name, work in contenders.items():
        with contextlib.suppress(Exception):  # a peer that cannot do a model has no figure
            work()
            times[name] = []
    for _ in range(rounds):
        for name, taken in times.items():
            before()
            taken.append(spent(contenders[name]))
        gc.collect()
    return {name: statistics.median(taken) for name, taken in times.items()}


def main() -> int:
    """Measure and print the table."""
    torch.set_num_threads(1)
    raise_stack_limit()
    warnings.simplefilter("ignore")
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    columns = ["recorded", "with the tape", "gs.record", "torchlens", "torchview", "torchviz"]
    _say(
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )
    _say(f"torch {torch.__version__}, Python {platform.python_version()}, one thread\n")
    _say("| forward + backward | plain, ms | " + " | ".join(columns) + " |")
    _say("|---|---:|" + "---:|" * len(columns))
    for name, (model, given, rounds) in models().items():
        work, clear = step(model, given)
        quick = medians({"plain": work, "recorded": recorded(work)}, rounds, clear)
        whole = medians(
            {"plain": work, "with the tape": taped(work), "gs.record": by_api(work)},
            min(25, rounds),
            clear,
        )
        slow = medians({"plain": work, **peers(model, given)}, min(3, rounds), clear)
        ratios = {"recorded": quick["recorded"] / quick["plain"]}
        ratios["with the tape"] = whole["with the tape"] / whole["plain"]
        ratios["gs.record"] = whole["gs.record"] / whole["plain"]
        ratios |= {n: t / slow["plain"] for n, t in slow.items() if n != "plain"}
        cells = [f"{ratios[c]:.1f}x" if c in ratios else "" for c in columns]
        _say(f"| {name} | {quick['plain']:.2f} | " + " | ".join(cells) + " |")
    found = ", ".join(f"{name} {cost:.0f}" for name, cost in costs().items())
    _say(f"\nMicroseconds on top, on tensors of one element: {found}.\n")
    _say("| MLP of 10 layers, 20 steps of training | plain, ms | recorded |")
    _say("|---|---:|---:|")
    for name, work in training().items():
        quick = medians({"plain": work, "recorded": recorded(work)}, 15)
        _say(f"| {name} | {quick['plain']:.1f} | {quick['recorded'] / quick['plain']:.1f}x |")
    _say("")
    _say("| program | plain, s | recorded, s | with the tape, s |")
    _say("|---|---:|---:|---:|")
    for name, work in loops().items():
        took = [spent(variant) / 1000 for variant in (work, recorded(work), taped(work))]
        _say(f"| {name} | {took[0]:.2f} | {took[1]:.1f} | {took[2]:.1f} |")
        gc.collect()
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
