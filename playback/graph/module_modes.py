"""The mode of modules that behave differently in train and in eval mode, such as Dropout."""

import re

from gradscribe.engine.protocol.tape import Call, Op, Tape
from gradscribe.playback.translation import tr

_DROPOUT = re.compile(r"(Feature)?(Alpha)?Dropout(1d|2d|3d)?")
_BATCH_NORM = re.compile(r"(Lazy|Sync)?BatchNorm(1d|2d|3d)?")
_INSTANCE_NORM = re.compile(r"(Lazy)?InstanceNorm(1d|2d|3d)?")
_RECURRENT = re.compile(r"RNN|LSTM|GRU")
_ZERO = re.compile(r"(?<![\d.])(p|dropout)=0(\.0*)?(?![\d.])")


def depends_on_mode(call: Call) -> bool:
    """Return whether a module computes something else in train mode than in eval mode."""
    kind, about = call.kind, call.about
    if _DROPOUT.fullmatch(kind):
        return _ZERO.search(about) is None
    if _BATCH_NORM.fullmatch(kind):
        return "track_running_stats=False" not in about
    if _INSTANCE_NORM.fullmatch(kind):
        return "track_running_stats=True" in about
    if _RECURRENT.fullmatch(kind):
        return "dropout=" in about and _ZERO.search(about) is None
    return kind == "RReLU"


def modes(tape: Tape) -> dict[int, str]:
    """Return call -> ``train``, ``eval`` or both, for calls of or around such a module."""
    found: dict[int, set[str]] = {}
    for number, call in enumerate(tape.calls):
        if depends_on_mode(call):
            around: int | None = number
            while around is not None:
                found.setdefault(around, set()).add("train" if call.training else "eval")
                around = tape.calls[around].parent
    return {
        number: tr(" and ").join(sorted(words, reverse=True)) for number, words in found.items()
    }


def mode_of(tape: Tape, op: Op) -> str:
    """Return the mode in which an op is what its module does; empty if any mode does the same.

    Other ops of a model do not depend on the mode of the layers in it.
    """
    if op.inplace or op.call is None or not depends_on_mode(tape.calls[op.call]):
        return ""
    return "train" if tape.calls[op.call].training else "eval"
