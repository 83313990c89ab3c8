"""Names of the last run: tensors with their shapes, modules with their kinds."""

import re

from msgspec import Struct

from gradscribe.engine.protocol.tape import Call, Tape, Value
from gradscribe.playback.text import formatting

_PATH = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
MAX_LIVE = 2_000
"""Maximum number of names that are collected."""


class LiveName(Struct, frozen=True):
    """A name of the last run; ``text`` is what a list shows at its right."""

    kind: str
    """``tensor``, ``module``, or ``part`` for a path on the way to one of them."""
    text: str = ""


def live_names(tape: Tape) -> dict[str, LiveName]:
    """Return the dotted names of a run, with what each was last."""
    found: dict[str, LiveName] = {}
    for call in tape.calls:
        _add(found, call.name, LiveName("module", _module_text(call)))
    for value in tape.values:
        _add(found, value.name, LiveName("tensor", _tensor_text(value)))
    for path in list(found):
        while "." in path:
            path = path.rpartition(".")[0]
            found.setdefault(path, LiveName("part"))
    return found


def _add(found: dict[str, LiveName], name: str, live: LiveName) -> None:
    if (name in found or len(found) < MAX_LIVE) and _PATH.fullmatch(name):
        found[name] = live


def _module_text(call: Call) -> str:
    numbers = re.findall(r"(?:in|out)_(?:features|channels)=(\d+)", call.about)
    return f"{call.kind} {' → '.join(numbers)}" if len(numbers) == 2 else call.kind


def _tensor_text(value: Value) -> str:
    shape = formatting.shape(value.shape) if value.shape else "scalar"
    return shape if value.dtype == "float32" else f"{shape} {value.dtype}"
