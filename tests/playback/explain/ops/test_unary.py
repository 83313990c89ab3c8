import pytest

from gradscribe.playback.explain import naming
from gradscribe.playback.explain.ops.unary import RULES

POSITIVE = (0.2, 0.7, 1.0, 2.5)
INNER = (-0.9, -0.3, 0.2, 0.8)
DOMAINS = dict.fromkeys(("log", "log2", "log10", "log1p"), POSITIVE)
DOMAINS |= dict.fromkeys(("asin", "acos"), INNER)
FUNCTIONAL = {
    "relu6", "hardtanh", "leaky_relu", "elu", "selu", "gelu", "silu", "mish", "softplus",
    "logsigmoid", "relu",
}  # fmt: skip
SPECIAL = {
    "softplus_special": "F.softplus( a , beta=3)",
    "gelu_special": "F.gelu( a , approximate='tanh')",
}


@pytest.mark.parametrize(
    "name", sorted({n for rule in RULES if rule.slopes for n in rule.names.split()})
)
def test_the_derivative_is_torchs_own(name, agrees):
    name = {"log_sigmoid": "logsigmoid"}.get(name, name)
    room = "F" if name in FUNCTIONAL else "torch"
    call = SPECIAL.get(name, f"{room}.{name}( a )")
    assert agrees(call, DOMAINS.get(name, (-1.7, -0.4, 0.3, 0.9, 2.6)))


@pytest.mark.parametrize(
    "call",
    [
        "F.leaky_relu( a , 0.2)",
        "F.leaky_relu( a , negative_slope=0.2)",
        "F.elu( a , alpha=0.5)",
        "F.softplus( a , beta=2)",
        "F.hardtanh( a , min_val=-0.5, max_val=0.5)",
        "nn.LeakyReLU(0.3)( a )",
        "nn.ELU()( a )",
        "a .tanh()",
        "a .sigmoid()",
    ],
)
def test_settings_count(call, agrees):
    assert agrees(call)


def test_a_wrong_curve_is_found_out(agrees, monkeypatch):
    # The tanh approximation of gelu has another slope: the exact one may not be shown for it.
    monkeypatch.setattr(naming, "_is_special", lambda *_: False)
    assert not agrees("F.gelu( a , approximate='tanh')")
