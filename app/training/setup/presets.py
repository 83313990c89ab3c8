"""Preset set-ups: every file in ``assets/setups``, ordered by file name.

Each is JSON: a title, a sentence on what to look for, and the setup as `gradscribe train` takes it.
"""

import functools
import re
from importlib import resources
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from gradscribe.app.training.session.run_store import has_same_data
from gradscribe.app.training.session.state import UNTIL_SOLVED
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training import StopCondition
from gradscribe.playback.translation import tr

if TYPE_CHECKING:
    from gradscribe.app.training.session.session import TrainSession

NAMES = re.compile(r"\d\d_\w+\.json")


class Preset(Struct, frozen=True):
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
def load() -> tuple[Preset, ...]:
    """Return all presets, the simplest first."""
    folder = resources.files("gradscribe.assets") / "setups"
    files = [entry for entry in folder.iterdir() if NAMES.fullmatch(entry.name)]
    found = sorted(files, key=lambda entry: entry.name)
    return tuple(parse(entry.name, entry.read_bytes()) for entry in found)


def parse(filename: str, data: bytes) -> Preset:
    """Return the preset in the file ``NN_name.json``.

    Raises:
        msgspec.ValidationError: it has other keys.
        SetupError: its setup is invalid.
    """
    file = msgspec.json.decode(data, type=_File)
    name = filename[3:].removesuffix(".json")
    return Preset(name, tr(file.title), tr(file.about), setups.parse(file.setup))


def train_preset(
    session: "TrainSession", start: Preset, until: tuple[StopCondition, ...] = UNTIL_SOLVED
) -> None:
    """Train with a preset; the run before keeps its curves, and undo restores its setup.

    ``until``: conditions on which to pause, which replace those of earlier runs.
    """
    session.controller.change(start.setup)
    session.controller.until = until
    session.controller.begin(play=True)
    for run in session.runs:
        if run is not session.run and not has_same_data(run.setup, start.setup):
            # Losses on other data have another scale; the table's tick shows them again.
            session.store.hide(run.run_id, hidden=True)
