"""Hints about shapes name what does not fit, and say what would: tried by running it."""

import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.engine.hints.told import told

NAMES = {"torch": torch, "nn": nn, "F": F}
MAKE = "a = torch.ones{}\nb = torch.ones{}\n"


@pytest.mark.parametrize(
    ("a", "b", "op", "fit"),
    [
        ((2, 3), (4, 3), "a @ b", "a @ b.T"),
        ((3, 2), (3, 4), "a @ b", "a.T @ b"),
        ((2, 3), (4, 3), "torch.matmul(a, b)", "torch.matmul(a, b.T)"),
        ((2, 3), (4, 3), "a.mm(b)", "a.mm(b.T)"),
        ((2, 3), (2,), "a @ b", "a.T @ b"),
        ((2, 3), (2,), "a + b", "a + b.unsqueeze(1)"),
        ((2,), (2, 3), "a * b", "a.unsqueeze(1) * b"),
        ((2, 3), (3, 2), "a - b", "a - b.T"),
    ],
)
def test_what_would_fit_does_fit(a, b, op, fit):
    make = MAKE.format(a, b)
    hint = told(make + op, **NAMES)
    changed = next(
        x
        for x, y in zip(re.split(r"[^\w.()]+", fit), re.split(r"[^\w.()]+", op), strict=False)
        if x != y
    )
    assert re.search(r"\b[ab]\.(T|unsqueeze\(1\)) would fit\.", hint), hint
    assert re.search(r"[ab]\.(T|unsqueeze\(1\))", changed)[0] in hint
    exec(make + fit, dict(NAMES))


def test_nothing_is_promised_where_nothing_fits():
    assert "would fit" not in told(MAKE.format((2, 3), (4, 5)) + "a @ b", **NAMES)
    assert "would fit" not in told(MAKE.format((2, 3), (4,)) + "a + b", **NAMES)
