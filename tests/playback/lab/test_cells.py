"""Cells as one would index them, against numpy's own indexing."""

import numpy as np
import pytest

from gradscribe.engine.inspect.lab import probe
from gradscribe.engine.protocol.messages import Probe
from gradscribe.playback.lab.cells import (
    Cell,
    CellLinks,
    cells_text,
    sentence,
    storage_offset,
    unravel_index,
)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4), (1, 1)])
def test_a_place_is_numpys(shape):
    for flat in range(int(np.prod(shape))):
        assert unravel_index(flat, shape) == tuple(map(int, np.unravel_index(flat, shape)))


@pytest.mark.parametrize("index", ["[1, :]", "[:, 2]", "[0, 1]", "[1:3, :2]", "[:, :]", "[2, 1:]"])
def test_a_box_of_cells_is_written_as_its_index(index):
    cells = np.arange(12).reshape(4, 3)
    chosen = eval(f"cells{index}", {"cells": cells}).reshape(-1).tolist()
    assert cells_text("a", chosen, (4, 3)) == f"a{index}"


def test_few_scattered_cells_are_named_and_many_counted():
    assert cells_text("a", [0, 5], (2, 3)) == "a[0, 0], a[1, 2]"
    assert cells_text("a", [0, 2, 4, 6, 8], (9,)) == "5 cells of a"


def test_cells_belong_both_ways():
    probed = probe(Probe(1, "a = torch.ones(2, 3)\nb = torch.ones(3, 2)\na @ b"))
    belongings = CellLinks(probed)
    assert set(belongings.of(Cell("result", 1))) == {
        *(Cell("a", i) for i in (0, 1, 2)),
        *(Cell("b", i) for i in (1, 3, 5)),
    }
    assert set(belongings.of(Cell("a", 0))) == {Cell("result", 0), Cell("result", 1)}
    shapes = {"a": (2, 3), "b": (3, 2), "result": (2, 2)}
    said = sentence(Cell("result", 1), belongings.of(Cell("result", 1)), shapes, ahead=False)
    assert said == "result[0, 1] comes from a[0, :] and b[:, 1]"
    said = sentence(Cell("a", 0), belongings.of(Cell("a", 0)), shapes, ahead=True)
    assert said == "a[0, 0] reaches result[0, :]"


def test_a_cell_lies_where_numpy_says():
    probed = probe(Probe(1, "x = torch.arange(24.).view(4, 6)[1:, ::2].T\nx + 0"))
    cells = probed.inputs[0]
    # The numbers of the storage are 0 to 23 in order.
    numbers = cells.snapshot.array().reshape(-1)
    assert [storage_offset(cells, i) for i in range(numbers.size)] == numbers.tolist()
