"""Answers of a model over the plane of its inputs."""

import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun


@pytest.fixture
def run():
    points = [[0.0, 0.0, 0], [1.0, 0.0, 1], [0.0, 2.0, 1]]
    return TrainingRun(Setup(Part("points", {"points": points}), Part("linear"), train=1.0))


def boundary(run, **options):
    made = views.compute(run, "boundary", {"side": 5, **options})
    return made.arrays["grid"].array()[0], made.arrays["box"].array().tolist()


def answer(run, box, side=5):
    """Return what the module itself says of each point of a box, the top row first."""
    x0, y0, x1, y1 = box
    rows = [
        [[x0 + (x1 - x0) * i / (side - 1), y1 - (y1 - y0) * j / (side - 1)] for i in range(side)]
        for j in range(side)
    ]
    with torch.no_grad():
        return run.program.model(torch.tensor(rows))[..., 0].numpy()


def test_the_plane_is_the_data_with_a_margin(run):
    grid, box = boundary(run)
    assert box == pytest.approx([-0.1, -0.2, 1.1, 2.2])
    assert grid == pytest.approx(answer(run, box), abs=1e-5)


@pytest.mark.parametrize(("same", "room"), [(7.0, 0.7), (-2e6, 2e5), (0.0, 0.1)])
def test_the_plane_has_room_where_an_input_is_always_the_same(same, room):
    points = [[0.0, same, 0], [1.0, same, 1]]
    run = TrainingRun(Setup(Part("points", {"points": points}), Part("linear"), train=1.0))
    grid, box = boundary(run)
    assert box == pytest.approx([-0.1, same - room, 1.1, same + room])
    assert grid == pytest.approx(answer(run, box), rel=1e-4, abs=1e-4)


def test_a_larger_plane_can_be_asked_for(run):
    grid, box = boundary(run, around=[-3, 0, 0.5, 4])
    assert box == pytest.approx([-3, -0.2, 1.1, 4])
    assert grid == pytest.approx(answer(run, box), abs=1e-5)
    assert boundary(run)[1] == pytest.approx([-0.1, -0.2, 1.1, 2.2])


@pytest.mark.parametrize(
    "around",
    [None, [], [1, 2, 3], ["a", 0, 0, 0], [0, 0, float("inf"), 1], [0, 0, 1e30, 1], [[0], 0, 1, 1]],
)
def test_what_is_no_box_is_passed_over(run, around):
    assert boundary(run, around=around)[1] == pytest.approx([-0.1, -0.2, 1.1, 2.2])


def test_planes_without_end_are_not_all_kept(run):
    for far in range(40):
        assert boundary(run, around=[-far, 0, 1, 1])[1][0] == pytest.approx(min(-far, -0.1))
