"""``gradscribe record --ranks N SCRIPT.py``: a script on several ranks, with a tape a rank."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gradscribe.app.cli import report
from gradscribe.app.cli.exit_codes import BY_STATUS
from gradscribe.app.cli.options import chosen_python, read_program
from gradscribe.app.cli.terminal import say
from gradscribe.app.files import documents, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.app.link import ranks
from gradscribe.app.ranks import rank_files
from gradscribe.app.runtime.version import version
from gradscribe.engine.doctor.ranks.examine import examine_ranks
from gradscribe.engine.protocol.ranks.job import RankJob
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Tape
from gradscribe.engine.protocol.tape_file import RunFile
from gradscribe.playback.ranks import table
from gradscribe.playback.ranks.failure import first_failure
from gradscribe.playback.ranks.merge import merge
from gradscribe.playback.text import formatting

NEEDS_TRUST = (
    "ranks talk to each other over TCP, which confined scripts may not; if you trust this one: "
)


def run(options: argparse.Namespace, write: Callable[[Tape, argparse.Namespace, str], None]) -> int:
    """Run a script on several ranks, write what was asked for, and return the exit code.

    ``write`` writes the files that are made of the tape of all ranks.
    """
    if not options.trust:
        raise Refused(NEEDS_TRUST + trusting_command(options))
    if options.engine is not None:
        raise Refused("--ranks starts processes on this machine: it does not go with --engine")
    source = read_program(options.script)
    if word := ranks.check_count(options.ranks):
        sys.stderr.write(f"gradscribe: {word}\n")
    talks = options.json != "-"
    work = RankJob(
        source,
        os.path.abspath(options.script),
        arguments=tuple(options.arguments),
        device=options.device,
        timeout=options.timeout,
        memory=options.memory << 20,
        product=version(),
    )
    runs = ranks.RankRun(work, options.ranks, chosen_python(options)).wait(say if talks else None)
    tapes = tuple(run.tape for run in runs)
    found = examine_ranks(tapes, source)
    if talks:
        say(f"\n{table.collectives_text(tapes)}{_findings_text(found, options.script)}")
    _write_problems(runs, options.script)
    if options.tape is not None:
        _write_tapes(Path(options.tape), runs)
    if any(getattr(options, name) is not None for name in ("json", *_MERGED)):
        write(
            replace(merge(tapes), findings=found),
            argparse.Namespace(**{**vars(options), "tape": None}),
            source,
        )
    return max(BY_STATUS[tape.status] for tape in tapes)


def trusting_command(options: argparse.Namespace) -> str:
    """Return the command that runs the script of ``options`` as it was asked for, with trust."""
    words = ["gradscribe", "record", "--ranks", str(options.ranks), "--trust"]
    for name in ("device", "python", "timeout", "json", "tape", *_MERGED):
        value = getattr(options, name)
        if value not in (None, _USUAL.get(name)):
            words += [f"--{name.replace('_', '-')}", str(value)]
    arguments = ["--", *options.arguments] if options.arguments else []
    return shlex.join([*words, options.script, *arguments])


_USUAL = {"device": "cpu", "timeout": 60.0}
_MERGED = ("html", "svg", "png", "dot", "gif", "mp4", "graphml", "gexf", "graph_json")
"""Options for files that are made of the tape of all ranks."""


def _findings_text(found: Sequence[Finding], script: str) -> str:
    """Return what the ranks show together, as lines of a terminal."""
    lines = [
        f"{script}:{item.place.line}: {item.title} ({item.id})\n  {item.message}\n"
        for item in found
    ]
    return "".join(["\n", *lines]) if lines else ""


def _write_problems(runs: tuple[RunFile, ...], script: str) -> None:
    """Write why the run failed, the rank first that made the others end."""
    first = first_failure([run.tape for run in runs])
    if first is None:
        return
    order = [first, *(rank for rank in range(len(runs)) if rank != first)]
    for rank in order:
        error = runs[rank].tape.error
        if error is not None:
            sys.stderr.write(f"rank {rank}: {report.error_text(error, script)}\n")


def _write_tapes(path: Path, runs: tuple[RunFile, ...]) -> None:
    for rank, found in enumerate(runs):
        program = found.program
        target = rank_files.path_of(path, rank)
        documents.write_bytes(target, tape_files.encode(program, found.tape, found.view))
    names = formatting.count(len(runs), "tape")
    say(f"{names}: {rank_files.path_of(path, 0)} to {rank_files.path_of(path, len(runs) - 1)}\n")
