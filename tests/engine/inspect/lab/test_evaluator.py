"""The expression evaluated again with other numbers: what is the user's stays so."""

import numpy as np
import pytest
import torch

from gradscribe.engine.inspect.lab.evaluator import (
    ExpressionEvaluator,
    as_tensor,
    clone_with_strides,
    named_tensors,
    to_cells,
)
from gradscribe.engine.protocol.check_replies import MAX_SHOWN


def trial(names, wanted, evaluate):
    return ExpressionEvaluator(names, named_tensors(names, wanted), evaluate)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).view(2, 3),
        torch.arange(6.0).view(2, 3).T,
        torch.arange(12.0).view(3, 4)[:, ::2],
        torch.arange(3.0).expand(4, 3),
        torch.tensor(2.0),
        torch.zeros(0, 3),
    ],
)
def test_a_copy_has_the_numbers_and_where_it_can_the_strides(tensor):
    copy = clone_with_strides(tensor)
    assert torch.equal(copy, tensor)
    if 0 not in tensor.stride():
        assert copy.is_contiguous() == tensor.is_contiguous()
    before = tensor.clone()
    copy.fill_(-1.0)
    assert torch.equal(tensor, before)


def test_other_numbers_take_the_place_of_an_input_for_one_evaluation():
    x = torch.ones(2)
    made = trial({"x": x, "k": 3}, ("x",), lambda scope: scope["x"] * scope["k"])
    assert made.evaluate({0: torch.tensor([5.0, 6.0])}).tolist() == [15, 18]
    assert made.evaluate({}).tolist() == [3, 3]
    assert x.tolist() == [1, 1]


def test_parts_of_a_list_can_be_replaced_one_by_one():
    parts = [torch.zeros(2), torch.ones(2)]
    made = trial({"parts": parts}, ("parts",), lambda scope: torch.cat(scope["parts"]))
    assert made.evaluate({1: torch.full((2,), 7.0)}).tolist() == [0, 0, 7, 7]
    assert torch.cat(parts).tolist() == [0, 0, 1, 1]


def test_randomness_is_the_same_each_time():
    made = trial({"x": torch.ones(50)}, ("x",), lambda s: torch.dropout(s["x"], 0.5, True))
    assert torch.equal(made.evaluate({}), made.evaluate({}))


def test_results_are_named_as_torch_names_them():
    x = torch.rand(2, 3)
    named, _ = ExpressionEvaluator.results(x.max(dim=1))
    assert [one.name for one in named] == ["values", "indices"]
    named, _ = ExpressionEvaluator.results(x.split(1, dim=1))
    assert [one.name for one in named] == ["result[0]", "result[1]", "result[2]"]
    named, text = ExpressionEvaluator.results("hello")
    assert (named, text) == ([], "'hello'")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, torch.int64),
        (1.5, torch.float64),
        (True, torch.bool),
        (1j, torch.complex64),
        (np.float32(2), torch.float32),
        (np.arange(3), torch.int64),
    ],
)
def test_numbers_and_arrays_are_tensors_too(value, dtype):
    assert as_tensor(value).dtype == dtype


@pytest.mark.parametrize("value", [None, "x", {}, np.array(["a"]), torch.eye(2).to_sparse()])
def test_other_things_are_none(value):
    assert as_tensor(value) is None


def test_cells_tell_how_a_tensor_lies_in_memory():
    base = torch.arange(12.0).view(3, 4)
    (named,) = named_tensors({"v": base[1:, ::2]}, ("v",))
    cells = to_cells(named)
    assert cells.offset == base[1:, ::2].storage_offset() == 4
    assert cells.stride == base[1:, ::2].stride() == (4, 2)
    assert cells.storage_size == 12
    assert not cells.contiguous


def test_a_big_tensor_travels_as_a_summary():
    (named,) = named_tensors({"x": torch.rand(MAX_SHOWN + 1)}, ("x",))
    assert to_cells(named).snapshot.array() is None
