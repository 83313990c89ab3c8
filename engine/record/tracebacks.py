"""Hiding of the recorder's frames in tracebacks and stacks that the program reads."""

import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType, TracebackType

import torch

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_HERE = str(Path(__file__).parent)
_ENGINE = str(Path(__file__).parent.parent)
_RECORDER_FILES = (_HERE, str(Path(_ENGINE, "sandbox", "policy", "blocked.py")))
_HANDLE_TORCH_FUNCTION = torch.overrides.handle_torch_function.__code__
_Position = tuple[FrameType, object]
"""A frame and the line or the positions in it."""
TracebackWalk = Callable[[TracebackType | None], Iterator[_Position]]
StackWalk = Callable[[FrameType], Iterator[_Position]]


class TracebackFilter:
    """Patches of ``traceback`` and ``inspect`` that hide the recorder's frames and its callers'.

    They apply to code that walks a traceback or the stack with Python's own functions.
    """

    def __init__(self) -> None:
        self._plain: dict[tuple[object, str], object] = {}
        self._caller: FrameType | None = None

    def start(self) -> None:
        """Begin to hide frames: the recorder's, and those above the program."""
        self._caller = sys._getframe(2)
        for name in ("walk_tb", "_walk_tb_with_full_positions"):
            if hasattr(traceback, name):
                self._replace(traceback, name, _hiding_own(getattr(traceback, name)))
        self._replace(traceback, "walk_stack", self._stack(traceback.walk_stack))
        self._replace(inspect, "getouterframes", self._outer(inspect.getouterframes))

    def stop(self) -> None:
        """Restore Python's functions."""
        for (module, name), plain in self._plain.items():
            setattr(module, name, plain)
        self._caller = None

    def _replace(self, module: object, name: str, by: object) -> None:
        self._plain[module, name] = getattr(module, name)
        setattr(module, name, by)

    def _stack(self, climb: StackWalk) -> Callable[[FrameType | None], Iterator[_Position]]:
        def climbed(frame: FrameType | None) -> Iterator[_Position]:
            # Without a frame it is the caller's.
            return self._below(climb(frame or sys._getframe(1)))

        return climbed

    def _outer(self, plain: Callable[..., list[inspect.FrameInfo]]) -> object:
        def outer(frame: FrameType, context: int = 1) -> list[inspect.FrameInfo]:
            found = plain(frame, context)
            shown = {
                id(found_frame) for found_frame, _ in self._below((info.frame, 0) for info in found)
            }
            return [info for info in found if id(info.frame) in shown]

        return outer

    def _below(self, steps: Iterable[_Position]) -> Iterator[_Position]:
        """Yield the program's own positions, given those from it up the stack."""
        own: list[_Position] = []
        for step in steps:
            if step[0] is self._caller:
                while own and own[-1][0].f_code.co_filename.startswith(_ENGINE):
                    own.pop()
                break
            own.append(step)
        return reversed(_shown(reversed(own)))


def is_recorder_frame(frame: FrameType) -> bool:
    """Return whether a frame is the recorder's."""
    return frame.f_code.co_filename.startswith(_RECORDER_FILES)


def without_recorder_frames(frame: FrameType | None) -> list[FrameType]:
    """Return a frame and its callers without the recorder's frames, the outermost first."""
    steps: list[_Position] = []
    while frame is not None:
        steps.append((frame, None))
        frame = frame.f_back
    return [shown for shown, _ in _shown(reversed(steps))]


@functools.cache
def _hiding_own(walk: TracebackWalk) -> TracebackWalk:
    return lambda tb: iter(_shown(walk(tb)))


def _shown(steps: Iterable[_Position]) -> list[_Position]:
    """Return the positions, the outermost first, without the recorder's."""
    shown: list[_Position] = []
    for step in steps:
        if not is_recorder_frame(step[0]):
            shown.append(step)
        elif shown and shown[-1][0].f_code is _HANDLE_TORCH_FUNCTION:
            # A Python function of torch, which the recorder called a second time.
            del shown[-2:]
    return shown
