"""Rules of sums, products, powers and choices between two numbers."""

import math

from gradscribe.playback.explain.rule import (
    CallNumbers,
    Rule,
    Share,
    Slope,
    constant_slope,
    numeric_slope,
    sign,
)
from gradscribe.playback.text import symbols
from gradscribe.playback.translation import tr

_ONE = constant_slope(1)


def _power_text(n: CallNumbers) -> str:
    exponent = n.inputs[1]
    if exponent == 2:
        return "2{a}"
    if exponent == 1:
        return "1"
    if math.isfinite(exponent) and exponent == int(exponent) and abs(exponent) < 1000:
        return "{b}·{a}" + symbols.superscript(exponent - 1)
    return "{b}·{a}^({b}−1)"


def _power(n: CallNumbers) -> float:
    base, exponent = n.inputs[:2]
    return 0.0 if exponent == 0 else exponent * math.pow(base, exponent - 1)


def _power_exponent(n: CallNumbers) -> float:
    base, exponent = n.inputs[:2]
    if base == 0 and exponent >= 0:
        return 0.0
    return n.output * math.log(base)


def _choice_slope(chosen: int, other: int, direction: int) -> Slope:
    """Return the slope for operand ``chosen``: 1 where it is chosen, ½ where both are equal."""

    def value(n: CallNumbers) -> float:
        difference = direction * (n.inputs[chosen] - n.inputs[other])
        return 0.5 if difference == 0 else float(difference > 0)

    def text(n: CallNumbers) -> str:
        known = not any(math.isnan(x) for x in n.inputs[:2])
        return {0.0: "0", 0.5: "½", 1.0: "1"}[value(n)] if known else ""

    return Slope(text, value)


def _choice_shares(word: str) -> tuple[Share, Share]:
    """Return the gradients of both operands of an elementwise maximum or minimum."""
    sign = ">" if word == "larger" else "<"
    text = tr("{g} where {%s} ") + sign + tr(" {%s}, half of it where equal, elsewhere 0")
    return Share(text % ("a", "b")), Share(text % ("b", "a"))


def _inside(n: CallNumbers) -> float:
    low = n.option(1, "min", -math.inf)
    high = n.option(2, "max", math.inf)
    return float(low <= n.x <= high)


_POWER = tr("The exponent comes down as a factor and the power falls by one")
_EXPONENT = tr("an exponent's slope is the result times ln of the base")
_POWER_SLOPES = (Slope(_power_text, _power), Slope(tr("{y}·ln {a}"), _power_exponent))
_OTHER = tr("Each factor's gradient is what arrived times the other factor")
_QUOTIENT = tr(
    "The numerator's slope is 1 ÷ denominator, the denominator's −quotient ÷ denominator"
)

