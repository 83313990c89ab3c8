"""The arithmetic of an update on the screen, with the numbers of the chosen weight (row 117)."""

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training import Parameter, ViewReply
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.views.update_check import NO_FORMULA, SKIPPED, UpdateCheck
from tests.app.training.fakes import array, begun

SHAPES = {"0.weight": (2, 3), "0.bias": (2,)}


@pytest.fixture
def check(shown):
    made = shown(UpdateCheck(), 500, 300)
    parameters = (Parameter("0.weight", (2, 3), 0, True), Parameter("0.bias", (2,), 6, True))
    made.begin(replace(begun(1, Setup()), parameters=parameters))
    return made


def sgd_view(step=4):
    """A step of torch's SGD, as the engine reports it."""
    torch.manual_seed(3)
    weights = torch.randn(8, requires_grad=True)
    weights.grad = torch.randn(8)
    before = weights.detach().clone()
    torch.optim.SGD([weights], lr=0.1).step()
    arrays = {
        "before": array(before, "<f8"),
        "grad": array(weights.grad, "<f8"),
        "after": array(weights.detach(), "<f8"),
        "formula": array(before.sub(weights.grad, alpha=0.1), "<f8"),
    }
    facts = {"kind": 1.0, "lr": 0.1, "weights": 8, "equal": 8, "apart": 0.0}
    return ViewReply(1, "update", step, arrays, facts), before, weights


@pytest.mark.checklist(117)
def test_the_numbers_of_the_chosen_weight_are_put_in(check):
    view, before, weights = sgd_view()
    check.show_update(view)
    check.element.setValue(4)
    assert check.place.said() == "[1, 1]"
    assert f"{before[4].item():.7g}".replace("-", "−") in check.result.text()
    assert f"{weights[4].item():.7g}".replace("-", "−") in check.made.said()
    assert "equal to the bit" in check.made.said()
    assert check.all.said() == "All 8 weights equal to the bit"
    assert check.when.said() == "of step 5"


def test_another_parameter_has_its_own_elements(check):
    view, before, _ = sgd_view()
    check.show_update(view)
    check.element.setValue(5)
    check.parameter.setCurrentIndex(1)
    assert check.element.value() == 1
    assert check.numbers()["before"] == before[7].item()


def test_a_weight_without_a_gradient_and_an_optimizer_without_a_formula_say_so(check):
    view, _, _ = sgd_view()
    missing = {**view.arrays, "grad": array(np.full(8, np.nan), "<f8")}
    check.show_update(ViewReply(1, "update", 4, missing, {**view.facts, "weights": 0}))
    assert check.made.said() == SKIPPED
    assert not check.result.isVisible()
    check.show_update(ViewReply(1, "update", 4, view.arrays, {**view.facts, "kind": 0.0}))
    assert NO_FORMULA in check.made.said()
    assert check.all.said() == ""


def test_a_difference_is_shown_as_one(check):
    view, _, _ = sgd_view()
    other = view.arrays["formula"].array() + 1e-6
    check.show_update(
        ViewReply(
            1,
            "update",
            4,
            {**view.arrays, "formula": array(other, "<f8")},
            {**view.facts, "equal": 3, "apart": 1e-6},
        )
    )
    assert "away" in check.made.said()
    assert check.all.said() == "3 of 8 weights equal to the bit; the others at most 1e−06"


def test_it_takes_both_themes_and_shows_nothing_before_a_run(check):
    for name in ("dark", "light"):
        check.set_theme(Theme.load(name))
    check.clear()
    assert check.result.text() == ""
    assert check.numbers() == {}
