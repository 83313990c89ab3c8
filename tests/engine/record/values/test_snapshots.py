"""A snapshot holds exactly the tensor's numbers, or a summary that torch agrees with."""

import numpy as np
import pytest
import torch

from gradscribe.engine.record.values import snapshots as values_snapshots
from gradscribe.engine.record.values.snapshots import (
    THUMBNAIL_SIDE,
    snapshot,
    snapshots,
    without_expanded,
)


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
        torch.uint16,
        torch.uint32,
        torch.uint64,
        torch.bool,
        torch.complex64,
        torch.complex128,
    ],
)
def test_every_dtype_keeps_its_numbers(dtype):
    t = torch.tensor([[0, 1, 3], [2, 0, 1]]).to(dtype)
    made = snapshot(t)
    assert made.dtype == str(dtype).removeprefix("torch.")
    assert made.array().tolist() == t.tolist()


def test_whole_numbers_past_what_a_float_can_hold_stay_whole():
    for dtype, number in (
        (torch.uint32, 2**32 - 1),
        (torch.uint64, 2**63 + 1),
        (torch.int64, -(2**62) - 1),
    ):
        assert snapshot(torch.tensor([number], dtype=dtype)).item() == number


def test_a_scalar_has_one_item_and_no_dimensions():
    made = snapshot(torch.tensor(2.5))
    assert made.shape == ()
    assert made.item() == 2.5


def test_nan_and_infinity_survive():
    made = snapshot(torch.tensor([float("nan"), float("inf"), -float("inf")]))
    np.testing.assert_array_equal(made.array(), [np.nan, np.inf, -np.inf])


def test_an_empty_tensor_has_no_numbers_but_a_shape():
    made = snapshot(torch.empty(0, 3))
    assert made.shape == (0, 3)
    assert made.numel == 0


def test_views_conjugates_and_sparse_tensors_are_read_as_they_look():
    t = torch.arange(6.0).view(2, 3)
    assert snapshot(t.T).array().tolist() == t.T.tolist()
    z = torch.tensor([1 + 2j]).conj()
    assert snapshot(z).array().tolist() == [1 - 2j]
    assert snapshot(t.to_sparse()).array().tolist() == t.tolist()


def test_a_big_tensor_becomes_a_summary():
    t = torch.randn(200, 30)
    t[0, 0], t[1, 1] = float("nan"), float("inf")
    made = snapshot(t)
    assert made.data is None
    assert (made.nan, made.inf) == (1, 1)
    assert made.thumb_shape == (THUMBNAIL_SIDE, 30)
    thumb = np.frombuffer(made.thumb, np.float32).reshape(made.thumb_shape)
    assert thumb[1, 5] == t[200 // THUMBNAIL_SIDE, 5]


def test_statistics_are_torchs():
    t = torch.randn(50, 50) * 3 + 1
    made = snapshot(t)
    double = t.double()
    assert made.mean == pytest.approx(double.mean().item(), rel=1e-12)
    assert made.std == pytest.approx(double.std().item(), rel=1e-12)
    assert (made.min, made.max) == (t.min().item(), t.max().item())
    assert made.norm == pytest.approx(double.norm().item(), rel=1e-12)


def test_a_tiny_norm_does_not_underflow():
    assert snapshot(torch.full((2000,), 1e-30)).norm == pytest.approx(1e-30 * 2000**0.5, rel=1e-6)


def test_as_many_dimensions_as_torch_has_are_read():
    made = snapshot(torch.full((1,) * 64, 3.0))
    assert (len(made.shape), np.frombuffer(made.data, "<f4").item()) == (64, 3.0)
    assert snapshot(torch.zeros((1,) * 62 + (100, 100))).max == 0


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1, 0, 5), (4, 3)])
def test_what_both_views_repeat_is_there_once_and_what_is_empty_stays_so(shape):
    a, b = (torch.full((1,) * len(shape), number).expand(shape) for number in (1.0, 2.0))
    one, two = without_expanded(a, b)
    assert one.numel() == min(a.numel(), 1)
    assert torch.equal(one, two) == torch.equal(a, b)


def test_a_huge_expanded_view_costs_no_memory():
    made = snapshot(torch.ones(1).expand(10**9))
    assert made.numel == 10**9
    assert made.mean is None
    assert made.thumb is not None


ALIKE = {
    "numbers": [torch.arange(6.0).view(2, 3) * i for i in range(5)],
    "half and complex": [torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.complex64)],
    "empty": [torch.empty(0, 3), torch.empty(0, 3)],
    "big": [torch.linspace(-i, i, 3000).view(30, 100) for i in range(4)],
    "big complex": [torch.full((2000,), complex(1, i)) for i in range(3)],
    "not a number": [torch.full((1500,), x) for x in (float("nan"), float("inf"), 1.0)],
    "sparse": [torch.eye(3).to_sparse(), torch.eye(3).to_sparse()],
    "views": [torch.arange(6.0).view(2, 3).T, torch.ones(3, 1).expand(3, 2)],
    "conjugates": [torch.tensor([1 + 2j]).conj(), torch.tensor([3 + 2j])],
}


