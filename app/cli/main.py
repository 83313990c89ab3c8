"""The command line: ``gradscribe [FILE]`` and the commands of `COMMANDS`.

A command's module is imported only when it is used; it has `add_arguments` and `run`.
"""

from gradscribe.app.cli import sigint

# isort: split
import argparse
import sys
from importlib import import_module

from gradscribe.app.cli import terminal
from gradscribe.app.cli.exit_codes import FAILED, INTERRUPTED, REFUSED
from gradscribe.app.files.documents import Refused
from gradscribe.app.link.interpreters import UnusablePython
from gradscribe.app.runtime import qt_libraries

sigint.restore()

COMMANDS = {
    "record": ("record_args", "run a script and record everything it does, without a window"),
    "doctor": ("doctor", "run a script and report the mistakes in it"),
    "compare": ("runs.compare", "run two scripts and report what differs first, and why"),
    "diff": ("runs.diff", "report what differs between two saved runs, without running anything"),
    "train": ("training.train_args", "train a small model without a window"),
    "watch": ("watch", "show a training loop that gs.watch watches"),
    "lessons": ("lessons", "list the lessons, or check that they are right"),
    "lesson": ("lesson", "open a lesson in the window"),
    "install-torch": (
        "installing.install_torch",
        "install PyTorch for programs, or name a Python that has it",
    ),
    "install-desktop": (
        "installing.install_desktop",
        "add a menu entry, open runs by double click",
    ),
}
"""For each command its module in this folder and a summary."""
WINDOW = "window_args"
"""The module for a command line without a command."""


def main(argv: list[str] | None = None) -> int:
    """Do what the command line asks for and return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    terminal.ensure_streams()
    try:
        options = parse(words)
        code: int = options.run(options)
    except Refused as refusal:
        sys.stderr.write(f"gradscribe: {' '.join(str(refusal).split())}\n")
        return REFUSED
    except UnusablePython as problem:
        sys.stderr.write(f"gradscribe: {problem}\n")
        return REFUSED
    except ImportError as error:
        reason = qt_libraries.import_failure(error)
        if not reason:
            raise
        sys.stderr.write(f"gradscribe: {reason}\n")
        return REFUSED
    except BrokenPipeError:
        # The reader of standard output has closed the pipe.
        terminal.discard_stdout()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def parse(words: list[str]) -> argparse.Namespace:
    """Return the options, with the function ``run`` that carries them out."""
    name = words[0] if words and words[0] in COMMANDS else ""
    parser = argparse.ArgumentParser(
        prog="gradscribe", description="See PyTorch run forward and backward."
    )
    sigint.install()
    module = import_module(f"gradscribe.app.cli.{COMMANDS[name][0] if name else WINDOW}")
    sigint.restore()
    if not name:
        module.add_arguments(parser)
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", prog="gradscribe", help="each has its own --help"
    )
    # Argparse would take FILE for the name of a command.
    commands.nargs = argparse.SUPPRESS
    parsers = {key: commands.add_parser(key, help=about) for key, (_, about) in COMMANDS.items()}
    if name:
        parser, words = parsers[name], words[1:]
        module.add_arguments(parser)
    parser.set_defaults(run=module.run)
    return parser.parse_args(words)
