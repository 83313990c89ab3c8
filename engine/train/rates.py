"""Learning rates that are far too big, on purpose."""

import sys

from engine.setup import Plain
from engine.zoo.pieces import Options

TIMES = 100
LEAST = 100.0
"""A step of most optimizers is about as long as its rate, however small the gradient: weights of
this size are beyond what any model here learns with. Plain descent overshoots there as well."""
LEAST_BY_NAME = {"adadelta": 1e5}
"""Its first steps are about a thousandth of its rate."""


def too_big(rate: float, optimizer: str) -> float:
    """Return ``TIMES`` the rate, or the least that is too big for an optimizer of this name."""
    least = LEAST_BY_NAME.get(optimizer, LEAST)
    return min(max(TIMES * rate, least), sys.float_info.max)


def too_big_schedule(options: Options, optimizer: str) -> dict[str, Plain]:
    """Return a schedule's options with its own rates, where it sets them, far too big."""
    found: dict[str, Plain] = {**options}
    top = options.get("max_lr")
    if isinstance(top, int | float):
        found["max_lr"] = now = too_big(float(top), optimizer)
        base = options.get("base_lr")
        if isinstance(base, int | float) and top > 0:
            found["base_lr"] = now * (base / top)
    return found
