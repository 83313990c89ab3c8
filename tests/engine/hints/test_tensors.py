"""The hints for shapes, dtypes, devices and layers fit what torch really says."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn, optim

from gradscribe.engine.hints import tensors
from gradscribe.engine.run import errors
from tests.engine.hints.told import ROW_CHECKS, told


@pytest.mark.parametrize("check", ROW_CHECKS)
@pytest.mark.parametrize("row", tensors.ROWS, ids=lambda row: row.pattern[:40])
def test_every_row(check, row):
    check(row)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("torch.ones(2,3) @ torch.ones(4,2)", "inner sizes 3 and 4"),
        ("torch.ones(2,3) @ torch.ones(2,3)", ".T"),
        ("nn.Linear(3,2)(torch.ones(4,5))", "in_features=5"),
        ("torch.ones(2,3) + torch.ones(4)", "Sizes 3 and 4 differ in dimension 1"),
        ("torch.ones(3).expand(2, 4)", "3 would have to become 4"),
        ("torch.ones(2,3).t().view(6)", "reshape"),
        ("torch.ones(2,3).view(5)", "hold 5 elements, but the tensor has 6"),
        ("torch.ones(2,3).view(4,-1)", "6 elements cannot be divided by 4"),
        ("torch.ones(2,3) @ torch.ones(2)", "needs 3 elements, not 2"),
        ("torch.dot(torch.ones(2), torch.ones(3))", "equally many"),
        ("torch.bmm(torch.ones(2,3), torch.ones(3,2))", "batch"),
        ("torch.cat([torch.ones(2,3), torch.ones(3,2)])", "equal sizes"),
        ("torch.stack([torch.ones(2), torch.ones(3)])", "equal sizes"),
        ("nn.Conv2d(3,2,3)(torch.ones(1,1,8,8))", "takes 3 channels and is given 1"),
        ("nn.Conv2d(3,2,3)(torch.ones(1,3,2,2))", "padding"),
        ("nn.Conv2d(3,2,3)(torch.ones(3,3))", "dimensions"),
        ("F.binary_cross_entropy(torch.ones(2,1), torch.ones(2))", "one shape"),
        ("F.binary_cross_entropy(torch.tensor([2.]), torch.tensor([1.]))", "sigmoid"),
        ("F.cross_entropy(torch.ones(2,3), torch.tensor([0,1,2]))", "2 predictions and 3 targets"),
        ("F.cross_entropy(torch.ones(2,3), torch.tensor([0,7]))", "class 7:"),
        ("F.cross_entropy(torch.ones(2,3), torch.ones(2))", "torch.long"),
        ("nn.BatchNorm1d(3)(torch.ones(1,3))", "two samples"),
        ("torch.tensor([[1,2],[3]])", "equally many elements"),
        ("torch.ones(2).item()", ".sum()"),
        ("float(torch.ones(2))", ".sum()"),
        ("bool(torch.ones(2))", ".any()"),
        ("torch.ones(3)[5]", "from 0 to 2"),
        ("torch.ones(0)[0]", "empty"),
        ("torch.ones(3)[0,1]", "1 dimensions"),
        ("torch.ones(2,3).sum(5)", "-2 to 1"),
        ("nn.Embedding(3,2)(torch.tensor([5]))", "num_embeddings"),
        ("nn.Embedding(3,2)(torch.tensor([1.]))", ".long()"),
        ("torch.ones(2)[torch.ones(2)]", ".long()"),
        ("torch.ones(2)[torch.tensor([True,False,True])]", "mask"),
        ("torch.ones(2) @ torch.ones(2, dtype=torch.float64)", "same dtype"),
        ("nn.Linear(2,2)(torch.ones(2, dtype=torch.long))", "same dtype"),
        ("torch.ones(2, dtype=torch.long).mean()", ".float()"),
        ("F.softmax(torch.ones(2, dtype=torch.long), 0)", ".float()"),
        ("torch.tensor('a')", "numbers, not str"),
        ("torch.ones(2).to('meta') + torch.ones(2)", "one device"),
        ("torch.ones(2, device='foo')", "no such device"),
        ("torch.ones(10**13)", "40 TB"),
        ("nn.Linear(2,2).load_state_dict({})", "has no weight"),
        ("optim.SGD([], lr=.1)", "assign its layers to self"),
        ("optim.SGD(nn.Linear(2,2), lr=.1)", "model.parameters()"),
        ("optim.SGD([torch.ones(2, requires_grad=True) * 2], lr=.1)", "leaves"),
        ("optim.SGD(nn.Linear(2,2).parameters(), lr=-1)", "0 or more"),
        ("torch.linalg.inv(torch.zeros(2,2))", "diagonal"),
        ("F.linear(1)", "must be Tensor; here it is int"),
        ("torch.add(torch.ones(2))", "compare with the forms"),
    ],
)
def test_torchs_own_error_gets_its_hint(source, words):
    assert words in told(source, torch=torch, nn=nn, F=F, optim=optim)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_a_device_that_is_not_there_is_named_so():
    assert "no such device" in told("torch.ones(2).cuda()", torch=torch)


def test_hints_never_raise_whatever_the_exception_does():
    class Odd(RuntimeError):
        def __str__(self):
            raise KeyError

    assert errors.to_problem(Odd(), "", "<program>").hint == ""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nn.Conv2d(3, 8, 3)(torch.zeros(1, 9, 9, 3))", ".permute(0, 3, 1, 2)"),
        ("nn.Linear(8, 1)(nn.LSTM(4, 8)(torch.zeros(5, 2, 4)))", "output, state = rnn(x)"),
        ("x = torch.zeros(3)\nx[0] = torch.ones(2)", "holds a single number, the value has"),
        ("torch.ones(2, 2) @ torch.ones(2).half()", "same dtype"),
        ("nn.Sequential(nn.Linear(3, 4), nn.ReLU)", "nn.ReLU()"),
        ("optim.SGD([torch.ones(1, requires_grad=True)], lr=1).backward()", "loss.backward()"),
        ("torch.utils.data.TensorDataset(torch.ones(3), torch.ones(4))", "the same length"),
    ],
)
def test_what_learners_run_into(source, words):
    assert words in told(source, torch=torch, nn=nn, optim=torch.optim)
