"""Properties that a recorded tensor can be given, from tapes of real runs."""

import pytest

from gradscribe.engine.run import run
from gradscribe.playback.code import property_edits as edits

SOURCE = """
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.ones(3, 2)
ids = torch.arange(3)
y = net(x)
w = param(2.0)
L = (y * w).mean() + ids.sum()
L.backward()
"""


@pytest.fixture(scope="module")
def values():
    return {value.name: value for value in run.record(SOURCE).values}


def ran(source):
    tape = run.record(source)
    assert tape.status == "ok", tape.error
    return {value.name: value for value in tape.values}


@pytest.mark.parametrize(
    ("name", "changed", "can"),
    [
        ("x", "requires_grad", True),
        ("net.0.weight", "requires_grad", True),
        ("w", "requires_grad", True),
        ("ids", "requires_grad", False),
        ("y", "requires_grad", False),
        ("y", "retain_grad", True),
        ("x", "retain_grad", False),
        ("w", "retain_grad", False),
        ("ids", "retain_grad", False),
        ("y", "dtype", True),
        ("", "dtype", False),
    ],
)
def test_what_cannot_be_changed_has_its_reason(values, name, changed, can):
    assert (edits.refusal(values[name], changed) == "") == can


def test_a_parameter_of_a_module_is_frozen(values):
    off = edits.edited(SOURCE, values["net.0.weight"], "requires_grad", "off")
    frozen = ran(off)
    assert not frozen["net.0.weight"].requires_grad
    assert frozen["net.2.weight"].requires_grad
    on = edits.edited(off, frozen["net.0.weight"], "requires_grad", "on")
    assert on == SOURCE


def test_a_result_retains_its_gradient(values):
    on = edits.edited(SOURCE, values["y"], "retain_grad", "on")
    assert edits.is_on(on, ran(on)["y"], "retain_grad")
    assert not edits.is_on(SOURCE, values["y"], "retain_grad")


@pytest.mark.parametrize("name", ["w", "y", "x", "ids"])
def test_dtypes(values, name):
    # Up to its own line: what follows need not take another dtype.
    until = SOURCE[: SOURCE.index("\n", SOURCE.index(f"{name} = "))] + f"\nz = {name} * 1"
    found = ran(edits.edited(until, values[name], "dtype", "float64"))
    assert found[name].dtype == "float64" or found["z"].dtype == "float64"
    assert found["z"].requires_grad == values[name].requires_grad


def test_an_integer_dtype_is_not_offered_where_a_gradient_is_required(values):
    assert "int64" not in edits.dtypes_of(values["w"])
    assert "int64" in edits.dtypes_of(values["x"])


def test_words(values):
    assert edits.words(values["x"], "requires_grad", "on") == "x: requires_grad=True"
    assert edits.words(values["net.0.weight"], "dtype", "float64") == "net: float64"
