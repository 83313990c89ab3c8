"""Doors that are shut in every program: trusted ones are told so and else notice nothing."""

import copy
from typing import Protocol

import numpy as np
import pytest
import torch
from torch import nn

from engine.policy import closed


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
    class Plain:
        pass

    class Asked(Protocol):
        def size(self): ...

    class Answers(Asked):
        def size(self): ...

    for kind in (Plain, Answers):
        closed.close(kind)
        one = kind()
        vars(one).update({"__array_interface__": {"data": (8, False)}, "__deepcopy__": print})
        assert np.asarray(one).dtype == object
        assert type(copy.deepcopy(one)) is kind


def test_a_module_answers_for_no_name_that_python_asks_for():
    part = nn.Sequential()
    part.add_module("__array_interface__", nn.Linear(1, 1))
    assert not hasattr(part, "__array_interface__")
    assert part.training
