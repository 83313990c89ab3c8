"""Tracebacks as they would be without a recorder: a program may print its own."""

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, TracebackType

import torch

from engine.untouched import keep_builtins

keep_builtins(globals())

_HERE = str(Path(__file__).parent)
_HANDS_OVER = torch.overrides.handle_torch_function.__code__
Step = tuple[FrameType, object]
"""A frame and the line or the positions in it."""
Walk = Callable[[TracebackType | None], Iterator[Step]]


class Tracebacks:
    """Hides the recorder's own frames from whoever walks along a traceback."""

    def __init__(self) -> None:
        self._plain: dict[str, Walk] = {}

    def start(self) -> None:
        """Begin to hide them."""
        for name in ("walk_tb", "_walk_tb_with_full_positions"):
            if hasattr(traceback, name):
                self._plain[name] = plain = getattr(traceback, name)
                setattr(traceback, name, _without_own(plain))

    def stop(self) -> None:
        """Show them again."""
        for name, plain in self._plain.items():
            setattr(traceback, name, plain)


def _without_own(walk: Walk) -> Walk:
    def walked(tb: TracebackType | None) -> Iterator[Step]:
        steps: list[Step] = []
        for step in walk(tb):
            if not step[0].f_code.co_filename.startswith(_HERE):
                steps.append(step)
            elif steps and steps[-1][0].f_code is _HANDS_OVER:
                # One of torch's functions in Python, which the recorder has called once more.
                del steps[-2:]
        return iter(steps)

    return walked
