"""Tensors that travel end to end arrive as they were."""

import pytest
import torch

from gradscribe.engine.train.arrays import pack_flat, unpack_flat

TENSORS = [
    torch.tensor([[1.0, -0.0], [float("nan"), float("inf")]]),
    torch.tensor(1 / 3, dtype=torch.float64),
    torch.tensor([2**53 + 1, -1]),
    torch.zeros(0, 3),
    torch.tensor([1.5, 2.5], dtype=torch.bfloat16),
    torch.tensor([True, False]),
    torch.arange(6.0).reshape(2, 3).T,
    torch.tensor([0.1], dtype=torch.float16, requires_grad=True),
]


def test_every_number_arrives_with_its_bits():
    for tensor, back in zip(TENSORS, unpack_flat(pack_flat(TENSORS), TENSORS), strict=True):
        assert back.shape == tensor.shape
        torch.testing.assert_close(
            back.to(tensor.dtype), tensor.detach(), rtol=0, atol=0, equal_nan=True
        )
        assert torch.equal(back.to(tensor.dtype).signbit(), tensor.signbit())


def test_zeros_that_a_sparse_tensor_does_not_hold_travel_too():
    sparse = torch.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    (back,) = unpack_flat(pack_flat([sparse]), [torch.empty(2, 2)])
    assert back.tolist() == [[0.0, 2.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    "others",
    [TENSORS[:-1], [*TENSORS, torch.zeros(1)], [*TENSORS, torch.zeros(1, dtype=torch.float64)], []],
)
def test_numbers_of_other_tensors_are_refused(others):
    with pytest.raises(ValueError, match="other tensors"):
        list(unpack_flat(pack_flat(TENSORS), others))


def test_nothing_is_joined_to_nothing():
    assert list(unpack_flat(pack_flat([]), [])) == []
