"""The update of one weight as arithmetic: the formula of SGD or Adam with the numbers put in."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gradscribe.playback.translation import tr

DIGITS = 7
"""Digits of each number: those of float32."""
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class UpdateLine:
    """A line of the arithmetic: ``formula`` = ``numbers`` = ``result``."""

    formula: str
    numbers: str
    result: str


def update_lines(numbers: Numbers, facts: Numbers) -> list[UpdateLine]:
    """Return the arithmetic of an update, the last line of which is the new weight.

    ``numbers``: those of one weight before the update (``before``, ``grad``, and the state by its
    name in torch, NaN or missing where there is none yet); ``facts``: the optimizer's settings, as
    the engine's view ``update`` has them. Empty for an optimizer without a formula here, and for a
    weight without a gradient.
    """
    if math.isnan(numbers.get("grad", math.nan)):
        return []
    writer = _Writer()
    match facts.get("kind"):
        case 1.0:
            return writer.sgd(numbers, facts)
        case 2.0:
            return writer.adam(numbers, facts)
    return []


def number(value: float) -> str:
    """Return a number with the digits of float32."""
    return f"{value:.{DIGITS}g}".replace("-", "−")


class _Writer:
    def __init__(self) -> None:
        self.lines: list[UpdateLine] = []

    def _line(self, name: str, formula: str, numbers: str, value: float) -> float:
        self.lines.append(UpdateLine(f"{name} = {formula}", numbers, number(value)))
        return value

    def _gradient(self, numbers: Numbers, facts: Numbers) -> tuple[str, float]:
        """Return the gradient that the update uses: negated, with weight decay, or as it is."""
        name, grad = "grad", numbers["grad"]
        if facts.get("maximize"):
            name, grad = "g", self._line("g", "−grad", f"−({number(grad)})", -grad)
        decay = facts.get("weight_decay", 0.0)
        if decay and not facts.get("decoupled"):
            w = numbers["before"]
            text = f"{_put(grad)} + {number(decay)} · {_put(w)}"
            grad = self._line("g", f"{name} + decay · w", text, grad + decay * w)
            name = "g"
        return name, grad

    def sgd(self, numbers: Numbers, facts: Numbers) -> list[UpdateLine]:
        """Write w − lr · grad."""
        name, grad = self._gradient(numbers, facts)
        momentum = facts.get("momentum", 0.0)
        if momentum:
            before = numbers.get("momentum_buffer", math.nan)
            if math.isnan(before):
                buffer = self._line(
                    "b", tr("{name}, the first time", name=name), number(grad), grad
                )
            else:
                share = 1 - facts.get("dampening", 0.0)
                part = "" if share == 1 else f"{number(share)} · "
                text = f"{number(momentum)} · {_put(before)} + {part}{_put(grad)}"
                formula = f"momentum · b + {'' if share == 1 else '(1 − dampening) · '}{name}"
                buffer = self._line("b", formula, text, momentum * before + share * grad)
            if facts.get("nesterov"):
                text = f"{_put(grad)} + {number(momentum)} · {_put(buffer)}"
                grad = self._line("n", f"{name} + momentum · b", text, grad + momentum * buffer)
                name = "n"
            else:
                name, grad = "b", buffer
        w, lr = numbers["before"], facts["lr"]
        text = f"{number(w)} − {number(lr)} · {_put(grad)}"
        self._line("w", f"w − lr · {name}", text, w - lr * grad)
        return self.lines

    def adam(self, numbers: Numbers, facts: Numbers) -> list[UpdateLine]:
        """Write w − lr · m̂ / (√v̂ + ε) with the moments that lead to it."""
        w, lr, t = numbers["before"], facts["lr"], facts["t"]
        beta1, beta2 = facts["beta1"], facts["beta2"]
        decay = facts.get("weight_decay", 0.0)
        name, grad = self._gradient(numbers, facts)
        if decay and facts.get("decoupled"):
            text = f"{_put(w)} · (1 − {number(lr)} · {number(decay)})"
            w = self._line("w", "w · (1 − lr · decay)", text, w * (1 - lr * decay))
        m, v = (_or_zero(numbers.get(key, math.nan)) for key in ("exp_avg", "exp_avg_sq"))
        text = f"{number(beta1)} · {_put(m)} + {number(1 - beta1)} · {_put(grad)}"
        m = self._line("m", f"β₁ · m + (1 − β₁) · {name}", text, beta1 * m + (1 - beta1) * grad)
        text = f"{number(beta2)} · {_put(v)} + {number(1 - beta2)} · {_put(grad)}²"
        formula = f"β₂ · v + (1 − β₂) · {name}²"
        v = self._line("v", formula, text, beta2 * v + (1 - beta2) * grad * grad)
        if facts.get("amsgrad"):
            most = _or_zero(numbers.get("max_exp_avg_sq", math.nan))
            v = self._line(
                "v", tr("max(v, largest v)"), f"max({number(v)}, {number(most)})", max(v, most)
            )
        bias1, bias2 = 1 - beta1**t, 1 - beta2**t
        power = f"{t:,.0f}"
        text = f"{number(m)} / (1 − {number(beta1)}^{power})"
        m = self._line("m̂", "m / (1 − β₁^t)", text, m / bias1)
        text = f"{number(v)} / (1 − {number(beta2)}^{power})"
        v = self._line("v̂", "v / (1 − β₂^t)", text, v / bias2)
        eps = facts["eps"]
        text = f"{number(w)} − {number(lr)} · {_put(m)} / (√{number(v)} + {number(eps)})"
        self._line("w", "w − lr · m̂ / (√v̂ + ε)", text, w - lr * m / (math.sqrt(v) + eps))
        return self.lines


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _put(value: float) -> str:
    """Return a number as a factor or a summand, in brackets if it is negative."""
    return f"({number(value)})" if value < 0 else number(value)
