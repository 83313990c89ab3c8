import pytest

from gradscribe.playback.explain.ops.losses import RULES


@pytest.mark.parametrize(
    "name", sorted({n for rule in RULES if rule.slopes for n in rule.names.split()})
)
def test_the_derivative_of_one_number_is_torchs_own(name, agrees):
    assert agrees(f"F.{name}( a , b )")


def test_the_sum_of_one_is_its_mean(agrees):
    assert agrees("F.mse_loss( a , b , reduction='sum')")
