"""Deliberately excessive learning rates (the mistake ``huge_lr``)."""

import sys

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.zoo.entry import Options

TIMES = 100
LEAST = 100.0
"""Most optimizers make steps about as long as the learning rate, however small the gradient: no
model here learns with weights of this size. Plain gradient descent overshoots there as well."""
LEAST_BY_NAME = {"adadelta": 1e5}
"""Its first steps are about a thousandth of the learning rate."""


def huge_rate(rate: float, optimizer: str) -> float:
    """Return ``TIMES`` the rate, but at least the minimum excessive rate of this optimizer."""
    least = LEAST_BY_NAME.get(optimizer, LEAST)
    return min(max(TIMES * rate, least), sys.float_info.max)


def huge_rate_schedule(options: Options, optimizer: str) -> dict[str, JsonValue]:
    """Return a schedule's options with any learning rates among them made excessive."""
    result: dict[str, JsonValue] = {**options}
    top = options.get("max_lr")
    if isinstance(top, int | float):
        result["max_lr"] = now = huge_rate(float(top), optimizer)
        base = options.get("base_lr")
        if isinstance(base, int | float) and top > 0:
            result["base_lr"] = now * (base / top)
    return result
