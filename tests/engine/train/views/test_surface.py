"""The loss over a plane is the model's own loss with other weights, however it is asked."""

import pytest
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import surface
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
WRITING = LOOKING.replace("        y =", "        x.mul_(0.9)\n        y =")
MODELS = [
    {"name": "own", "source": SHARED},
    {"name": "mlp", "layers": [4, 2], "norm": "batch", "dropout": 0.2},
    {"name": "own", "source": LOOKING},
    "linear",
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_each_point_is_the_loss_with_these_weights(model):
    run = TrainingRun(
        setup.parse({"data": {"name": "moons", "n": 60}, "batch": 16, "model": model})
    )
    run.advance(20)
    before = parameters_to_vector(run.program.model.parameters()).clone()
    held = list(run.program.model.parameters())
    made = views.compute(run, "surface", {"side": 4, "directions": "parameters", "x": 1, "y": 2})
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
    run = TrainingRun(setup.parse({"data": {"name": "moons", "n": 400}, "model": "linear"}))
    asked = []
    criterion = run.program.criterion
    monkeypatch.setattr(
        run.program, "criterion", lambda out, y: asked.append(len(y)) or criterion(out, y)
    )
    monkeypatch.setattr(surface, "WORK", 2 * 3 * 100)
    views.compute(run, "surface", {"side": 3})
    assert set(asked) == {100}


def wandered(steps=150, seed=0):
    model = {"name": "mlp", "layers": [4]}
    run = TrainingRun(setup.parse({"data": "moons", "model": model, "seed": seed}))
    run.advance(steps)
    return run


def been(run):
    """Return the weights at each step of the path, in float64."""
    kept = {c.step: torch.cat([p.reshape(-1) for p in c.parameters]) for c in run.checkpoints.all}
    kept |= run.weight_path.points
    kept[run.step] = parameters_to_vector(run.program.model.parameters()).detach()
    return kept


def test_the_main_directions_of_a_path_are_its_principal_components():
    run = wandered()
    made = views.compute(run, "surface", {"side": 3, "directions": "pca"})
    kept = been(run)
    steps = made.arrays["path_steps"].array().tolist()
    path = torch.stack([kept[step] for step in steps]).double()
    _, vectors = torch.linalg.eigh(torch.cov(path.T))
    main = vectors.flip(1)[:, :2]
    places = torch.tensor(made.arrays["path"].array()).double()
    signs = (places * ((path - path[-1]) @ main)).sum(dim=0).sign()
    assert torch.allclose(places, (path - path[-1]) @ main * signs, atol=1e-4)
    off = (path - path[-1]) - (path - path[-1]) @ main @ main.T
    assert torch.allclose(
        torch.tensor(made.arrays["off"].array()).double(), off.norm(dim=1), atol=1e-4
    )


def test_a_path_ends_to_the_right_of_its_beginning_however_far_it_has_come():
    for seed in range(8):
        run = wandered(60, seed)
        places = views.compute(run, "surface", {"side": 3, "directions": "pca"})
        path = places.arrays["path"].array()
        assert path[-1][0] > path[0][0]


def test_a_path_with_weights_that_are_no_numbers_has_the_directions_of_the_rest():
    run = wandered()
    with_all = views.compute(run, "surface", {"side": 3, "directions": "pca"})
    step = sorted(run.weight_path.points)[40]
    run.weight_path.points[step] = torch.full_like(run.weight_path.points[step], float("nan"))
    without = views.compute(run, "surface", {"side": 3, "directions": "pca"})
    at = with_all.arrays["path_steps"].array() != step
    near = pytest.approx(with_all.arrays["path"].array()[at], abs=0.02)
    assert without.arrays["path"].array()[at] == near


def test_data_that_a_module_writes_into_stays_the_run_s_own():
    run = TrainingRun(setup.parse({"data": "moons", "model": {"name": "own", "source": WRITING}}))
    run.advance(3)
    before = run.program.tensor("x_train").clone()
    views.compute(run, "surface", {"side": 4})
    assert torch.equal(run.program.tensor("x_train"), before)
