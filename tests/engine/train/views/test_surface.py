"""The loss over a plane is the model's own loss with other weights, however it is asked."""

import pytest
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from engine import setup
from engine.train import views
from engine.train.run import Run
from engine.train.views import surface
from tests.programs import SHARED

LOOKING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)

    def forward(self, x):
        y = self.line(x)
        return y if y.sum() > 0 else -y
"""
MODELS = [
    {"name": "own", "source": SHARED},
    {"name": "mlp", "layers": [4, 2], "norm": "batch", "dropout": 0.2},
    {"name": "own", "source": LOOKING},
    "linear",
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_each_point_is_the_loss_with_these_weights(model):
    run = Run(setup.parse({"data": {"name": "moons", "n": 60}, "batch": 16, "model": model}))
    run.advance(20)
    before = parameters_to_vector(run.program.model.parameters()).clone()
    held = list(run.program.model.parameters())
    made = views.show(run, "surface", {"side": 4, "directions": "parameters", "x": 1, "y": 2})
    a, b = (made.arrays[name].array() for name in "ab")
    grid = made.arrays["grid"].array()
    for parameter, one in zip(run.program.model.parameters(), held, strict=True):
        assert parameter is one
    run.program.model.eval()
    for row in range(4):
        for column in range(4):
            moved = before.clone()
            moved[1] += float(a[column])
            moved[2] += float(b[row])
            vector_to_parameters(moved, run.program.model.parameters())
            with torch.no_grad():
                output = run.program.model(run.program.tensor("x_train"))
                loss = run.program.criterion(output, run.program.tensor("y_train"))
            assert grid[row, column] == pytest.approx(loss.item(), rel=1e-5)


def test_of_a_big_model_fewer_examples_are_asked(monkeypatch):
    run = Run(setup.parse({"data": {"name": "moons", "n": 400}, "model": "linear"}))
    asked = []
    criterion = run.program.criterion
    monkeypatch.setattr(
        run.program, "criterion", lambda out, y: asked.append(len(y)) or criterion(out, y)
    )
    monkeypatch.setattr(surface, "WORK", 2 * 3 * 100)
    views.show(run, "surface", {"side": 3})
    assert set(asked) == {100}
