"""Long loops: `gradscribe record` as a whole against the same script in plain Python.

`make bench` prints the table as Markdown. Each row is a script that runs once in Python and once
under ``gradscribe record``, both from the start of the process to its end, in turn, on one thread;
for a few rows once more with ``--full``. Memory is that of the larger of the two processes.
"""

import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FACTOR, MORE_S, MOST_MB, FULL_S = 2.0, 2.0, 600, 15.0
"""Limits: times plain plus seconds, megabytes, and seconds of a loop recorded in full."""
HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
"""

FIVE = """
x = torch.linspace(-2, 2, 8).unsqueeze(-1)
model = nn.Linear(1, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range({n}):
    opt.zero_grad()
    loss = F.mse_loss(model(x), 2 * x)
    loss.backward()
    opt.step()
"""

POLYNOMIAL = """
x = torch.linspace(-3, 3, 1500)
wave = torch.sin(x)
c0, c1, c2, c3 = (torch.randn((), requires_grad=True) for _ in range(4))
for t in range({n}):
    fit = c0 + c1 * x + c2 * x**2 + c3 * x**3
    loss = (fit - wave).square().sum()
    if t % 1000 == 999:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        for c in (c0, c1, c2, c3):
            c -= 1e-7 * c.grad
            c.grad = None
"""

DYNAMIC = """
import random
random.seed(0)

class Varying(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Parameter(torch.randn(4))
        self.high = nn.Parameter(torch.randn(()))

    def forward(self, x):
        y = self.low[0] + self.low[1] * x + self.low[2] * x**2 + self.low[3] * x**3
        for power in range(4, random.randint(4, 6)):
            y = y + self.high * x**power
        return y

x = torch.linspace(-3, 3, 1500)
wave = torch.sin(x)
model = Varying()
opt = torch.optim.SGD(model.parameters(), lr=1e-8, momentum=0.9)
for t in range({n}):
    loss = F.mse_loss(model(x), wave, reduction="sum")
    if t % 1000 == 999:
        print(t, loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

BIGRAMS = """
import random
random.seed(0)
letters = "abcdefghijklmnopqrstuvwxyz"
names = ["".join(random.choices(letters, k=random.randint(3, 9))) for _ in range({n})]
place = {{letter: at + 1 for at, letter in enumerate(letters)}}
place["."] = 0
counts = torch.zeros((27, 27), dtype=torch.int32)
for name in names:
    for first, second in zip("." + name, name + "."):
        counts[place[first], place[second]] += 1
share = (counts + 1).float()
share /= share.sum(1, keepdim=True)
print(share[0])
"""

MINIBATCHES = """
inputs, targets = torch.randn(512, 8), torch.randn(512, 1)
w1 = (torch.randn(8, 16) * 0.1).requires_grad_()
b1, b2 = torch.zeros(16, requires_grad=True), torch.zeros(1, requires_grad=True)
w2 = (torch.randn(16, 1) * 0.1).requires_grad_()
for epoch in range({n}):
    for at in torch.randperm(512).split(16):
        hidden = torch.tanh(inputs[at] @ w1 + b1)
        loss = ((hidden @ w2 + b2 - targets[at]) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w1, b1, w2, b2):
                p -= 0.05 * p.grad
                p.grad.zero_()
print(loss.item())
"""

GRADS = """
def height(x):
    return (x**4 - 3 * x**2 + x).sum()

x = torch.full((2,), 1.5, requires_grad=True)
for i in range({n}):
    (slope,) = torch.autograd.grad(height(x), x)
    x = (x - 0.01 * slope).detach().requires_grad_()
print(x)
"""

PROGRAMS = {
    "five lines, 2,000 steps": FIVE.format(n=2_000),
    "five lines, 20,000 steps": FIVE.format(n=20_000),
    "five lines, 200,000 steps": FIVE.format(n=200_000),
    "polynomial by hand, 30,000 steps": POLYNOMIAL.format(n=30_000),
    "a net that varies, 30,000 steps": DYNAMIC.format(n=30_000),
    "counting bigrams of 4,000 names": BIGRAMS.format(n=4_000),
    "minibatches by hand, 12,800 steps": MINIBATCHES.format(n=400),
    "8,000 calls of grad": GRADS.format(n=8_000),
}
WIRE_STEPS, WIRE_EVENTS, WIRE_S = 21_430, 400_000, 2.0
"""Steps and most events of the tape that is sent, and seconds to send and receive it."""
IN_FULL = "five lines, 20,000 steps"


class Spent(NamedTuple):
    """Seconds, and megabytes at most, that a process and its children have used."""

    wall: float
    cpu: float
    memory: float
    output: str


def spent(words: list[str]) -> Spent:
    """Run a command to its end.

    Raises:
        CalledProcessError: it failed.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": _python_path()}
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        process = subprocess.Popen(words, stdout=out, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, words)
        out.seek(0)
        text = out.read().decode()
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / unit, text)


def _python_path() -> str:
    return os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH", ""), str(ROOT))))


def measure(script: str) -> tuple[Spent, Spent]:
    """Return what a script takes in plain Python and under `gradscribe record`."""
    plain = spent([sys.executable, script])
    recorded = spent([sys.executable, "-m", "gradscribe", "record", "--timeout", "900", script])
    assert recorded.output.startswith(plain.output)
    return plain, recorded


def main(words: list[str]) -> int:
    """Measure the programs whose names contain one of the words, else all; print the table.

    Returns 1 if a row is past its limit.
    """
    chosen = {n: p for n, p in PROGRAMS.items() if not words or any(w in n for w in words)}
    _say(
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )
    _say(f"Python {platform.python_version()}, one thread\n")
    _say("| program | plain, s | `record`, s | limit, s | of the processor, s | MB | plain, MB |")
    _say("|---|---:|---:|---:|---:|---:|---:|")
    late = False
    with tempfile.TemporaryDirectory() as folder:
        for name, source in chosen.items():
            script = Path(folder) / "script.py"
            script.write_text(HEAD + source, encoding="utf-8")
            plain, recorded = measure(str(script))
            limit = FACTOR * plain.wall + MORE_S
            late |= recorded.wall > limit or recorded.memory > MOST_MB
            _say(
                f"| {name} | {plain.wall:.1f} | {recorded.wall:.1f} | {limit:.1f} "
                f"| {plain.cpu:.1f} / {recorded.cpu:.1f} | {recorded.memory:.0f} "
                f"| {plain.memory:.0f} |"
            )
            if name == IN_FULL:
                late |= _print_full(str(script))
    return int(late | _print_wire())


def _print_wire() -> bool:
    """Print what a long tape takes to send and to receive; return whether it is past its limit."""
    import msgspec

    from gradscribe.engine.protocol import frames, messages
    from gradscribe.engine.run import run
    from gradscribe.engine.system import without_gc

    source = HEAD + FIVE.format(n=WIRE_STEPS)
    asked = messages.Run(
        1, source, timeout=900, event_limit=WIRE_EVENTS, full_events=0, examine=False
    )
    reply = messages.Recorded(1, run.execute(asked), 0.0)
    begun = time.process_time()
    with without_gc():  # As the engine does, and who reads its messages.
        sent = b"".join(frames.encode_frames(reply))
        encoded = time.process_time()
        (received,) = frames.MessageReader[messages.Reply](messages.Reply).feed(sent)
        decoded = time.process_time()
    assert received == reply
    objects = len(msgspec.msgpack.encode(reply))
    encoding, decoding = encoded - begun, decoded - encoded
    _say(
        f"\nA tape of {len(reply.tape.events):,} events, seconds of the processor: encoding "
        f"{encoding:.2f}, decoding and checking {decoding:.2f}; "
        f"{len(sent) / 1e6:.0f} MB as columns, {objects / 1e6:.0f} MB as objects."
    )
    return decoded - begun > WIRE_S


def _print_full(script: str) -> bool:
    """Print the row of a loop that is recorded in full; return whether it is past its limit."""
    words = ["-m", "gradscribe", "record", "--full", "--timeout", "900", script]
    full = spent([sys.executable, *words])
    _say(
        f"| the same, `--full` | | {full.wall:.1f} | {FULL_S:.1f} | {full.cpu:.1f} "
        f"| {full.memory:.0f} | |"
    )
    return full.wall > FULL_S


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
