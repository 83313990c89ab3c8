"""A tape of what was recorded so far, while the program runs on."""

import torch

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.record.freeze import draft_leaves, freeze
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


def draft(recorder: Recorder, names: dict[str, object]) -> Tape:
    """Return what was recorded so far, named after the program's global names.

    The log is as it was afterwards: what is named at the end is named by the last values alone.
    Call it where no call of the program is being recorded.
    """
    rows = recorder.log.values
    named = [row.name for row in rows]
    unnamed, truncated = recorder.unnamed, recorder.log.truncated
    try:
        # The program's ops are being recorded.
        with torch._C.DisableTorchFunction():
            return freeze(recorder, draft_leaves(recorder, names))
    finally:
        recorder.unnamed, recorder.log.truncated = unnamed, truncated
        for row, name in zip(rows, named, strict=True):
            row.name = name
