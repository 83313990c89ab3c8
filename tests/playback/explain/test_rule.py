import math

from gradscribe.playback.explain.rule import (
    CallNumbers,
    Slope,
    constant_slope,
    numeric_slope,
    rule_table,
    sign,
)

TAUGHT = """
add sub mul div neg pow sqrt exp log sin cos tanh sigmoid relu leaky_relu gelu silu softplus
abs clamp maximum minimum where sum mean max min matmul mm mv dot linear bmm t transpose
permute view reshape flatten squeeze unsqueeze expand cat stack index select softmax
log_softmax cross_entropy nll_loss mse_loss l1_loss binary_cross_entropy
binary_cross_entropy_with_logits norm var std prod conv2d layer_norm batch_norm dropout
embedding clone detach
""".split()


def test_the_ops_people_learn_with_are_all_in_the_table():
    assert [name for name in TAUGHT if name not in rule_table()] == []


def test_every_rule_tells_formula_and_words_without_a_full_stop():
    for rule in rule_table().values():
        assert rule.formula.startswith(("{y}", "{parts}"))
        assert rule.words
        assert not rule.words.endswith(".")


def test_every_template_can_be_filled():
    names = dict.fromkeys(
        "a b c d y g n op all parts last bounds slope alpha beta eps value es".split()
        + [letter + kind for letter in "abcdg" for kind in "st"],
        "x",
    )
    for rule in rule_table().values():
        rule.formula.format_map(names)
        for share in rule.shares:
            share.text.format_map(names)
            share.shapes.format_map(names)


def test_a_slope_of_unknown_numbers_is_not_written_as_a_number():
    step = numeric_slope(lambda n: float(n.x > 0))
    assert step.written(CallNumbers((math.nan,), math.nan, {})) == ""
    assert step.written(CallNumbers((2.0,), 2.0, {})) == "1"


def test_a_slope_without_numbers_is_a_template():
    assert (
        Slope("1−{y}²", lambda n: 1 - n.output**2).written(CallNumbers((0.0,), 0.0, {})) == "1−{y}²"
    )
    assert constant_slope(-1).text == "−1"


def test_an_option_counts_by_place_or_keyword_or_default():
    assert CallNumbers((1.0, 0.3), 0.0, {}).option(1, "slope", 0.01) == 0.3
    assert CallNumbers((1.0,), 0.0, {"slope": 0.2}).option(1, "slope", 0.01) == 0.2
    assert CallNumbers((1.0,), 0.0, {}).option(1, "slope", 0.01) == 0.01


def test_the_sign_of_nothing_is_nothing():
    assert (sign(-3.0), sign(0.0), sign(2.0)) == (-1.0, 0.0, 1.0)
    assert math.isnan(sign(math.nan))
