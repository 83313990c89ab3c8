"""Options that several commands share."""

import argparse

from gradscribe.app.files.documents import Refused
from gradscribe.app.link import interpreters
from gradscribe.app.link.interpreters import Interpreter, UnusablePython

TRUST_HELP = (
    "let the script do whatever Python can; without it, only PyTorch and harmless code may run"
)


def add_trust(parser: argparse.ArgumentParser, help: str = TRUST_HELP) -> None:  # noqa: A002
    """Add the option ``--trust``."""
    parser.add_argument("--trust", action="store_true", help=help)


def add_python(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--python``."""
    parser.add_argument(
        "--python", metavar="PATH", help="Python to run it in, with its packages (Gradscribe's own)"
    )


def chosen_python(options: argparse.Namespace) -> Interpreter | None:
    """Return the Python that ``--python`` names; None for this process's. Raises `Refused`."""
    if options.python is None:
        return None
    try:
        interpreters.lent_source()
        return interpreters.ask_interpreter(options.python)
    except UnusablePython as error:
        raise Refused(str(error)) from error


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the script to record, and its device."""
    parser.add_argument("script", metavar="SCRIPT.py")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu, cuda:0, ...")
    add_python(parser)


def add_trials(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--no-trials``."""
    parser.add_argument(
        "--no-trials",
        action="store_true",
        help="do not run the fixed script before a fix is offered; no fix is offered then",
    )
