"""Warnings as they would be without a recorder: where they come from, and how often they come.

Python tells a warning by the frame that gave it, and by default once for each such place. Torch
gives many from the frame that called it, which is the recorder's: it would speak of a line that
the program does not have, and but once for all of the program's lines.
"""

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from types import FrameType

from engine.record.tracebacks import is_own, without_own
from engine.untouched import keep_builtins

keep_builtins(globals())

_CALLERS = ("forward", "scripted", "recorder", "backward", "modules")
"""The files here that call torch for the program."""


def _plain(
    message: object,
    category: object = None,
    stacklevel: int = 1,
    source: object = None,
    **others: object,
) -> None:
    """Take what ``warnings.warn`` takes, whose own signature cannot be read in every Python."""


_SIGNATURE = inspect.signature(_plain)


class Warned:
    """Gives warnings in the name of the program's frames instead of the recorder's."""

    def __init__(self) -> None:
        self._warn: Callable[..., None] = warnings.warn
        self._show: Callable[[warnings.WarningMessage], None]

    def start(self) -> None:
        """Begin to rename them."""
        self._warn = warnings.warn
        self._show = warnings._showwarnmsg  # type: ignore[attr-defined]
        warnings.warn = self._warned
        warnings._showwarnmsg = self._showed  # type: ignore[attr-defined]
        for names in _callers():
            # Without such a list Python passes on every warning, and each finds its place later.
            names["__warningregistry__"] = None

    def stop(self) -> None:
        """Let them be."""
        warnings.warn = self._warn
        warnings._showwarnmsg = self._show  # type: ignore[attr-defined]
        for names in _callers():
            # Not taken out: a module whose names come and go is slow to look them up.
            names["__warningregistry__"] = {}

    def _warned(self, *args: object, **named: object) -> None:
        """Stand in for ``warnings.warn``, which counts frames up from its caller."""
        try:
            given = _SIGNATURE.bind(*args, **named).arguments
            level = max(given.get("stacklevel", 1), 1)
        except TypeError:
            # Python has words of its own for arguments like these.
            self._warn(*args, **named)
            return
        others = given.pop("others", {})
        category = given.get("category") or UserWarning
        if isinstance(given["message"], Warning):
            category = type(given["message"])
        frame = _giver(sys._getframe(1), level) if not others else None
        if frame is None or not (isinstance(category, type) and issubclass(category, Warning)):
            self._warn(**given | {"stacklevel": level + 1}, **others)
        else:
            _give(given["message"], category, frame, given.get("source"))

    def _showed(self, told: warnings.WarningMessage) -> None:
        """Stand in for what Python calls once a warning has passed its filters.

        Those that torch's C++ gave have been through them in the recorder's name; they go through
        again in the program's.
        """
        giver = sys._getframe(1)
        if is_own(giver) and giver.f_code.co_filename == told.filename:
            above = without_own(giver)
            if above:
                warnings.onceregistry.pop((str(told.message), told.category), None)  # type: ignore[attr-defined]
                _give(told.message, told.category, above[-1], told.source)
                return
        self._show(told)


def _giver(caller: FrameType, level: int) -> FrameType | None:
    """Return the frame that a warning is about; None where Python finds it by itself."""
    frame: FrameType | None = caller
    for _ in range(level):
        if frame is None:
            return None
        if is_own(frame):
            shown = without_own(caller)
            return shown[-level] if level <= len(shown) else None
        frame = frame.f_back
    return None


@functools.cache
def _callers() -> list[dict[str, object]]:
    here = __name__.rpartition(".")[0]
    return [vars(sys.modules[f"{here}.{name}"]) for name in _CALLERS]


def _give(
    message: Warning | str, category: type[Warning], frame: FrameType, source: object
) -> None:
    names = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__") or "<string>",
        names.setdefault("__warningregistry__", {}),
        source=source,
    )
