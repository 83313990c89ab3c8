"""``gradscribe install-torch``: PyTorch for programs, where the window's own Python has none."""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from gradscribe.app.cli.exit_codes import FAILED, INTERRUPTED, RAN
from gradscribe.app.cli.terminal import say
from gradscribe.app.files.documents import Refused
from gradscribe.app.link import own_engine, torch_install
from gradscribe.app.link.interpreters import UnusablePython, ask_interpreter
from gradscribe.app.link.own_engine import OwnEngine
from gradscribe.app.link.torch_install import InstallFailed, InstallPlan, amount

PHASE, MEGABYTES = "phase", "mb"
"""Keys of a line of ``--reports``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Install PyTorch into an environment of its own, for a Gradscribe that was installed "
        "without it; or name a Python that has it. Programs run there unless another is chosen."
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--use", metavar="PYTHON", help="use this Python's PyTorch, install nothing")
    what.add_argument("--remove", action="store_true", help="remove the environment again")
    what.add_argument(
        "--wheels", metavar="FOLDER", help="install from wheels in FOLDER, without a network"
    )
    what.add_argument(
        "--gpu", action="store_true", help="the build for the graphics card, not for the CPU alone"
    )
    parser.add_argument(
        "--folder", metavar="DIR", help="make the environment in DIR (default: your data folder)"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before it begins")
    parser.add_argument("--reports", action="store_true", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Install, name or remove; return the exit code."""
    if options.folder is not None and (options.use is not None or options.remove):
        raise Refused("--folder goes with an installation")
    if options.use is not None:
        return _use(options.use)
    if options.remove:
        return _remove()
    if options.wheels is not None and not Path(options.wheels).is_dir():
        raise Refused(f"{options.wheels} is no folder")
    plan = InstallPlan(options.folder or "", options.gpu, options.wheels or "")
    if not options.reports:
        build = "the graphics card" if plan.gpu else "the CPU"
        download = f"about {amount(plan.download_mb)} to download, " if plan.download_mb else ""
        say(f"PyTorch for {build}: {download}about {amount(plan.size_mb)} in {plan.folder}\n")
        if not (options.yes or _agrees()):
            return FAILED
    return _install(plan, reports=options.reports)


def _install(plan: InstallPlan, *, reports: bool) -> int:
    report = _write_report if reports else _Progress(plan.size_mb).show
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        engine = torch_install.install(plan, report)
    except InstallFailed as failure:
        raise Refused(str(failure)) from failure
    except KeyboardInterrupt:
        sys.stderr.write(
            "\ngradscribe: interrupted: run it again to continue, or with --remove to remove "
            f"{plan.folder}\n"
        )
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    if not reports:
        say(f"\nInstalled torch {engine.python.torch} in {engine.folder}\n")
    return RAN


def _use(name: str) -> int:
    try:
        python = ask_interpreter(name)
        own_engine.write(OwnEngine(python))
    except UnusablePython as refusal:
        raise Refused(str(refusal)) from refusal
    say(f"Programs run in Python {python.version}, torch {python.torch}: {python.path}\n")
    if own_engine.has_torch():
        say("But Gradscribe's own Python has PyTorch, too, and comes first\n")
    return RAN


def _remove() -> int:
    engine, half = own_engine.read(), torch_install.half_made()
    folders = {Path(engine.folder)} if engine is not None and engine.folder else set()
    folders |= {half} if half is not None else set()
    try:
        for folder in sorted(folders):
            torch_install.remove(folder)
            say(f"Removed {folder}\n")
    except InstallFailed as failure:
        raise Refused(str(failure)) from failure
    if engine is not None and not engine.folder:
        own_engine.forget()
        say(f"{engine.python.path} is yours and stays; programs no longer run in it\n")
    elif not folders:
        say("Nothing to remove\n")
    return RAN


def _agrees() -> bool:
    if not sys.stdin.isatty():
        raise Refused("nobody can be asked here: add --yes to install it")
    return input("Install it? [y/N] ").strip().lower() in ("y", "yes")


def _write_report(phase: str, megabytes: int) -> None:
    say(json.dumps({PHASE: phase, MEGABYTES: megabytes}) + "\n")


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


class _Progress:
    """Progress of an installation, on one line of a terminal or a line for each phase."""

    def __init__(self, expected_mb: int) -> None:
        self._expected_mb = expected_mb
        self._is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._last = ""

    def show(self, phase: str, megabytes: int) -> None:
        """Show the megabytes on the disk so far."""
        if self._is_terminal:
            say(f"\r\x1b[K{phase}: {megabytes} of about {self._expected_mb} MB")
        elif phase != self._last:
            say(f"{phase}\n")
        self._last = phase