@pytest.mark.parametrize("tensors", ALIKE.values(), ids=ALIKE)
def test_many_at_once_are_what_each_is_alone(tensors):
    mixed = [t for pair in zip(tensors, reversed(tensors), strict=True) for t in pair]
    for made, t in zip(snapshots(mixed), mixed, strict=True):
        alone = snapshot(t)
        assert (made.shape, made.dtype, made.store) == (alone.shape, alone.dtype, alone.store)
        assert (made.data, made.thumb) == (alone.data, alone.thumb)
        assert (made.nan, made.inf) == (alone.nan, alone.inf)
        for name in ("mean", "std", "min", "max", "norm"):
            mine, its = getattr(made, name), getattr(alone, name)
            assert (mine is None) == (its is None)
            if its is not None:
                assert mine == pytest.approx(its, rel=1e-12, abs=1e-15, nan_ok=True), name


def test_thumbnails_of_very_many_tensors_are_coarser(monkeypatch):
    monkeypatch.setattr(values_snapshots, "THUMBNAIL_BYTES", 4 * 100 * 10)
    tensors = [torch.randn(2000) for _ in range(10)]
    assert {s.thumb_shape for s in snapshots(tensors)} == {(10, 10)}
    assert {s.thumb_shape for s in snapshots(tensors * 100)} == {(6, 6)}
    assert {s.thumb_shape for s in snapshots(tensors[:1])} == {(31, 31)}


def test_what_torch_cannot_read_is_told_by_its_shape():
    (made,) = snapshots([torch.empty(3, 2, device="meta")])
    assert (made.shape, made.data) == ((3, 2), None)


@pytest.mark.parametrize("shift", [0.0, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1.0, 1e100])
def test_statistics_keep_their_digits_whatever_the_mean_and_the_scale(shift, scale):
    t = (torch.randn(3000, dtype=torch.float64) + shift) * scale
    made = snapshot(t)
    # Divided by the scale, where plain torch itself neither overflows nor vanishes.
    alone = t / scale
    assert made.std / scale == pytest.approx(float(alone.std()), rel=1e-9)
    assert made.mean / scale == pytest.approx(float(alone.mean()), rel=1e-12)
    assert made.norm / scale == pytest.approx(float(alone.norm()), rel=1e-12)


def test_a_row_with_infinities_does_not_spoil_those_read_with_it():
    tensors = [torch.randn(2000) for _ in range(3)]
    tensors[1][5], tensors[1][6] = torch.inf, torch.nan
    made = snapshots(tensors)
    assert (made[1].nan, made[1].inf) == (1, 1)
    for index in (0, 2):
        exact = tensors[index].double()
        assert (made[index].nan, made[index].inf) == (0, 0)
        assert made[index].std == pytest.approx(float(exact.std()), rel=1e-12)
        assert made[index].min == float(tensors[index].min())
        assert made[index].max == float(tensors[index].max())


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.t(),
        lambda t: t[3:40],
        lambda t: t.t()[:, 5:],
        lambda t: t[:, ::2],
        lambda t: t.unsqueeze(1).expand(-1, 3, -1),
        lambda t: t.view(4, 16, 128).permute(2, 0, 1),
    ],
)
def test_statistics_of_a_view_are_those_of_its_own_numbers(view):
    t = view(torch.randn(64, 128))
    made, exact = snapshot(t), t.double()
    assert made.mean == pytest.approx(float(exact.mean()), rel=1e-9, abs=1e-12)
    assert made.std == pytest.approx(float(exact.std()), rel=1e-9)
    assert made.norm == pytest.approx(float(exact.norm()), rel=1e-9)
    assert (made.min, made.max) == (float(t.min()), float(t.max()))


LAYOUTS = {
    "coo": (lambda t: t.to_sparse(), "_indices"),
    "hybrid coo": (lambda t: t.to_sparse(1), "_indices"),
    "csr": (lambda t: t.to_sparse_csr(), "col_indices"),
    "csc": (lambda t: t.to_sparse_csc(), "row_indices"),
    "bsr": (lambda t: t.to_sparse_bsr((2, 2)), "col_indices"),
    "bsc": (lambda t: t.to_sparse_bsc((2, 2)), "row_indices"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:Sparse")
def test_indices_that_lead_out_of_a_sparse_tensor_are_not_followed(layout):
    make, indices = LAYOUTS[layout]
    whole = torch.arange(16.0).reshape(4, 4)
    t = make(whole)
    (sound,) = snapshots([t])
    assert sound.array().tolist() == whole.tolist()
    # So far out that torch, which does not look, would write into memory that is not there.
    getattr(t, indices)().view(-1)[0] = 10**15
    (broken,) = snapshots([t])
    assert (broken.shape, broken.data) == ((4, 4), None)
