"""Command line of headless training: ``gradscribe train SETUP.json``."""

import argparse
import contextlib
import json
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gradscribe.app.cli import train
from gradscribe.app.cli.exit_codes import DIED, FAILED, INTERRUPTED, RAN
from gradscribe.app.cli.options import add_python, add_trust, chosen_python
from gradscribe.app.cli.sweeps import sweep_args
from gradscribe.app.cli.terminal import say
from gradscribe.app.cli.train import EngineDied, InterruptedEarly, TrainOutcome
from gradscribe.app.cli.training import table
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.training import replies
from gradscribe.playback.text import formatting

EXITS = {"ok": RAN, "nan": FAILED, "error": FAILED, "interrupted": INTERRUPTED}
MOST_CLASSES = 12
UPDATE_S = 0.1
"""Least time between two updates of the progress line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Train a small model without a window."
    parser.add_argument("setup", nargs="?", metavar="SETUP.json", help="- is standard input")
    parser.add_argument(
        "--list", action="store_true", help="list models, data and options, and exit"
    )
    parser.add_argument(
        "--table",
        metavar="FILE",
        help="say how the columns of a table are understood, write a setup for it, and exit",
    )
    parser.add_argument(
        "--steps", type=_count, metavar="N", help="number of steps, instead of the setup's"
    )
    parser.add_argument("--csv", metavar="OUT", help="write loss and learning rate of each step")
    parser.add_argument("--png", metavar="OUT", help="draw the curves and the predictions")
    parser.add_argument("--json", metavar="OUT", help="write everything; - is standard output")
    parser.add_argument("--script", metavar="OUT.py", help="write the run as plain PyTorch")
    parser.add_argument(
        "--ddp",
        action="store_true",
        help="make that script one for torchrun: the same run by ranks",
    )
    parser.add_argument("--safetensors", metavar="OUT", help="write the weights")
    sweep_args.add_arguments(parser)
    add_python(parser)
    add_trust(
        parser, "let a module in the setup do whatever Python can, except files and the network"
    )


def _count(word: str) -> int:
    try:
        # 1e6 is as good a number of steps as 1000000.
        number = float(word) if "e" in word.lower() else int(word)
        count = int(number) if number == int(number) else -1
    except (ValueError, OverflowError):
        count = -1
    if not 0 <= count < 2**53:
        raise argparse.ArgumentTypeError(f"{word} is not a number of steps")
    return count


def run(options: argparse.Namespace) -> int:
    """Train, and return the exit code. Raises `Refused`."""
    try:
        if options.list:
            say(catalogue_text(train.catalogue()))
            return RAN
        if options.table is not None:
            say(table.described(table.look_into(options.table)))
            return RAN
        with _terminated():
            return _train(options)
    except EngineDied as error:
        sys.stderr.write(f"gradscribe: {error}\n")
        return DIED
    except InterruptedEarly:
        sys.stderr.write("gradscribe: interrupted before the first step: nothing was trained\n")
        return INTERRUPTED


@contextlib.contextmanager
def _terminated() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM, too."""

    def leave(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _train(options: argparse.Namespace) -> int:
    if options.setup is None:
        raise Refused("train takes a setup: gradscribe train SETUP.json, or --list")
    _check_outputs(options)
    try:
        setup = train.read_setup(options.setup)
    except KeyboardInterrupt:
        raise InterruptedEarly from None
    if options.steps is not None:
        setup = msgspec.structs.replace(setup, steps=options.steps)
    if options.sweep is not None:
        return sweep_args.run_sweep(options, setup)
    sweep_args.needs_sweep(options)
    files = tuple(kind for kind in ("script", "safetensors") if getattr(options, kind) is not None)
    if options.ddp:
        files = tuple("ddp" if kind == "script" else kind for kind in files)
    with _progress(setup.steps) as progress:
        outcome = train.run(
            setup,
            files,
            progress,
            policy=not options.trust,
            interpreter=chosen_python(options),
        )
    try:
        _write(outcome, options)
    finally:
        # Last, because standard output may be closed or its disk full.
        say(train.to_json(outcome) if options.json == "-" else summary(outcome))
    problem = outcome.state.problem
    if problem is not None:
        where = f" (line {problem.place.line} of the model)" if problem.place.line else ""
        hint = f"\n{problem.hint}" if problem.hint else ""
        sys.stderr.write(f"gradscribe: {problem.message or problem.type}{where}{hint}\n")
    return EXITS[train.status(outcome)]


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse outputs that cannot be written, before training. Raises `Refused`."""
    for name in (options.csv, options.png, options.json, options.script, options.safetensors):
        if name not in (None, "-"):
            documents.check_writable(Path(name))
    if options.ddp and options.script is None:
        raise Refused("--ddp is a form of the script: give --script OUT.py, too")
    if options.png is not None and Path(options.png).suffix.lower() != ".png":
        raise Refused(f"{options.png}: --png takes a name that ends in .png")


def _write(outcome: TrainOutcome, options: argparse.Namespace) -> None:
    """Write all requested files, even if one fails; then raise `Refused`."""
    names = {"ddp": options.script}
    files = {
        names.get(kind) or getattr(options, kind): data for kind, data in outcome.files.items()
    }
    if options.csv is not None:
        files[options.csv] = train.to_csv(outcome)
    if options.json not in (None, "-"):
        files[options.json] = train.to_json(outcome)
    failed = []
    for name, data in files.items():
        try:
            documents.write_bytes(Path(name), data)
        except Refused as refusal:
            failed.append(str(refusal))
    if options.png is not None:
        from gradscribe.app.cli.training.train_plot import draw

        try:
            draw(outcome, options.png)
        except Refused as refusal:
            failed.append(str(refusal))
    if failed:
        raise Refused("; ".join(failed))


class ProgressLine:
    """Progress line on the terminal that overwrites itself."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._next = 0.0
        self._shown = sys.stderr.isatty()

    def __call__(self, state: replies.TrainState, loss: float) -> None:
        """Update the line."""
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + UPDATE_S
        share = state.step / max(1, self._steps)
        bar = ("#" * round(20 * share)).ljust(20, ".")
        value = "" if math.isnan(loss) else f"  loss {loss:.4g}"
        line = f"{bar} {state.step:,} of {self._steps:,}{value}  {state.rate:,.0f} steps/s"
        sys.stderr.write(f"\r{line[:79]:<79}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Clear the line."""
        if self._shown:
            sys.stderr.write(f"\r{'':<79}\r")
            sys.stderr.flush()


@contextlib.contextmanager
def _progress(steps: int) -> Iterator[ProgressLine]:
    progress = ProgressLine(steps)
    try:
        yield progress
    finally:
        progress.clear()


def summary(outcome: TrainOutcome) -> str:
    """Return a summary of a run as text."""
    begun, state = outcome.begun, outcome.state
    facts = outcome.views["scores"].facts if "scores" in outcome.views else {}
    setup = begun.setup
    weights = sum(math.prod(p.shape) for p in begun.parameters)
    rows = [
        ("model", f"{setup.model.name}, {formatting.count(weights, 'parameter')}"),
        ("data", setup.data.name),
        *_rows_used(outcome),
        ("steps", f"{state.step:,} ({state.epoch:.4g} epochs)"),
        ("time", f"{outcome.seconds:.2f} s, {state.mode} mode"),
    ]
    if state.why:
        rows.append(("", state.why))
    for part, name in (("train", "training"), ("val", "validation")):
        if f"{part}_loss" in facts:
            right = ""
            if f"{part}_count" in facts:
                right = f", {facts[f'{part}_right']:.0f} of {facts[f'{part}_count']:.0f} right"
            rows.append((f"{name} loss", f"{facts[f'{part}_loss']:.6g}{right}"))
    rows += _notes(outcome)
    width = max(len(name) for name, _ in rows)
    return "".join(f"{name:<{width}}   {words}\n" for name, words in rows)


def _rows_used(outcome: TrainOutcome) -> Iterator[tuple[str, str]]:
    """Yield the rows of a table that were used, and its classes."""
    begun = outcome.begun
    if "target" not in begun.setup.data.options:
        return
    trained, validated = begun.rows
    left = f"; {begun.note}" if begun.note else ""
    yield "rows", f"{trained:,} to train on, {validated:,} to validate on{left}"
    if classes := train.class_rows(outcome):
        shown = ", ".join(f"{name} {count:,}" for name, count in [*classes.items()][:MOST_CLASSES])
        more = f" and {len(classes) - MOST_CLASSES:,} more" if len(classes) > MOST_CLASSES else ""
        yield "classes", f"{shown}{more}"


def _notes(outcome: TrainOutcome) -> Iterator[tuple[str, str]]:
    """Yield what a teacher would say, and what to write in the setup."""
    for one in outcome.advice:
        yield "note", f"{one.place}: {one.words}"
        if written := train.as_written(one, outcome.given):
            text = json.dumps(written, ensure_ascii=False).removeprefix("{").removesuffix("}")
            yield "", f"write {text}"


def catalogue_text(found: replies.Catalogue) -> str:
    """Return the catalogue as text, with options and defaults."""
    lines = [f"{line}\n" for line in found.left_out]
    for kind in ("data", "model", "loss", "optimizer", "schedule"):
        lines.append(f"{kind}")
        for entry in (e for e in found.entries if e.kind == kind):
            options = " ".join(f"{o.name}={_short(o.default)}" for o in entry.options)
            lines.append(f"  {entry.name:<16} {entry.help}")
            if options:
                lines.append(f"  {'':<16} {options}")
        lines.append("")
    lines.append("mistakes")
    lines += [f"  {name:<22} {words}" for name, words in found.mistakes.items()]
    return "\n".join(lines) + "\n"


def _short(value: object) -> str:
    word = msgspec.json.encode(value).decode()
    return word if len(word) <= 40 else "..."
