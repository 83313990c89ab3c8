"""Attribution of warnings to the program's frames instead of the recorder's.

Python attributes a warning to the frame that issued it, and by default shows it once per place.
Torch issues many for the frame that called it, which is the recorder's: the warning would name a
line that the program does not have, and be shown once for all of the program's lines.
"""

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from types import FrameType

from gradscribe.engine.record.tracebacks import is_recorder_frame, without_recorder_frames
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_CALLERS = (
    "forward.function_mode",
    "forward.op_recorder",
    "forward.scripted",
    "recorder",
    "backward.backward_pass",
    "forward.modules",
)
"""The modules of this package that call torch for the program."""


def _signature_of_warn(
    message: object,
    category: object = None,
    stacklevel: int = 1,
    source: object = None,
    **others: object,
) -> None:
    """Model the signature of ``warnings.warn``, which not every Python can inspect."""


_SIGNATURE = inspect.signature(_signature_of_warn)


class WarningFrames:
    """Patches of ``warnings`` that attribute warnings to the program's frames."""

    def __init__(self) -> None:
        self._warn: Callable[..., None] = warnings.warn
        self._show: Callable[[warnings.WarningMessage], None]

    def start(self) -> None:
        """Begin to attribute warnings to the program."""
        self._warn = warnings.warn
        self._show = warnings._showwarnmsg  # type: ignore[attr-defined]
        warnings.warn = self._warned
        warnings._showwarnmsg = self._showed  # type: ignore[attr-defined]
        for names in _callers():
            # Without a registry Python passes on every warning; `_showed` attributes it later.
            names["__warningregistry__"] = None

    def stop(self) -> None:
        """Restore Python's functions."""
        warnings.warn = self._warn
        warnings._showwarnmsg = self._show  # type: ignore[attr-defined]
        for names in _callers():
            # Not deleted: that would slow down look-ups in the module's namespace.
            names["__warningregistry__"] = {}

    def _warned(self, *args: object, **named: object) -> None:
        """Stand in for ``warnings.warn``, which counts frames up from its caller."""
        try:
            given = _SIGNATURE.bind(*args, **named).arguments
            level = max(given.get("stacklevel", 1), 1)
        except TypeError:
            # Python raises its own error for such arguments.
            self._warn(*args, **named)
            return
        others = given.pop("others", {})
        category = given.get("category") or UserWarning
        if isinstance(given["message"], Warning):
            category = type(given["message"])
        frame = _target_frame(sys._getframe(1), level) if not others else None
        if frame is None or not (isinstance(category, type) and issubclass(category, Warning)):
            self._warn(**given | {"stacklevel": level + 1}, **others)
        else:
            _warn_for_frame(given["message"], category, frame, given.get("source"))

    def _showed(self, warning: warnings.WarningMessage) -> None:
        """Stand in for ``warnings._showwarnmsg``, called once a warning has passed the filters.

        Warnings from torch's C++ code passed them for the recorder's frame; they are issued again
        for the program's.
        """
        giver = sys._getframe(1)
        if is_recorder_frame(giver) and giver.f_code.co_filename == warning.filename:
            above = without_recorder_frames(giver)
            if above:
                warnings.onceregistry.pop((str(warning.message), warning.category), None)  # type: ignore[attr-defined]
                _warn_for_frame(warning.message, warning.category, above[-1], warning.source)
                return
        self._show(warning)


def _target_frame(caller: FrameType, level: int) -> FrameType | None:
    """Return the frame a warning is attributed to; None if Python finds it by itself."""
    frame: FrameType | None = caller
    for _ in range(level):
        if frame is None:
            return None
        if is_recorder_frame(frame):
            shown = without_recorder_frames(caller)
            return shown[-level] if level <= len(shown) else None
        frame = frame.f_back
    return None


@functools.cache
def _callers() -> list[dict[str, object]]:
    here = __name__.rpartition(".")[0]
    return [vars(sys.modules[f"{here}.{name}"]) for name in _CALLERS]


def _warn_for_frame(
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
