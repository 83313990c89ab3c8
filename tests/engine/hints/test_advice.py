"""Hints that look at the code and at the names in sight."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn, optim

from gradscribe.engine.hints import advice
from tests.engine.hints.told import told

NAMES = {"torch": torch, "nn": nn, "F": F, "optim": optim, "math": math}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("weight = 1\nwieght", "Did you mean weight?"),
        ("Loss = 1\nloss", "Did you mean Loss?"),
        ("prnt(1)", "Did you mean print?"),
        ("randn(2)", "Did you mean torch.randn?"),
        ("cross_entropy(1)", "Did you mean F.cross_entropy?"),
        ("Linear(1, 1)", "Did you mean nn.Linear?"),
        ("SGD()", "Did you mean optim.SGD?"),
        ("plt.plot()", "Import it first: import matplotlib.pyplot as plt"),
        ("Variable(1)", "Tensors need no Variable"),
        ("true", "Python writes True."),
        ("qzx + 1", "Give qzx a value"),
        ("def f():\n    inner = 1\n    return iner\nf()", "Did you mean inner?"),
    ],
)
def test_a_name_that_is_not_there_gets_the_nearest_help(source, words):
    assert words in told(source, **NAMES)


@pytest.mark.parametrize(
    ("word", "names", "found"),
    [
        ("foo", ["floor"], ""),
        ("sume", ["sum"], "sum"),
        ("Tanh", ["tanh"], "tanh"),
        ("x", ["x", "y"], ""),
        ("_a", ["_b"], ""),
    ],
)
def test_only_near_names_are_near(word, names, found):
    assert advice.near(word, names) == found


def test_a_module_s_missing_attribute_is_looked_for_among_its_own():
    source = "net = nn.Sequential(nn.Linear(1, 1))\nnet.paramters()"
    assert told(source, **NAMES) == "Did you mean .parameters?"


def test_memory_is_told_in_a_unit_one_can_imagine():
    assert "4 TB" in told("torch.ones(10**12)", **NAMES)
