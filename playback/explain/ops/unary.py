"""Rules of functions of one number: exponentials, trigonometric functions, activations."""

import math

from gradscribe.playback.explain.rule import (
    CallNumbers,
    Rule,
    Share,
    Slope,
    constant_slope,
    numeric_slope,
    share_rule,
)
from gradscribe.playback.translation import tr


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _bell(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _gelu(n: CallNumbers) -> float:
    return 0.5 * (1 + math.erf(n.x / math.sqrt(2))) + n.x * _bell(n.x)


def _gelu_by_tanh(n: CallNumbers) -> float:
    scale = math.sqrt(2 / math.pi)
    t = math.tanh(scale * (n.x + 0.044715 * n.x**3))
    return 0.5 * (1 + t) + 0.5 * n.x * (1 - t * t) * scale * (1 + 3 * 0.044715 * n.x**2)


def _silu(n: CallNumbers) -> float:
    s = _sigmoid(n.x)
    return s + n.x * s * (1 - s)


def _mish(n: CallNumbers) -> float:
    t = math.tanh(math.log1p(math.exp(n.x)))
    return t + n.x * (1 - t * t) * _sigmoid(n.x)


def _step(n: CallNumbers) -> float:
    return float(n.x > 0)


def _leaky(n: CallNumbers) -> float:
    return 1.0 if n.x > 0 else n.option(1, "negative_slope", 0.01)


def _elu(n: CallNumbers) -> float:
    return 1.0 if n.x > 0 else n.option(1, "alpha", 1.0) * math.exp(n.x)


def _selu(n: CallNumbers) -> float:
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return scale if n.x > 0 else scale * alpha * math.exp(n.x)


def _softplus(n: CallNumbers) -> float:
    return _sigmoid(n.option(1, "beta", 1.0) * n.x)


def _hardtanh(n: CallNumbers) -> float:
    return float(n.option(1, "min_val", -1.0) < n.x < n.option(2, "max_val", 1.0))


def _curve(name: str, formula: str, words: str, slope: Slope, share: str = "") -> Rule:
    return Rule(name, formula, words, (slope,), (Share(share),) if share else ())


_GATE = tr("Where the input is above 0 the gradient passes unchanged, elsewhere it stops")
_FLAT = tr("Steps are flat between their edges: no gradient passes")

RULES = (
    _curve(
        "exp",
        "{y} = e^{a}",
        tr("The exponential is its own slope"),
        Slope("{y}", lambda n: n.output),
    ),
    _curve(
        "exp2",
        "{y} = 2^{a}",
        tr("The slope is the result times ln 2"),
        Slope("{y}·ln 2", lambda n: n.output * math.log(2)),
    ),
    _curve(
        "expm1",
        "{y} = e^{a} − 1",
        tr("The slope is the result plus one"),
        Slope("{y}+1", lambda n: n.output + 1),
    ),
    _curve(
        "log",
        tr("{y} = ln {a}"),
        tr("A logarithm's slope is one over its input"),
        Slope("1÷{a}", lambda n: 1 / n.x),
    ),
    _curve(
        "log2",
        "{y} = log₂ {a}",
        tr("A logarithm's slope falls with its input"),
        Slope("1÷({a}·ln 2)", lambda n: 1 / (n.x * math.log(2))),
    ),
    _curve(
        "log10",
        "{y} = log₁₀ {a}",
        tr("A logarithm's slope falls with its input"),
        Slope("1÷({a}·ln 10)", lambda n: 1 / (n.x * math.log(10))),
    ),
    _curve(
        "log1p",
        "{y} = ln(1 + {a})",
        tr("A logarithm's slope is one over what is inside it"),
        Slope("1÷(1+{a})", lambda n: 1 / (1 + n.x)),
    ),
    _curve(
        "sin",
        tr("{y} = sin {a}"),
        tr("The slope of a sine is the cosine"),
        Slope(tr("cos {a}"), lambda n: math.cos(n.x)),
    ),
    _curve(
        "cos",
        tr("{y} = cos {a}"),
        tr("The slope of a cosine is minus the sine"),
        Slope(tr("−sin {a}"), lambda n: -math.sin(n.x)),
    ),
    _curve(
        "tan",
        tr("{y} = tan {a}"),
        tr("The slope is one plus the result squared"),
        Slope("1+{y}²", lambda n: 1 + n.output**2),
    ),
    _curve(
        "sinh",
        tr("{y} = sinh {a}"),
        tr("The slope is the hyperbolic cosine"),
        Slope(tr("cosh {a}"), lambda n: math.cosh(n.x)),
    ),
    _curve(
        "cosh",
        tr("{y} = cosh {a}"),
        tr("The slope is the hyperbolic sine"),
        Slope(tr("sinh {a}"), lambda n: math.sinh(n.x)),
    ),
    _curve(
        "asin",
        tr("{y} = asin {a}"),
        tr("The slope grows without bound towards ±1"),
        Slope("1÷√(1−{a}²)", lambda n: 1 / math.sqrt(1 - n.x**2)),
    ),
    _curve(
        "acos",
        tr("{y} = acos {a}"),
        tr("The slope falls without bound towards ±1"),
        Slope("−1÷√(1−{a}²)", lambda n: -1 / math.sqrt(1 - n.x**2)),
    ),
    _curve(
        "atan",
        tr("{y} = atan {a}"),
        tr("The slope is one over one plus the input squared"),
        Slope("1÷(1+{a}²)", lambda n: 1 / (1 + n.x**2)),
    ),
    _curve(
        "tanh",
        tr("{y} = tanh {a}"),
        tr("The slope is 1 in the middle and 0 where the result nears ±1: there it saturates"),
        Slope("1−{y}²", lambda n: 1 - n.output**2),
    ),
    _curve(
        "sigmoid",
        "{y} = 1 ÷ (1 + e^−{a})",
        tr("The slope is at most ¼ and 0 where the result nears 0 or 1: there it saturates"),
        Slope("{y}(1−{y})", lambda n: n.output * (1 - n.output)),
    ),
    _curve(
        "log_sigmoid",
        "{y} = ln σ({a})",
        tr("The slope is one minus the sigmoid"),
        Slope("1−σ({a})", lambda n: _sigmoid(-n.x)),
    ),
    _curve(
        "relu",
        "{y} = max(0, {a})",
        _GATE,
        numeric_slope(_step),
        tr("{g} where {a} > 0, elsewhere 0"),
    ),
    _curve(
        "relu6",
        "{y} = min(max(0, {a}), 6)",
        tr("Between 0 and 6 the gradient passes unchanged"),
        numeric_slope(lambda n: float(0 < n.x < 6)),
        tr("{g} where 0 < {a} < 6, elsewhere 0"),
    ),
    _curve(
        "hardtanh",
        tr("{y} = {a}, held {bounds}"),
        tr("Between the bounds the gradient passes"),
        numeric_slope(_hardtanh),
        tr("{g} between the bounds, elsewhere 0"),
    ),
    _curve(
        "leaky_relu",
        tr("{y} = {a} if {a} > 0, else {slope}·{a}"),
        tr("Above 0 the gradient passes unchanged, below only a small part of it"),
        numeric_slope(_leaky),
        tr("{g} where {a} > 0, elsewhere {slope} × {g}"),
    ),
    _curve(
        "elu",
        tr("{y} = {a} if {a} > 0, else α(e^{a} − 1), with α = {alpha}"),
        tr("Above 0 the gradient passes unchanged, below it fades away"),
        Slope(lambda n: "1" if n.x > 0 else "α·e^{a}", _elu),
        tr("{g} where {a} > 0, elsewhere {g} × α·e^{a}"),
    ),
    _curve(
        "selu",
        tr("{y} = λ·{a} if {a} > 0, else λα(e^{a} − 1)"),
        tr("Above 0 the gradient grows a little, below it fades away"),
        Slope(lambda n: "λ" if n.x > 0 else "λα·e^{a}", _selu),
        tr("{g} × λ where {a} > 0, elsewhere {g} × λα·e^{a}"),
    ),
    _curve(
        "gelu",
        "{y} = {a}·Φ({a})",
        tr(
            "A smooth gate. Φ is the share of a bell curve left of the input, φ the curve's height"
            " there: what the gate lets through, plus what moving the gate adds"
        ),
        Slope("Φ({a})+{a}·φ({a})", _gelu),
    ),
    _curve(
        "gelu_special",
        tr("{y} = {a}·Φ({a}), Φ put together from a tanh"),
        tr("A smooth gate: Φ plus what the gate itself moves"),
        Slope("gelu'({a})", _gelu_by_tanh),
    ),
    _curve(
        "silu",
        "{y} = {a}·σ({a})",
        tr("A smooth gate. σ is the sigmoid: what the gate lets through, plus what moving it adds"),
        Slope("σ({a})+{a}·σ'({a})", _silu),
    ),
    _curve(
        "mish",
        "{y} = {a}·tanh(softplus({a}))",
        tr("A smooth gate plus what the gate itself moves"),
        Slope("mish'({a})", _mish),
    ),
    _curve(
        "softplus",
        "{y} = ln(1 + e^{a})",
        tr("The slope of the softplus is the sigmoid"),
        Slope("σ({a})", _softplus),
    ),
    _curve(
        "softplus_special",
        "{y} = ln(1 + e^(β{a})) ÷ β",
        tr("The slope of the softplus is the sigmoid of β times the input"),
        Slope("σ(β{a})", _softplus),
    ),
    share_rule(
        "softsign",
        "{y} = {a} ÷ (1 + |{a}|)",
        tr("The slope falls with the square of the distance"),
        Share("{g} ÷ (1 + |{a}|)²"),
    ),
    _curve(
        "erf",
        tr("{y} = erf {a}"),
        tr("The slope is a bell curve"),
        Slope("2÷√π·e^−{a}²", lambda n: 2 / math.sqrt(math.pi) * math.exp(-(n.x**2))),
    ),
    Rule(
        "floor ceil round trunc sign sgn",
        tr("{y} = whole steps of {a}"),
        _FLAT,
        (constant_slope(0),),
    ),
    _curve(
        "frac",
        tr("{y} = {a} − whole part"),
        tr("Between the steps the gradient passes unchanged"),
        constant_slope(1),
    ),
)