RULES = (
    Rule(
        "add",
        "{y} = {a} + {b}",
        tr("A sum hands its gradient on unchanged to every input"),
        (
            _ONE,
            Slope(
                lambda n: f"{n.options.get('alpha', 1):g}", lambda n: n.options.get("alpha", 1.0)
            ),
        ),
        stretches=True,
    ),
    Rule(
        "sub",
        "{y} = {a} − {b}",
        tr("A difference hands its gradient on unchanged to the first, with a minus to the second"),
        (
            _ONE,
            Slope(
                lambda n: f"{-n.options.get('alpha', 1):g}".replace("-", "−"),
                lambda n: -n.options.get("alpha", 1.0),
            ),
        ),
        stretches=True,
    ),
    Rule(
        "rsub",
        "{y} = {a} − {b}",
        tr("A difference hands its gradient on with a minus to what is taken away"),
        (_ONE, constant_slope(-1)),
        stretches=True,
    ),
    Rule(
        "mul",
        "{y} = {a} × {b}",
        _OTHER,
        (Slope("{b}", lambda n: n.inputs[1]), Slope("{a}", lambda n: n.inputs[0])),
        stretches=True,
    ),
    Rule(
        "div rdiv",
        "{y} = {a} ÷ {b}",
        _QUOTIENT,
        (
            Slope("1÷{b}", lambda n: 1 / n.inputs[1]),
            Slope("−{a}÷{b}²", lambda n: -n.inputs[0] / n.inputs[1] ** 2),
        ),
        stretches=True,
    ),
    Rule("neg", "{y} = −{a}", tr("A minus sign turns the gradient's sign"), (constant_slope(-1),)),
    Rule("positive", "{y} = +{a}", tr("The gradient passes unchanged"), (_ONE,)),
    *(
        Rule(name, "{y} = {a}^{b}", words, _POWER_SLOPES, stretches=True)
        for name, words in (
            ("pow", _POWER),
            ("float_power", _POWER),
            ("rpow", f"{_EXPONENT[0].upper()}{_EXPONENT[1:]}"),
            ("pow_by_tensor", f"{_POWER}; {_EXPONENT}"),
        )
    ),
    Rule(
        "square",
        "{y} = {a}²",
        tr("A square's slope is twice what was squared"),
        (Slope("2{a}", lambda n: 2 * n.x),),
    ),
    Rule(
        "sqrt",
        "{y} = √{a}",
        tr("A root's slope is one over twice the root"),
        (Slope("1÷(2{y})", lambda n: 1 / (2 * n.output)),),
    ),
    Rule(
        "rsqrt",
        "{y} = 1 ÷ √{a}",
        tr("The slope is minus half the result cubed"),
        (Slope("−½{y}³", lambda n: -0.5 * n.output**3),),
    ),
    Rule(
        "reciprocal",
        "{y} = 1 ÷ {a}",
        tr("The slope is minus the result squared"),
        (Slope("−{y}²", lambda n: -(n.output**2)),),
    ),
    Rule(
        "abs",
        "{y} = |{a}|",
        tr("Right of 0 the gradient passes, left of 0 it turns its sign; at 0 it is 0"),
        (Slope("sign({a})", lambda n: sign(n.x)),),
    ),
    Rule(
        "maximum",
        "{y} = max({a}, {b})",
        tr("The larger one takes the whole gradient, the other nothing; equal ones share it"),
        (_choice_slope(0, 1, 1), _choice_slope(1, 0, 1)),
        _choice_shares("larger"),
        stretches=True,
    ),
    Rule(
        "minimum",
        "{y} = min({a}, {b})",
        tr("The smaller one takes the whole gradient, the other nothing; equal ones share it"),
        (_choice_slope(0, 1, -1), _choice_slope(1, 0, -1)),
        _choice_shares("smaller"),
        stretches=True,
    ),
    Rule(
        "clamp",
        tr("{y} = {a}, held {bounds}"),
        tr(
            "Inside the bounds the gradient passes, outside it is 0: there the result does not move"
        ),
        (numeric_slope(_inside),),
        (Share(tr("{g} inside the bounds, elsewhere 0")),),
    ),
    Rule(
        "where",
        tr("{y} = {b} where {a}, else {c}"),
        tr("Each element's gradient goes to the one it was taken from, the other gets 0"),
        (
            constant_slope(0),
            numeric_slope(lambda n: float(bool(n.x))),
            numeric_slope(lambda n: float(not n.x)),
        ),
        (
            Share(tr("no gradient: a choice")),
            Share(tr("{g} where {a}, elsewhere 0")),
            Share(tr("{g} where not {a}, elsewhere 0")),
        ),
        stretches=True,
    ),
    Rule(
        "atan2 arctan2",
        "{y} = atan2({a}, {b})",
        tr("The slopes are those of an angle: across the radius, over its square"),
        (
            Slope("{b}÷({a}²+{b}²)", lambda n: n.inputs[1] / (n.x**2 + n.inputs[1] ** 2)),
            Slope("−{a}÷({a}²+{b}²)", lambda n: -n.x / (n.x**2 + n.inputs[1] ** 2)),
        ),
        stretches=True,
    ),
    Rule(
        "lerp",
        "{y} = {a} + {c}·({b} − {a})",
        tr("Both ends take their part of the gradient, by the weight"),
        (
            Slope("1−{c}", lambda n: 1 - n.inputs[2]),
            Slope("{c}", lambda n: n.inputs[2]),
            Slope("{b}−{a}", lambda n: n.inputs[1] - n.inputs[0]),
        ),
        stretches=True,
    ),
    Rule(
        "addcmul",
        "{y} = {a} + {value}{b} × {c}",
        tr("The sum passes the gradient on; each factor gets it times the other"),
        (
            _ONE,
            Slope("{value}{c}", lambda n: n.inputs[2] * n.option(3, "value", 1.0)),
            Slope("{value}{b}", lambda n: n.inputs[1] * n.option(3, "value", 1.0)),
        ),
        stretches=True,
    ),
)
