"""Settings of a call that appear in its formula: bounds, slopes, weights, thresholds."""

import math

from gradscribe.engine.protocol.tape import Arg, Op
from gradscribe.playback.text import formatting, symbols
from gradscribe.playback.translation import tr

_OF: dict[str, tuple[tuple[str, int, str, float], ...]] = {
    "leaky_relu": (("slope", 1, "negative_slope", 0.01),),
    "elu": (("alpha", 1, "alpha", 1.0),),
    "smooth_l1_loss": (("beta", 5, "beta", 1.0),),
    "huber_loss": (("beta", 3, "delta", 1.0),),
    "cross_entropy": (("eps", 7, "label_smoothing", 0.0),),
    "dropout": (("p", 1, "p", 0.5),),
}
"""Op -> (name in the template, position, keyword, torch's default) of its settings."""
_BOUNDS: dict[str, tuple[str, str, float, float]] = {
    "clamp": ("min", "max", -math.inf, math.inf),
    "clip": ("min", "max", -math.inf, math.inf),
    "hardtanh": ("min_val", "max_val", -1.0, 1.0),
}


def settings(op: Op) -> dict[str, str]:
    """Return the settings of a call by their names in a template, formatted as numbers."""
    name = symbols.canonical_name(op.op)
    found = {
        key: short(_given(op, place, keyword, default))
        for key, place, keyword, default in _OF.get(name, ())
    }
    if name in _BOUNDS:
        low, high, least, most = _BOUNDS[name]
        found["bounds"] = _bounds(_given(op, 1, low, least), _given(op, 2, high, most))
    if name == "addcmul":
        value = _given(op, 3, "value", 1.0)
        found["value"] = "" if value == 1 else f"{short(value)}·"
    return found


def _given(op: Op, place: int, keyword: str, default: float) -> float:
    """Return a setting as a number; NaN if it is a tensor or no number."""
    arg = next((a for a in op.args if a.keyword == keyword), None)
    if arg is None and place < len(op.args) and not op.args[place].keyword:
        arg = op.args[place]
    return default if arg is None else _number(arg, default)


def _number(arg: Arg, default: float) -> float:
    if arg.number is not None:
        return arg.number
    return default if arg.text in ("None", "") and arg.value is None else math.nan


def short(number: float) -> str:
    """Return a number without trailing zeros: ``0.1``, ``−2``."""
    return f"{number:g}".replace("-", formatting.MINUS)


def _bounds(low: float, high: float) -> str:
    if math.isnan(low) or math.isnan(high):
        return tr("between bounds")
    if math.isinf(low) and math.isinf(high):
        return tr("as it is")
    if math.isinf(low):
        return tr("at {short} or below", short=short(high))
    if math.isinf(high):
        return tr("at {short} or above", short=short(low))
    return tr("between {short} and {short_2}", short=short(low), short_2=short(high))
