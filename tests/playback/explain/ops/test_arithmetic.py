import pytest

from gradscribe.playback.explain.ops.arithmetic import RULES

POSITIVE = (0.2, 0.7, 1.0, 2.5)
EXPRESSIONS = {
    "add": "a + b",
    "sub": "a - b",
    "rsub": "2.5 - a",
    "mul": "a * b",
    "div": "a / b",
    "rdiv": "2.5 / a",
    "neg": "- a",
    "positive": "torch.positive( a )",
    "pow": "a ** 3",
    "float_power": "torch.float_power( a , 3 )",
    "rpow": "2.0 ** a",
    "pow_by_tensor": "a ** b",
    "square": "torch.square( a )",
    "sqrt": "torch.sqrt( a )",
    "rsqrt": "torch.rsqrt( a )",
    "reciprocal": "torch.reciprocal( a )",
    "abs": "torch.abs( a )",
    "maximum": "torch.maximum( a , b )",
    "minimum": "torch.minimum( a , b )",
    "clamp": "torch.clamp( a , -0.5, 1.0)",
    "where": "torch.where(torch.tensor(True), a , b )",
    "atan2": "torch.atan2( a , b )",
    "arctan2": "torch.arctan2( a , b )",
    "lerp": "torch.lerp( a , b , c )",
    "addcmul": "torch.addcmul( a , b , c )",
}
NEEDS_POSITIVE = {"sqrt", "rsqrt", "pow_by_tensor"}


@pytest.mark.parametrize(
    "name", sorted({n for rule in RULES if rule.slopes for n in rule.names.split()})
)
def test_the_derivative_is_torchs_own(name, agrees):
    points = POSITIVE if name in NEEDS_POSITIVE else (-1.7, -0.4, 0.3, 0.9)
    assert agrees(EXPRESSIONS[name], points)


@pytest.mark.parametrize("exponent", ["2", "1", "0", "-1", "0.5", "3.7", "-2.5", "10"])
def test_any_exponent_will_do(exponent, agrees):
    assert agrees(f"a ** {exponent}", POSITIVE)


def test_base_and_exponent_both_have_a_slope(agrees):
    assert agrees("a ** b", POSITIVE)


def test_alpha_scales_the_second_term(agrees):
    assert agrees("torch.add( a , b , alpha=3)")
    assert agrees("torch.sub( a , b , alpha=3)")


def test_equal_numbers_share_a_maximum(agrees):
    assert agrees("torch.maximum( a , b )", (1.0, 1.0))
    assert agrees("torch.max( a , b )", (1.0, 2.0))


def test_bounds_may_be_keywords(agrees):
    assert agrees("torch.clamp( a , min=0.0)")
    assert agrees("torch.clamp( a , max=0.5)")
