"""Command line of sweeps: ``gradscribe train SETUP.json --sweep optimizer.lr=log:1e-4:1:20``."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import msgspec

from gradscribe.app.cli import report, train
from gradscribe.app.cli.exit_codes import DIED, FAILED, INTERRUPTED, RAN
from gradscribe.app.cli.options import chosen_python
from gradscribe.app.cli.sweeps import cluster, executors
from gradscribe.app.cli.sweeps.progress import SweepProgress
from gradscribe.app.cli.sweeps.runner import ClusterLost, SweepRun
from gradscribe.app.cli.terminal import say
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.sweep import axes, options, rows
from gradscribe.app.training.sweep.axes import SweepError
from gradscribe.app.training.sweep.folder import SweepFolder, document
from gradscribe.app.training.sweep.trials import DRAWS, Sweep, Trial, short
from gradscribe.engine.protocol.setup import Setup, SetupError

SHOWN = 10
"""Rows of the table that is printed, the best."""
MAX_WORKERS = 256
OF_A_RUN = ("png", "script", "safetensors")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a sweep."""
    group = parser.add_argument_group(
        "many runs", "train with other values of some options; every combination is a trial"
    )
    group.add_argument(
        "--sweep",
        action="append",
        metavar="NAME=VALUES",
        help=f"an option and its values: {axes.FORMS} (several times)",
    )
    group.add_argument("--draws", type=int, metavar="N", help=f"number of random draws ({DRAWS})")
    group.add_argument(
        "--draw-seed", type=int, default=0, metavar="N", help="seed of the random draws (0)"
    )
    group.add_argument(
        "--workers", type=int, metavar="N", help="engines on this machine (one for each core)"
    )
    group.add_argument(
        "--scheduler",
        metavar="WHERE",
        help=f"run on a Dask cluster: {cluster.FORMS}",
    )
    group.add_argument(
        "--resume", action="store_true", help="go on with the trials that --json OUT has not yet"
    )
    group.add_argument(
        "--events", action="store_true", help="write what happens to standard output, as JSON lines"
    )


def needs_sweep(given: argparse.Namespace) -> None:
    """Refuse options of a sweep without ``--sweep``. Raises `Refused`."""
    named = ("draws", "workers", "scheduler", "resume", "events")
    for name in named:
        if getattr(given, name) not in (None, False):
            raise Refused(f"--{name} belongs to a sweep: give --sweep NAME=VALUES, too")


def run_sweep(given: argparse.Namespace, base: Setup) -> int:
    """Run the trials, and return the exit code. Raises `Refused`, `EngineDied`."""
    _check_options(given)
    sweep, trials = _sweep(given, base)
    folder = None
    if given.json is not None and given.json != "-":
        folder = SweepFolder(Path(given.json))
        folder.prepare(given.resume)
    run = SweepRun(
        trials, folder, policy=not given.trust, python=given.engine or given.python or ""
    )
    progress = SweepProgress(run, events=given.events)
    run.listener = progress.listener
    began, code, stopped = time.monotonic(), RAN, ""
    try:
        with progress, executors.executor(given.scheduler, _workers(given, sweep, run)) as place:
            run.run(place.executor, place.takes_callback, place.is_alive)
    except KeyboardInterrupt:
        code, stopped = INTERRUPTED, "interrupted"
    except ClusterLost as lost:
        code, stopped = DIED, f"the cluster is gone ({lost})"
    finally:
        found = document(sweep, run.all_rows, time.monotonic() - began)
        _write(given, run, found)
    return _report(given, run, found, code, stopped)


