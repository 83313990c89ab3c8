"""Duration of each stage from program to graph, for `make bench`: a table in milliseconds.

Each figure is the median of a few rounds on this machine; read them as ratios. There are no
thresholds, here or in the tests.
"""

import contextlib
import io
import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5
LONG = """
a = param(1.0)
x = a
for i in range(500):
    x = torch.tanh(x) + 0.001 * i
x.backward()
"""
"""A thousand ops in a row."""


def main() -> int:
    """Measure and print the table."""
    sys.path.insert(0, str(ROOT))
    for name, milliseconds in itertools.chain(starts(), stations()):
        sys.stdout.write(f"{name:<58}{milliseconds:>10.1f} ms\n")
        sys.stdout.flush()
    return 0


def starts() -> Iterator[tuple[str, float]]:
    """Yield the start-up times of new processes."""
    yield (
        "window: python -c 'import gradscribe.app.window.window'",
        median(lambda: fresh("import gradscribe.app.window.window"), 3),
    )
    yield "engine: from its start to ready", median(engine_ready, 3)


def fresh(statement: str) -> None:
    """Run a statement in a new Python process."""
    subprocess.run([sys.executable, "-c", statement], cwd=ROOT, check=True)


def engine_ready() -> None:
    """Start an engine, wait for `Ready` and kill it."""
    from gradscribe.engine.protocol import frames, messages

    engine = subprocess.Popen(
        [sys.executable, "-m", "gradscribe.engine"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        reader = frames.MessageReader(messages.Reply)
        while piece := engine.stdout.read1():
            if any(isinstance(message, messages.Ready) for message in reader.feed(piece)):
                return
        raise RuntimeError("the engine ended before it was ready")
    finally:
        engine.kill()
        engine.communicate()


def stations() -> Iterator[tuple[str, float]]:
    """Yield the durations of all stages of all programs."""
    from gradscribe.app.document import examples

    programs = [(example.name, example.source) for example in examples.load()]
    for name, source in [*programs, ("a thousand ops", LONG)]:
        yield from route(name, source)


def route(name: str, source: str) -> Iterator[tuple[str, float]]:
    """Yield the times of one program: plain, recorded, packed, built, laid out, looked at."""
    from gradscribe.engine.protocol import frames, messages
    from gradscribe.engine.run import run
    from gradscribe.playback.graph import build, look
    from gradscribe.playback.layout import place

    tape = run.record(source)
    scene = build.scenes(tape)[0]
    picture = build.build_picture(tape, scene)
    middle = (scene.start + scene.stop) // 2
    packed = sum(map(len, frames.encode_frames(messages.Recorded(0, tape, 0.0))))
    yield f"{name}: plain torch", median(lambda: plain(source))
    yield f"{name}: recorded ({len(tape.events):,} events)", median(lambda: run.record(source))
    yield (
        f"{name}: packed ({packed / 1000:,.0f} kB)",
        median(lambda: list(frames.encode_frames(messages.Recorded(0, tape, 0.0)))),
    )
    yield f"{name}: picture of one scene", median(lambda: build.build_picture(tape, scene))
    yield f"{name}: placed ({len(picture.cards)} cards)", median(lambda: place.place(picture))
    yield f"{name}: look at its middle", median(lambda: look.look_at(tape, picture, scene, middle))


def plain(source: str) -> None:
    """Run a program without a recorder, its output discarded."""
    from gradscribe.engine.protocol import messages
    from gradscribe.engine.run import run

    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "plain", "exec"), run.initial_names(messages.Run(0, source)))


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median duration of ``work`` in milliseconds, after one round to warm up."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
