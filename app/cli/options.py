"""Options that several commands share."""

import argparse
import sys
from pathlib import Path

from gradscribe.app.files import documents, notebooks
from gradscribe.app.files.documents import Refused
from gradscribe.app.link import interpreters
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.app.link.ranks import MOST_RANKS
from gradscribe.app.link.remote import address
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.text import formatting

TRUST_HELP = (
    "let the script do whatever Python can; without it, only PyTorch and harmless code may run"
)


def add_trust(parser: argparse.ArgumentParser, help: str = TRUST_HELP) -> None:  # noqa: A002
    """Add the option ``--trust``."""
    parser.add_argument("--trust", action="store_true", help=help)


def add_python(parser: argparse.ArgumentParser) -> None:
    """Add the options ``--python`` and ``--engine``."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--python", metavar="PATH", help="Python to run it in, with its packages (Gradscribe's own)"
    )
    chosen.add_argument(
        "--engine",
        metavar="ADDRESS",
        help=f"Python on another machine to run it in: {address.EXAMPLE}",
    )


def chosen_python(options: argparse.Namespace) -> Interpreter | None:
    """Return the Python that ``--python`` or ``--engine`` names; None for this process's.

    Raises:
        Refused: nothing can run in it.
    """
    try:
        if options.engine is not None:
            from gradscribe.app.link.remote import ask

            python = ask.ask_machine(options.engine).python
            return replace(python, sent=_sent(options))
        if getattr(options, "send", None):
            raise Refused("--send needs --engine: here the script finds its files by itself")
        if options.python is None:
            return None
        interpreters.lent_source()
        return interpreters.ask_interpreter(options.python)
    except UnusablePython as error:
        raise Refused(str(error)) from error


def add_send(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--send``."""
    parser.add_argument(
        "--send",
        action="append",
        metavar="PATH",
        help="send a file or folder next to the script to the machine of --engine; may be repeated",
    )


def _sent(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the files that ``--send`` names; none if there is no such option."""
    names = getattr(options, "send", None)
    if not names:
        return ()
    if not options.trust:
        raise Refused("--send needs --trust: without it a script reads no files")
    from gradscribe.app.link.remote import sent_files

    chosen = sent_files.chosen_files(options.script, names)
    if not getattr(options, "has_named_files", False):
        # Once, though the fixes of the doctor's are tried in engines of their own.
        options.has_named_files = True
        sys.stderr.write(f"gradscribe: {sent_files.described(chosen)} to send\n")
    return chosen


def read_program(name: str) -> str:
    """Return the program in a script or a notebook; comments stand for a notebook's magics.

    Lines of a notebook count through all cells, each of which begins with a line ``# %%``.

    Raises:
        Refused: it cannot be read, or is no notebook of Python.
    """
    if not notebooks.is_notebook(Path(name)):
        return documents.read(Path(name))
    source, skipped = notebooks.to_program(notebooks.read(Path(name)))
    if skipped:
        count = formatting.count(len(skipped), "line")
        sys.stderr.write(f"gradscribe: {count} for IPython became comments: {skipped[0][:60]}\n")
    return source


def add_ranks(parser: argparse.ArgumentParser) -> None:
    """Add the number of ranks, and the script's own arguments."""
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="the script's arguments; options go after --"
    )
    parser.add_argument(
        "--ranks",
        type=rank_count,
        metavar="N",
        help="run it on N ranks under torch.distributed.run, each recorded; needs --trust",
    )


def rank_count(word: str) -> int:
    """Return a number of ranks. Raises argparse.ArgumentTypeError."""
    if not (word.isascii() and word.isdecimal() and 0 < int(word) <= MOST_RANKS):
        raise argparse.ArgumentTypeError(f"{word[:20]} is not a number of ranks, 1 to {MOST_RANKS}")
    return int(word)


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the script to record, and its device."""
    parser.add_argument("script", metavar="SCRIPT.py", help="script or notebook (.ipynb)")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu, cuda:0, ...")
    add_python(parser)
    add_send(parser)


def add_trials(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--no-trials``."""
    parser.add_argument(
        "--no-trials",
        action="store_true",
        help="do not run the fixed script before a fix is offered; no fix is offered then",
    )
