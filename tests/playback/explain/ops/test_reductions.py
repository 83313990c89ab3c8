import pytest

from gradscribe.playback.explain.ops.reductions import RULES


@pytest.mark.parametrize(
    "name", sorted({n for rule in RULES if rule.slopes for n in rule.names.split()})
)
def test_the_derivative_of_one_number_is_torchs_own(name, agrees):
    assert agrees(f"torch.{name}( a )")


def test_every_rule_says_what_an_element_is_sent():
    silent = [rule.names for rule in RULES if not rule.shares and "no gradient" not in rule.words]
    assert silent == []
