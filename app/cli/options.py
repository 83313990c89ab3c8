"""Options that several commands share."""

import argparse

TRUST_HELP = (
    "let the script do whatever Python can; without it, only PyTorch and harmless code may run"
)


def add_trust(parser: argparse.ArgumentParser, help: str = TRUST_HELP) -> None:  # noqa: A002
    """Add the option ``--trust``."""
    parser.add_argument("--trust", action="store_true", help=help)


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the script to record, and its device."""
    parser.add_argument("script", metavar="SCRIPT.py")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu, cuda:0, ...")


def add_trials(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--no-trials``."""
    parser.add_argument(
        "--no-trials",
        action="store_true",
        help="do not run the fixed script before a fix is offered; no fix is offered then",
    )
