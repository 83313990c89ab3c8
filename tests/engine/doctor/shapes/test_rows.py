"""Rows are followed through picks, slices, loaders and ops, as the numbers of the rows say."""

import pytest

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.shapes.rows import RowTable
from gradscribe.engine.run import run

START = """torch.manual_seed(0)
x = torch.arange(8.0).unsqueeze(1) + torch.zeros(3)
"""
"""Each row of x holds its own number, so that any row taken from it names where it came from."""


def rows_of(line: str):
    source = f"{START}{line}\n"
    tape = run.record(source)
    assert tape.error is None
    evidence = Evidence(tape, source)
    value = evidence.latest("y")
    return evidence, value, RowTable(evidence).of(value.id)


@pytest.mark.parametrize(
    "line",
    [
        "y = x[torch.randperm(8)]",
        "y = x[2:7]",
        "y = x[[3, 0, 5]]",
        "y = x[torch.randperm(8).numpy()]",
        "y = x[1::3]",
        "y = x[torch.randperm(8)][:5]",
        "y = x[torch.randperm(8)[2:6]]",
        "y = x[x[:, 0] > 3]",
        "y = torch.index_select(x, 0, torch.tensor([3, 1, 4]))",
        "y = x[torch.randperm(8)][:, 0]",
        "y = torch.stack([x[6], x[-1], x[0]])",
        "y = x[torch.randperm(8)].mean(1)",
        "y = x[torch.randperm(8)].view(8, 3, 1)",
        "for y in torch.utils.data.DataLoader(x, batch_size=4, shuffle=True): pass",
    ],
)
def test_the_order_is_that_of_the_numbers(line):
    evidence, value, rows = rows_of(line)
    numbers = evidence.snapshot(value.id).array().reshape(len(rows.order), -1)[:, 0]
    assert rows.order.tolist() == numbers.tolist()
    assert rows.size == 8


@pytest.mark.parametrize(
    "line",
    [
        "y = x[torch.randperm(8)] + x",
        "y = x.clone(); y[0] = 5",
        "y = nn.Linear(8, 2)(x.T)",
        "y = x[torch.zeros(8, 3).long(), 0]",
    ],
)
def test_mixed_rows_are_unknown_or_data_of_their_own(line):
    _, _, rows = rows_of(line)
    assert rows is None or rows.size != 8


def test_a_prediction_has_the_rows_of_its_input():
    _, _, rows = rows_of("i = torch.randperm(8)\ny = nn.Linear(3, 2)(x[i]).relu() * 2 - 1")
    evidence, _, same = rows_of("i = torch.randperm(8)\ny = x[i]")
    assert rows.order.tolist() == same.order.tolist()
    assert evidence.values[same.indices].name == "i"
