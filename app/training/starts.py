"""Set-ups to start from: every file in ``assets/setups``, in the order of its name.

One is JSON: a title, a sentence on what to look for, and the setup as `gradscribe train` takes it.
"""

import functools
import re
from importlib import resources
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from app.training.runs import is_akin
from engine import setup as setups
from engine.setup import Setup
from engine.training import Until

if TYPE_CHECKING:
    from app.training.session import TrainSession

NAMES = re.compile(r"\d\d_\w+\.json")


class Start(Struct, frozen=True):
    """A set-up with a name. ``name`` is its file's name without number and ending."""

    name: str
    title: str
    about: str
    setup: Setup


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    about: str
    setup: dict[str, object]


@functools.cache
def load() -> tuple[Start, ...]:
    """Return all of them, the simplest first."""
    folder = resources.files("assets") / "setups"
    files = [entry for entry in folder.iterdir() if NAMES.fullmatch(entry.name)]
    found = sorted(files, key=lambda entry: entry.name)
    return tuple(parse(entry.name, entry.read_bytes()) for entry in found)


def parse(filename: str, data: bytes) -> Start:
    """Return what the file ``NN_name.json`` holds.

    Raises:
        msgspec.ValidationError: it has other keys.
        BadSetup: its setup is none.
    """
    file = msgspec.json.decode(data, type=_File)
    name = filename[3:].removesuffix(".json")
    return Start(name, file.title, file.about, setups.parse(file.setup))


def begin(session: "TrainSession", start: Start, until: tuple[Until, ...] = ()) -> None:
    """Train with that set-up; the run before keeps its curves, and undo leads back.

    ``until`` tells when to pause; what was said of another run does not hold for this one.
    """
    session.change(start.setup)
    session.until = until
    session.begin(play=True)
    for run in session.runs:
        if run is not session.run and not is_akin(run.setup, start.setup):
            # Losses on other data are of another size; one tick shows them.
            session.hide(run.run_id, hidden=True)
