"""Preset set-ups: every file in ``assets/setups``, ordered by file name.

Each is JSON: a title, a sentence on what to look for, and the setup as `gradscribe train` takes it.
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
    """A preset set-up. ``name`` is its file name without number and suffix."""

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
    """Return all presets, the simplest first."""
    folder = resources.files("assets") / "setups"
    files = [entry for entry in folder.iterdir() if NAMES.fullmatch(entry.name)]
    found = sorted(files, key=lambda entry: entry.name)
    return tuple(parse(entry.name, entry.read_bytes()) for entry in found)


def parse(filename: str, data: bytes) -> Start:
    """Return the preset in the file ``NN_name.json``.

    Raises:
        msgspec.ValidationError: it has other keys.
        BadSetup: its setup is invalid.
    """
    file = msgspec.json.decode(data, type=_File)
    name = filename[3:].removesuffix(".json")
    return Start(name, file.title, file.about, setups.parse(file.setup))


def begin(session: "TrainSession", start: Start, until: tuple[Until, ...] = ()) -> None:
    """Train with a preset; the run before keeps its curves, and undo restores its setup.

    ``until``: conditions on which to pause, which replace those of earlier runs.
    """
    session.change(start.setup)
    session.until = until
    session.begin(play=True)
    for run in session.runs:
        if run is not session.run and not is_akin(run.setup, start.setup):
            # Losses on other data have another scale; the table's tick shows them again.
            session.hide(run.run_id, hidden=True)
