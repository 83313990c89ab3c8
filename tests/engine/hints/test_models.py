"""The hints for parts put together wrongly fit what torch really says."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader

from gradscribe.engine.hints import models
from tests.engine.hints.told import ROW_CHECKS, told


@pytest.mark.parametrize("check", ROW_CHECKS)
@pytest.mark.parametrize("row", models.ROWS, ids=lambda row: row.pattern[:40])
def test_every_row(check, row):
    check(row)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("q, k = torch.ones(2, 3, 4), torch.ones(2, 5, 4)\ntorch.bmm(q, k)", "k.transpose(1, 2)"),
        ("q, k = torch.ones(2, 3, 4), torch.ones(3, 4, 5)\ntorch.bmm(q, k)", "and not (3, 4)"),
        ("torch.einsum('ijk->i', torch.ones(3, 4))", "operand 0, counted from 0, has 2 dim"),
        ("F.cross_entropy(torch.ones(3), torch.tensor([0, 1, 2]))", "scores are (rows, classes)"),
        (
            "nn.LSTM(5, 8)(torch.ones(7, 2, 5), (torch.zeros(1, 3, 8), torch.zeros(1, 3, 8)))",
            "(1, 2, 8); here it is (1, 3, 8)",
        ),
        ("torch.ones(3, device='meta').sum().item()", "no numbers"),
        ("for b in DataLoader([{'a': None}]): pass", "a NoneType needs its own collate_fn"),
        ("for b in DataLoader([torch.ones(2), torch.ones(3)], batch_size=2): pass", "that pads"),
        ("a, b = torch.ones(3), torch.ones(4)\ntorch.stack([a, b])", "a and b. Here a is (3,)"),
        ("nn.BatchNorm2d(4)(torch.ones(5, 4))", "Made for 4 dimensions and given 2"),
        ("x = torch.ones(5, 2, 6)\nnn.MultiheadAttention(8, 2)(x, x, x)", "vectors of 8"),
        ("nn.Linear(2, 1).weight = torch.zeros(1, 2)", "nn.Parameter(...)"),
        ("F.max_pool2d(torch.ones(1, 1, 2, 2), 3)", "(1x0x0)"),
        ("torch.ones(2, 3).reshape(3, -1, -1)", "the one size"),
        ("optim.lr_scheduler.StepLR(0.1, 5)", "StepLR(optimizer"),
        ("torch.save(1, '/nonexistent/x.pt')", "folder /nonexistent first"),
        ("nn.GRU(4, 6)(torch.ones(5, 4, 4, 4))", "here are 4 dimensions"),
        ("nn.Linear(3.5, 2)", "not float"),
        ("nn.Sequential([nn.Linear(2, 2)])", "*layers"),
        ("nn.ModuleList(nn.Linear(2, 2))", "ModuleList([...])"),
        ("e, i = nn.Embedding(10, 4), torch.tensor([1, 10])\ne(i)", "Index 10 has no row"),
        ("e, i = nn.Embedding(10, 4), torch.tensor([1, -1])\ne(i)", "Index -1 has no row"),
        ("nn.Embedding(10, 4)(torch.tensor([10]))", "num_embeddings"),
        ("f, x = nn.Linear(784, 9), torch.ones(2, 1, 28, 28)\nf(x)", "x.flatten(1) would fit: 1 ×"),
        ("f, x = nn.Linear(7, 9), torch.ones(2, 5)\nf(x)", "in_features=5"),
        ("x, y = torch.ones(3, 4), torch.ones(3)\nx += y", "y.unsqueeze(1) would fit. Here x is"),
    ],
)
def test_torch_says_what_the_rows_expect(source, words):
    known = {"torch": torch, "nn": nn, "F": F, "optim": optim, "DataLoader": DataLoader}
    assert words in told(source, **known)


@pytest.mark.parametrize(
    ("model", "saved", "words"),
    [
        ("nn.Linear(3, 2)", "nn.Linear(4, 2).state_dict()", "weight is (2, 4) in the saved"),
        ("nn.Linear(3, 2)", "{'fc.weight': torch.ones(2, 3)}", "calls fc.weight what this"),
        ("nn.Linear(1, 1)", "{'weight': torch.ones(1, 1)}", "has no bias"),
        ("nn.Linear(1, 1, bias=False)", "nn.Linear(1, 1).state_dict()", "model has no bias"),
        (
            "nn.Linear(1, 1)",
            "{'module.' + k: v for k, v in nn.Linear(1, 1).state_dict().items()}",
            "take module. off",
        ),
    ],
)
def test_a_saved_state_that_does_not_fit_names_what_is_in_the_way(model, saved, words):
    assert words in told(f"{model}.load_state_dict({saved})", torch=torch, nn=nn)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    def foward(self, x): return x", "rename the method foward to forward"),
        ("    def Forward(self, x): return x", "rename the method Forward to forward"),
        ("    def __forward__(self, x): return x", "rename the method __forward__ to forward"),
        (
            "    def __init__(self):\n        super().__init__()\n        def forward(self): ...",
            "forward on line 4 is not in the class",
        ),
        ("    pass\ndef forward(self, x): return x", "forward on line 3 is not in the class"),
        ("    def embed(self, x): return x", "Give the class a method forward"),
        ("    pass", "Give the class a method forward"),
    ],
)
def test_a_module_without_forward_tells_what_looks_like_it(body, words):
    assert words in told(f"class Net(nn.Module):\n{body}\nnet = Net()\nnet(1)", nn=nn)
