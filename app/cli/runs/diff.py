"""``gradscribe diff LEFT.tape RIGHT.tape``: print or open what differs between two saved runs."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradscribe.app.cli.exit_codes import FAILED, RAN
from gradscribe.app.cli.window_args import has_screen
from gradscribe.app.files import documents, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape_file import RunFile

if TYPE_CHECKING:
    from gradscribe.app.window.window import Window

ABOUT = ("torch", "python", "platform", "device", "seed")
"""Circumstances of runs that are compared: fields of `RunProgram`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Compare every value and every gradient of two saved runs to the bit, without running "
        "anything. The first difference in order of execution comes first, with what follows "
        "from it. Exits with 0 if both runs are the same, with 1 if they differ."
    )
    parser.add_argument("left", metavar="LEFT.tape")
    parser.add_argument("right", metavar="RIGHT.tape")
    parser.add_argument("--json", metavar="OUT", help="write the differences as JSON; - is stdout")
    parser.add_argument("--open", action="store_true", help="show both runs side by side")


def run(options: argparse.Namespace) -> int:
    """Print what differs, and return the exit code."""
    if options.json not in (None, "-"):
        documents.check_writable(Path(options.json))
    if options.open and not has_screen():
        raise Refused("no display here; without --open the differences are printed")
    names = options.left, options.right
    left, right = (_whole(Path(name)) for name in names)
    from gradscribe.app.cli.runs import differences

    sides = (("left", names[0], left), ("right", names[1], right))
    origins = (f"{side} {name}: {tape_files.origin(run.program)}\n" for side, name, run in sides)
    heading = f"{''.join(origins)}{_environment(left, right)}"
    differ = differences.write(left.tape, right.tape, heading, options.json)
    if options.open and (code := _open(options.left, (left, right))):
        return code
    return FAILED if differ else RAN


def _whole(path: Path) -> RunFile:
    """Return the run in a file. Raises `Refused` if its numbers are lost."""
    found = tape_files.read(path)
    if not found.has_numbers:
        raise Refused(f"{path} cannot be compared: {found.trouble}")
    if found.trouble:
        sys.stderr.write(f"gradscribe: {path} is not whole: {found.trouble}\n")
    return found


def _environment(left: RunFile, right: RunFile) -> str:
    """Return a line for each thing that the two runs ran with and that differs."""
    lines = []
    for name in ABOUT:
        one, other = getattr(left.program, name), getattr(right.program, name)
        if one != other:
            lines.append(f"{name}: {one} → {other}\n")
    if left.program.source != right.program.source:
        lines.append("the programs differ\n")
    return "".join(lines)


def _open(name: str, runs: tuple[RunFile, RunFile]) -> int:
    """Open the window on the left run, with both side by side."""
    from gradscribe.app.runtime.language import use_language

    use_language()
    from gradscribe.app.window.startup import Opening, open_window

    return open_window(Opening(name), [sys.argv[0]], begin=partial(show, runs=runs))


def show(window: "Window", runs: tuple[RunFile, RunFile]) -> None:
    """Open the card that compares two runs."""
    left, right = runs
    titles = [f"{run.program.title}, {tape_files.origin(run.program)}" for run in runs]
    lines = [run.program.source.splitlines() for run in runs]
    window.comparison.show(
        (left.tape, titles[0]), (right.tape, titles[1]), (_only(*lines), _only(*lines[::-1]))
    )


def _only(lines: list[str], others: list[str]) -> list[str]:
    """Return the lines of a program that the other does not have."""
    known = set(others)
    return [line for line in lines if line not in known and line.strip()]
