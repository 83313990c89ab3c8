"""Tracebacks and stacks as they would be without a recorder: a program may print its own."""

import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType, TracebackType

import torch

from engine.untouched import keep_builtins

keep_builtins(globals())

_HERE = str(Path(__file__).parent)
_ENGINE = str(Path(__file__).parent.parent)
_OURS = (_HERE, str(Path(_ENGINE, "policy", "closed.py")))
_HANDS_OVER = torch.overrides.handle_torch_function.__code__
Step = tuple[FrameType, object]
"""A frame and the line or the positions in it."""
Walk = Callable[[TracebackType | None], Iterator[Step]]
Climb = Callable[[FrameType], Iterator[Step]]


class Tracebacks:
    """Hides the recorder's own frames, and those that the program was called from.

    From whoever walks along a traceback or up the stack with Python's own functions.
    """

    def __init__(self) -> None:
        self._plain: dict[tuple[object, str], object] = {}
        self._caller: FrameType | None = None

    def start(self) -> None:
        """Begin to hide them; what calls this recorder is not the program's any more."""
        self._caller = sys._getframe(2)
        for name in ("walk_tb", "_walk_tb_with_full_positions"):
            if hasattr(traceback, name):
                self._replace(traceback, name, _hiding_own(getattr(traceback, name)))
        self._replace(traceback, "walk_stack", self._stack(traceback.walk_stack))
        self._replace(inspect, "getouterframes", self._outer(inspect.getouterframes))

    def stop(self) -> None:
        """Show them again."""
        for (module, name), plain in self._plain.items():
            setattr(module, name, plain)
        self._caller = None

    def _replace(self, module: object, name: str, by: object) -> None:
        self._plain[module, name] = getattr(module, name)
        setattr(module, name, by)

    def _stack(self, climb: Climb) -> Callable[[FrameType | None], Iterator[Step]]:
        def climbed(frame: FrameType | None) -> Iterator[Step]:
            # Without a frame it is that of whoever asks.
            return self._below(climb(frame or sys._getframe(1)))

        return climbed

    def _outer(self, plain: Callable[..., list[inspect.FrameInfo]]) -> object:
        def outer(frame: FrameType, context: int = 1) -> list[inspect.FrameInfo]:
            found = plain(frame, context)
            shown = {id(one) for one, _ in self._below((info.frame, 0) for info in found)}
            return [info for info in found if id(info.frame) in shown]

        return outer

    def _below(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the program's steps of those that lead up from it."""
        own: list[Step] = []
        for step in steps:
            if step[0] is self._caller:
                while own and own[-1][0].f_code.co_filename.startswith(_ENGINE):
                    own.pop()
                break
            own.append(step)
        return reversed(_shown(reversed(own)))


def is_own(frame: FrameType) -> bool:
    """Tell whether a frame is the recorder's."""
    return frame.f_code.co_filename.startswith(_OURS)


def without_own(frame: FrameType | None) -> list[FrameType]:
    """Return a frame and those that called it as there would be without a recorder.

    The outermost comes first.
    """
    steps: list[Step] = []
    while frame is not None:
        steps.append((frame, None))
        frame = frame.f_back
    return [one for one, _ in _shown(reversed(steps))]


@functools.cache
def _hiding_own(walk: Walk) -> Walk:
    return lambda tb: iter(_shown(walk(tb)))


def _shown(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that there would be without a recorder; the outermost come first."""
    shown: list[Step] = []
    for step in steps:
        if not is_own(step[0]):
            shown.append(step)
        elif shown and shown[-1][0].f_code is _HANDS_OVER:
            # One of torch's functions in Python, which the recorder has called once more.
            del shown[-2:]
    return shown
