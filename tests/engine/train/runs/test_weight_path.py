"""The path of a run's weights, and the loss surface of two chosen parameters."""

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.weight_path import WeightPath

SETUP = Setup(Part("line"), Part("linear"), optimizer=Part("sgd", {"lr": 0.01}))


def flat(run):
    return torch.cat([p.detach().reshape(-1) for p in run.program.model.parameters()])


def test_points_are_where_the_run_was():
    run, seen = TrainingRun(SETUP), {}
    for step in range(1, 41):
        run.advance(1)
        seen[step] = flat(run).clone()
    assert run.weight_path.points.keys() == seen.keys()
    assert all(torch.equal(run.weight_path.points[step], seen[step]) for step in seen)


def test_later_points_stand_further_apart():
    run = TrainingRun(SETUP)
    run.advance(1000)
    steps = sorted(run.weight_path.points)
    assert steps[:64] == [*range(1, 65)]
    assert set(np.diff([at for at in steps if at >= 512])) == {16}
    assert len(steps) == 63 + 32 + 32 + 32 + 31
    run.rewind(100)
    assert max(run.weight_path.points) == 100
    fork = run.fork(50, run.setup)
    assert max(fork.weight_path.points) == 50
    assert [made.steps_to_next(at) for made in (WeightPath(),) for at in (0, 62, 63, 64, 65)] == [
        1,
        1,
        1,
        2,
        1,
    ]


def test_a_big_model_leaves_none():
    made = WeightPath()
    made.add(1, torch.nn.Linear(200, 200))
    assert not made.points
    assert made.steps_to_next(1) > 1e9


def test_the_surface_of_two_chosen_parameters_is_the_loss_there():
    net = Part("mlp", {"layers": [3]})
    run = TrainingRun(Setup(Part("sine", {"n": 40}), net, optimizer=Part("sgd")))
    run.advance(30)
    x, y = 2, 7
    view = views.compute(run, "surface", {"directions": "parameters", "x": x, "y": y, "side": 5})
    here = flat(run)
    centers = {name: view.facts[name] for name in ("center_a", "center_b")}
    assert centers == {"center_a": here[x].item(), "center_b": here[y].item()}
    parameters = list(run.program.model.parameters())
    inputs, targets = run.program.tensor("x_train"), run.program.tensor("y_train")
    for row, up in enumerate(view.arrays["b"].array()):
        for column, across in enumerate(view.arrays["a"].array()):
            moved = here.clone()
            moved[x] += float(across)
            moved[y] += float(up)
            torch.nn.utils.vector_to_parameters(moved, parameters)
            loss = torch.nn.functional.mse_loss(run.program.model(inputs), targets).item()
            assert view.arrays["grid"].array()[row, column] == pytest.approx(loss, rel=1e-5)


def test_the_path_of_two_parameters_is_theirs_at_each_step():
    run = TrainingRun(SETUP)
    run.advance(20)
    view = views.compute(run, "surface", {"directions": "parameters", "x": 0, "y": 1})
    steps, path = view.arrays["path_steps"].array(), view.arrays["path"].array()
    assert list(steps) == list(range(21))
    for step, place in zip(steps[1:], path[1:], strict=True):
        expected = run.weight_path.points[int(step)] - flat(run)
        assert place == pytest.approx(expected.numpy(), abs=1e-6)
    assert view.arrays["off"].array() == pytest.approx(0, abs=1e-6)
    assert views.compute(run, "surface", {"directions": "parameters", "x": 1, "y": 1}) is None
