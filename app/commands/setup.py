"""Set-ups in and out of files: the JSON that the headless trainer reads, too."""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from app import documents
from app.commands import command, train
from app.shell import Notice, Shell
from app.training import files, own_module, starts
from engine import setup as setups
from engine.setup import BadSetup, Part, Setup
from playback.text import file_name

SETUP = ".json"
SETUPS = f"Set-ups (*{SETUP})"


def read(path: Path) -> Setup:
    """Return the setup in a file; a table in its folder is found from anywhere.

    Raises:
        Refused: it cannot be read, or is no setup.
    """
    try:
        setup = setups.parse_text(documents.read(path))
    except BadSetup as error:
        raise documents.Refused(f"{path.name} is no set-up for training: {error}") from None
    beside = path.parent / files.named_in(setup)
    if not files.named_in(setup) or not beside.is_file():
        return setup
    data = Part(setup.data.name, {**setup.data.options, "path": str(beside)})
    return replace(setup, data=data)


def open_setup(shell: Shell, path: Path) -> None:
    """Train with the setup in ``path``. One that brings a module waits until the user has agreed.

    Raises:
        Refused: it cannot be read, or is no setup.
    """
    setup = read(path)
    source = str(setup.model.options.get("source", "")) if setup.model.name == "own" else ""
    if source and not shell.settings.is_trusted(str(path), source):
        text = (
            f"{file_name(path.name)} came from outside and brings a program. Read it, then open it."
        )
        choices = (
            ("Read it", lambda: train.read_program(shell, path, source)),
            ("Open and run it", lambda: _begin(shell, path, own_module.held(setup))),
            ("Trust and run it", lambda: _trust(shell, path, setup, source)),
        )
        shell.notices.tell_first(Notice(train.OUTSIDE, text, choices))
        return
    _begin(shell, path, setup)


def _trust(shell: Shell, path: Path, setup: Setup, source: str) -> None:
    shell.settings.trust(str(path), source)
    _begin(shell, path, setup)


def _begin(shell: Shell, path: Path, setup: Setup) -> None:
    shell.notices.drop(train.OUTSIDE)
    starts.begin(shell.training, starts.Start(path.stem, path.stem, "", setup))
    shell.show_room("training")
    shell.settings.add_recent(str(path))
    shell.say(f"Opened {path.name}")


@command("train.open_setup", "Open set-up…", "Train/2")
def choose_setup(shell: Shell) -> None:
    """Train with a set-up from a file, as gradscribe train does without a window."""
    if path := shell.ask_open("Open a set-up", SETUPS):
        open_setup(shell, documents.real(path))


@command("train.export_setup", "Export set-up as JSON…", "Train/4", when=train.in_room)
def export_setup(shell: Shell) -> None:
    """Write what is chosen here, for gradscribe train or to open it another time."""
    path = shell.ask_save("Export the set-up", f"setup{SETUP}", SETUPS)
    if path is None:
        return
    path = path if path.suffix else path.with_suffix(SETUP)
    setup, run = shell.training.setup, shell.training.run
    # So many steps lead to where the run stands now.
    steps = run.step if run is not None else 0
    written = setups.plain(replace(setup, steps=steps or setup.steps))
    text = msgspec.json.format(msgspec.json.encode(written), indent=2)
    documents.write_bytes(path, text + b"\n")
    shell.say(f"Wrote {path.name}")