def _check_options(given: argparse.Namespace) -> None:
    for name in OF_A_RUN:
        if getattr(given, name) is not None:
            raise Refused(
                f"--{name} is of one run: a sweep writes --json and --csv, and a setup for each "
                "trial to train again"
            )
    if given.resume and given.json in (None, "-"):
        raise Refused("--resume goes on with the results of --json OUT: name that file")
    if given.events and given.json == "-":
        raise Refused("--events and --json - both write to standard output")
    for name, least, most in (
        ("draws", 1, axes.MAX_TRIALS),
        ("workers", 1, MAX_WORKERS),
        ("draw_seed", 0, 2**63),
    ):
        value = getattr(given, name)
        if value is not None and not least <= value <= most:
            option = name.replace("_", "-")
            raise Refused(f"--{option} is {value}, but must be from {least:,} to {most:,}")
    if given.scheduler is not None and given.workers is not None:
        raise Refused("--workers is for this machine; a cluster has its own")
    if given.scheduler is not None and (given.python or given.engine) is not None:
        raise Refused("--scheduler has workers, each with its own Python: leave out the other one")
    chosen_python(given)


def _sweep(given: argparse.Namespace, base: Setup) -> tuple[Sweep, list[Trial]]:
    try:
        wanted = [axes.parse_axis(text) for text in given.sweep]
        base = options.with_absolute_path(base, os.getcwd())
        draws = DRAWS if given.draws is None else given.draws
        sweep = Sweep(base, tuple(wanted), draws, given.draw_seed)
        if given.draws is not None and not sweep.drawn:
            raise Refused(
                "--draws needs an option that is drawn, as optimizer.lr=random:log:1e-4:1"
            )
        sweep.check_count()
        # Names and kinds of options are known to an engine.
        entries = options.by_name(train.catalogue().entries)
        sweep = Sweep(base, options.check(base, wanted, entries), draws, given.draw_seed)
        return sweep, sweep.trials()
    except (SweepError, SetupError) as error:
        raise Refused(str(error)) from error


def _workers(given: argparse.Namespace, sweep: Sweep, run: SweepRun) -> int:
    if given.workers is not None:
        return int(given.workers)
    return executors.local_workers(sweep.base, len(run.trials) - run.resumed)


def _write(given: argparse.Namespace, run: SweepRun, found: dict[str, object]) -> None:
    if given.csv is not None:
        documents.write_bytes(Path(given.csv), rows.to_csv(run.all_rows))
    if given.json not in (None, "-"):
        data = json.dumps(found, ensure_ascii=False, indent=1).encode() + b"\n"
        documents.write_bytes(Path(given.json), data)


def _report(
    given: argparse.Namespace, run: SweepRun, found: dict[str, object], code: int, stopped: str
) -> int:
    """Print what was reached and return the exit code."""
    if given.events:
        ended = {"event": "ended", "best": found["best"], "stopped": stopped}
        say(msgspec.json.encode(ended) + b"\n")
    else:
        say(msgspec.json.encode(found) + b"\n" if given.json == "-" else table(run))
    if stopped:
        go_on = "; --resume goes on" if run.folder is not None else ""
        count = f"{run.finished:,} of {len(run.trials):,} trials are finished"
        sys.stderr.write(f"gradscribe: {stopped}: {count}{go_on}\n")
        return code
    if failure := rows.failure_line(run.all_rows):
        sys.stderr.write(f"gradscribe: {failure}\n")
        return FAILED
    return RAN


def table(run: SweepRun) -> str:
    """Return the best trials as a table, and the way to the best of all."""
    ranked = [row for row in rows.ranked(run.all_rows) if row.status != "waiting"]
    names = [*ranked[0].values] if ranked else []
    head = ("trial", *names, "validation loss", "loss", "steps", "")
    lines = [
        (
            str(row.number),
            *map(short, row.values.values()),
            _loss(row.validation_loss),
            _loss(row.loss),
            f"{row.step:,}",
            "" if row.status == "ok" else f"{row.status}: {row.problem}"[:60].rstrip(": "),
        )
        for row in ranked[:SHOWN]
    ]
    text = report.table(head, lines) if lines else ""
    if len(ranked) > SHOWN:
        text += f"and {len(ranked) - SHOWN:,} more\n"
    best = rows.best(ranked)
    if best is not None and run.folder is not None:
        path = run.folder.results.parent / best.setup
        text += f"\nopen the best: gradscribe {path}\n"
    return text


def _loss(loss: float | None) -> str:
    return "" if loss is None else f"{loss:.6g}"
