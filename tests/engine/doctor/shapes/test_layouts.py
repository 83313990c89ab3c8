"""Layouts follow which numbers each dimension has, as torch itself moves them."""

import itertools
import random

import numpy as np
import pytest
import torch

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.examine import examine
from gradscribe.engine.doctor.shapes.layouts import layouts_of
from gradscribe.engine.run import run


def layouts(source: str):
    evidence = Evidence(run.record(source), source)
    return evidence, layouts_of(evidence)


def sizes(evidence, found, name: str) -> list[list[int]]:
    """The sizes of the axes in each dimension of a variable's last value."""
    value = evidence.latest(name)
    return [[axis.size for axis in part] for part in found.of(value.id)]


def chain(seed: int) -> tuple[str, torch.Tensor]:
    """A program of permutes and merging views of distinct sizes, and its numbers by torch."""
    rng = random.Random(seed)
    shape = rng.sample([2, 3, 5, 7, 11], 4)
    numbers = torch.arange(int(np.prod(shape))).reshape(shape)
    lines = [f"x = torch.arange({numbers.numel()}).reshape({shape})"]
    for _ in range(4):
        count = numbers.ndim
        if rng.random() < 0.5 or count < 3:
            order = rng.sample(range(count), count)
            numbers = numbers.permute(order)
            lines.append(f"x = x.permute({order})")
        else:
            at = rng.randrange(count - 1)
            merged = [*numbers.shape[:at], -1, *numbers.shape[at + 2 :]]
            numbers = numbers.reshape(merged)
            lines.append(f"x = x.reshape({merged})")
    return "\n".join(lines), numbers


@pytest.mark.parametrize("seed", range(12))
def test_axes_stand_in_the_order_in_which_torch_has_the_numbers(seed):
    source, numbers = chain(seed)
    evidence, found = layouts(source)
    parts = found.of(evidence.latest("x").id)
    assert [int(np.prod([a.size for a in part])) for part in parts] == list(numbers.shape)
    # The axes are those of the first tensor, named by their sizes; each has its stride there.
    first = evidence.named("x")[0].shape
    strides = dict(zip(first, torch.empty(first).stride(), strict=True))
    axes = [axis.size for part in parts for axis in part]
    grid = sum(
        np.arange(size).reshape([-1 if i == at else 1 for i in range(len(axes))]) * strides[size]
        for at, size in enumerate(axes)
    )
    assert grid.reshape(numbers.shape).tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = x[:, -1]", [[3], [5]]),
        ("y = x[..., 0]", [[3], [4]]),
        ("y = x[None, 1:]", [[1], [2], [4], [5]]),
        ("y = x.mean(1)", [[3], [5]]),
        ("y = x.sum((0, 2))", [[4]]),
        ("y = x.flatten(1)", [[3], [4, 5]]),
        ("y = torch.stack([x, x], 1)", [[3], [2], [4], [5]]),
        ("y = torch.cat([x, x], 2)", [[3], [4], [2, 5]]),
        ("y = x.movedim(0, 2)", [[4], [5], [3]]),
        ("y = x.mT", [[3], [5], [4]]),
        ("y = nn.LSTM(5, 6, batch_first=True)(x)[1][0]", [[1], [3], [6]]),
        ("y = nn.LSTM(5, 6)(x)[1][0]", [[1], [4], [6]]),
        ("y = nn.Linear(5, 2)(x) + 1", [[3], [4], [2]]),
        ("y = x @ x.transpose(1, 2)", [[3], [4], [4]]),
    ],
)
def test_a_result_has_the_axes_of_its_input(line, expected):
    evidence, found = layouts(f"x = torch.randn(3, 4, 5)\n{line}")
    assert sizes(evidence, found, "y") == expected


def test_a_permute_is_no_scramble_and_a_view_to_its_shape_is():
    for order in itertools.permutations(range(3)):
        shape = [(2, 3, 5)[i] for i in order]
        start = "h = nn.Linear(4, 5)(torch.randn(2, 3, 4))\n"
        end = ".pow(2).sum().backward()"
        moved = start + f"h.permute{order}{end}"
        assert examine(run.record(moved), moved) == ()
        viewed = start + f"h.view({shape}){end}"
        ids = {finding.id for finding in examine(run.record(viewed), viewed)}
        same = torch.arange(30).view(2, 3, 5).permute(order).reshape(-1).equal(torch.arange(30))
        assert bool(ids) != same, order
