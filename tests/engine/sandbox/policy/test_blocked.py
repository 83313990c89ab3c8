"""Doors that are shut in every program: trusted ones are told so and else notice nothing."""

import copy
import types
from typing import Protocol

import numpy as np
import pytest
import torch
from torch import nn

from gradscribe.engine.sandbox.policy import blocked, ownership


def test_old_constructors_take_what_they_always_took_but_no_address():
    assert torch.Tensor([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor().shape == (0,)

    class Own(torch.Tensor):
        pass

    assert type(Own([3.0])) is Own
    assert isinstance(nn.Parameter(torch.ones(1)), torch.Tensor)
    with pytest.raises(TypeError, match="address"):
        torch.Tensor(cdata=8)
    assert copy.deepcopy(nn.Parameter(torch.ones(2))).tolist() == [1.0, 1.0]


def test_an_object_of_a_closed_class_tells_nothing_whatever_its_dict_says():
    class Asked(Protocol):
        def size(self): ...

    for bases in ((), (Asked,), (dict,)):
        names = {}
        blocked.block_address_protocols(ownership.all_bases(bases), names)
        kind = types.new_class("Own", bases, exec_body=lambda made, of=names: made.update(of))
        one = kind()
        vars(one).update({"__array_interface__": {"data": (8, False)}, "__deepcopy__": print})
        assert np.asarray(one).dtype == object
        assert type(copy.deepcopy(one)) is kind


def test_a_module_answers_for_no_name_that_python_asks_for():
    part = nn.Sequential()
    part.add_module("__array_interface__", nn.Linear(1, 1))
    assert not hasattr(part, "__array_interface__")
    assert part.training


def test_bags_of_embeddings_are_what_plain_sums_are_and_stay_in_their_table():
    weight = torch.arange(12.0).reshape(4, 3).requires_grad_()
    found = nn.functional.embedding_bag(
        torch.tensor([0, 3, 3, 1]), weight, torch.tensor([0, 2]), mode="sum"
    )
    assert torch.equal(found, torch.stack([weight[0] + weight[3], weight[3] + weight[1]]))
    found.sum().backward()
    assert weight.grad[:, 0].tolist() == [1.0, 1.0, 0.0, 2.0]
    for index in (4, -1, 10**6):
        with pytest.raises(IndexError, match="index out of range in self"):
            nn.EmbeddingBag(4, 3)(torch.tensor([[0, index]]))
    with pytest.raises(IndexError, match="must not go down"):
        torch.embedding_bag(weight, torch.tensor([0, 1, 1]), torch.tensor([0, 3, 1]))


def test_labels_are_looked_at_up_to_their_length_and_what_pads_them_may_be_anything():
    words = torch.zeros(5, 2, 3).log_softmax(2)
    sizes = torch.tensor([5, 5]), torch.tensor([2, 1])
    padded = torch.tensor([[1, 2], [1, -100]])
    whole = torch.tensor([1, 2, 1])
    loss = nn.functional.ctc_loss(words, padded, *sizes)
    assert torch.allclose(loss, nn.functional.ctc_loss(words, whole, *sizes))
    for wrong in (torch.tensor([[1, 3], [1, 0]]), torch.tensor([1, -2, 1])):
        with pytest.raises(IndexError, match="is out of bounds"):
            nn.functional.ctc_loss(words, wrong, *sizes)
    meta = nn.functional.embedding_bag(
        torch.zeros(1, 2, dtype=torch.long, device="meta"), torch.ones(4, 3, device="meta")
    )
    assert meta.shape == (1, 3)
