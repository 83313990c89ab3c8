"""The hints for layers and losses fit what torch really says."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gradscribe.engine.hints import layers
from tests.engine.hints.told import ROW_CHECKS, told


@pytest.mark.parametrize("check", ROW_CHECKS)
@pytest.mark.parametrize("row", layers.ROWS, ids=lambda row: row.pattern[:40])
def test_every_row(check, row):
    check(row)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("F.binary_cross_entropy(torch.rand(2), torch.tensor([0, 1]))", ".float()"),
        ("F.binary_cross_entropy_with_logits(torch.rand(2), torch.tensor([0, 1]))", ".float()"),
        ("nn.Conv2d(1, 2, 3)(torch.ones(1, 1, 8, 8).double())", "input is double"),
        ("torch.ones(2, 2) @ torch.ones(2, 2).double()", "One is float, the other double"),
        ("torch.tensor([1, 2]).requires_grad_()", "2.0 instead of 2"),
        ("F.binary_cross_entropy_with_logits(torch.ones(3, 1), torch.ones(3))", "one shape"),
        ("F.cross_entropy(torch.ones(2, 3), torch.ones(2, 1).long())", ".squeeze(1)"),
        ("F.cross_entropy(torch.ones(3), torch.tensor([1, 2]))", "one target"),
        ("torch.ones(2, 3).permute(0, 2, 1)", "has 2, and 3 are named"),
        ("torch.einsum('ij,jk->ik', torch.ones(2, 3), torch.ones(4, 2))", "letter j"),
        ("nn.LayerNorm(3)(torch.ones(2, 4))", "last dimension of 3"),
        ("nn.BatchNorm1d(3)(torch.ones(2, 4))", "made for 3 features and is given 4"),
        ("x = torch.ones(3)\nx += torch.ones(2, 3)", "keeps its shape (3)"),
        ("nn.LSTM(4, 2)(torch.ones(5, 1, 3))", "takes 4 features per step"),
        ("nn.RNNCell(3, 2)(torch.ones(1, 4))", "takes 3 features and is given 4"),
        ("torch.ones(-1)", "below 0"),
        ("torch.ones(3, device='meta').cpu()", "no numbers"),
        ("torch.ones(2).gather(0, torch.tensor([3]))", "from 0 to 1"),
        ("torch.ones(2, 3).gather(1, torch.tensor([0, 1]))", "as many dimensions"),
        ("torch.multinomial(torch.tensor([-1.0, 2.0]), 1)", "softmax"),
        ("nn.MultiheadAttention(5, 2)", "multiple of num_heads"),
        ("torch.cat([torch.ones(2), torch.ones(2, 2)])", "One has 1 dimensions, the other 2"),
        ("torch.ones(2, 3).max(1) > 1", ".values"),
        ("torch.from_numpy([1, 2])", "takes a list"),
        ("len(torch.tensor(1))", "one number"),
        ("for i in torch.tensor(1): pass", "one number"),
        ("F.one_hot(torch.tensor([0.0, 1.0]))", ".long()"),
        ("F.one_hot(torch.tensor([0, 5]), 3)", "num_classes"),
    ],
)
def test_torch_says_what_the_rows_expect(source, words):
    assert words in told(source, torch=torch, nn=nn, F=F)
