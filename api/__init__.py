"""Gradscribe: see PyTorch run forward and backward.

``import gradscribe as gs`` loads neither torch nor Qt: each name below is imported when it is first
used. The folders `engine`, `playback`, `widgets`, `app` and `assets` of the source tree are
installed as subpackages of this package, so that no other top-level name is taken from a user's own
modules.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradscribe.breakpoint_window import here as here
    from gradscribe.errors import RecordingError as RecordingError
    from gradscribe.recording import record as record
    from gradscribe.run_tape import RunTape as RunTape
    from gradscribe.shortcuts import compare as compare
    from gradscribe.shortcuts import doctor as doctor
    from gradscribe.shortcuts import draw_graph as draw_graph
    from gradscribe.tape_store import load as load
    from gradscribe.tape_views import NodeView as NodeView
    from gradscribe.tape_views import OpView as OpView
    from gradscribe.tape_views import TensorView as TensorView
    from gradscribe.training import TrainedRun as TrainedRun
    from gradscribe.training import TrainingError as TrainingError
    from gradscribe.training import train as train
    from gradscribe.watching import Watch as Watch
    from gradscribe.watching import watch as watch

_HOMES = {
    "record": "recording",
    "draw_graph": "shortcuts",
    "doctor": "shortcuts",
    "compare": "shortcuts",
    "load": "tape_store",
    "here": "breakpoint_window",
    "watch": "watching",
    "Watch": "watching",
    "train": "training",
    "TrainedRun": "training",
    "TrainingError": "training",
    "RunTape": "run_tape",
    "TensorView": "tape_views",
    "OpView": "tape_views",
    "NodeView": "tape_views",
    "RecordingError": "errors",
}
"""Public name -> module of this package that defines it."""

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used.

    Raises:
        AttributeError: there is no such name.
    """
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def load_ipython_extension(shell: object) -> None:
    """Add ``%%gradscribe`` to a notebook, for ``%load_ext gradscribe``."""
    from gradscribe.notebook_magic import add_to

    add_to(shell)


def __dir__() -> list[str]:
    """Return all names, also those that are not imported yet."""
    return sorted({*globals(), *_HOMES})


if os.environ.get("GRADSCRIBE_RANK_TAPE"):
    from gradscribe.rank_tape import begin

    begin()
