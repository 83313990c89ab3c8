"""Copies of numbers: bounded, shared by views, in memory that is used again."""

import pytest
import torch

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.engine.record.log import Log
from gradscribe.engine.record.values import copies as module
from gradscribe.engine.record.values.copies import SnapshotStore
from gradscribe.engine.run.run import record
from tests.engine.mirror import plain

BIG = 64 * 64


def kept(copies: SnapshotStore, t: torch.Tensor) -> torch.Tensor | Snapshot:
    return copies.log.snapshots[copies.keep(t)]


@pytest.fixture
def copies():
    made = SnapshotStore(Log(100), 8 * BIG * 4, lambda: None)
    yield made
    made.release()


def test_a_copy_stays_when_the_tensor_changes(copies):
    for size in (3, BIG):
        t = torch.randn(size)
        before, copy = t.clone(), kept(copies, t)
        t.zero_()
        assert torch.equal(copy, before)


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.t(),
        lambda t: t[8:],
        lambda t: t[:, 16:],
        lambda t: t.t().view(16, 256).transpose(0, 1),
        lambda t: t.unsqueeze(0).expand(3, -1, -1),
        lambda t: t[::2],
    ],
)
def test_a_view_is_shared_and_holds_the_same_numbers(copies, view):
    whole = torch.randn(64, 64).t()
    index = copies.keep(whole)
    shared = copies.share(view(whole), whole, index)
    assert torch.equal(copies.log.snapshots[shared], view(whole))
    copy = copies.log.snapshots[index]
    assert copies.log.snapshots[shared].untyped_storage()._cdata == copy.untyped_storage()._cdata


@pytest.mark.parametrize(
    "other",
    [
        lambda base: torch.randn(64, 64),
        lambda base: base,
        lambda base: base[1:65].view(torch.int32),
        lambda base: base[33:97],
        lambda base: torch._neg_view(base[1:65]),
    ],
)
def test_what_is_no_view_of_the_whole_is_not_shared(copies, other):
    base = torch.randn(128, 64)
    whole = base[1:65]
    assert copies.share(other(base), whole, copies.keep(whole)) is None


def test_a_whole_with_gaps_is_not_shared(copies):
    whole = torch.randn(128, 64)[:, ::2]
    assert copies.share(whole[1:], whole, copies.keep(whole)) is None


def test_a_whole_whose_elements_share_memory_is_not_shared(copies):
    # As many elements as memory between the first and the last, and yet not all of it.
    whole = torch.randn(2 * 64).as_strided((2, 2), (0, 3))
    assert copies.share(whole[:, 1:], whole, copies.keep(whole)) is None


def test_a_summary_is_not_shared(copies):
    whole = torch.randn(9 * BIG)
    index = copies.keep(whole)
    assert isinstance(copies.log.snapshots[index], Snapshot)
    assert copies.share(whole[5:], whole, index) is None


def test_views_become_summaries_with_their_whole(copies):
    first = torch.randn(64, 64)
    index = copies.keep(first)
    shared = copies.share(first.t(), first, index)
    for _ in range(9):
        copies.keep(torch.randn(BIG))
    whole, view = copies.log.snapshots[index], copies.log.snapshots[shared]
    assert isinstance(whole, Snapshot)
    assert isinstance(view, Snapshot)
    assert whole.norm == view.norm == pytest.approx(float(first.double().norm()))
    assert copies.log.dropped >= 2


def test_memory_is_used_again_but_never_while_it_is_held(copies):
    t = torch.randn(96, 96)
    first = kept(copies, t)
    address, numbers = first.data_ptr(), first.clone()
    second = SnapshotStore(Log(100), 8 * BIG * 4, lambda: None)
    assert kept(second, torch.randn(96, 96)).data_ptr() != address
    assert torch.equal(first, numbers)
    copies.release()
    again, t = SnapshotStore(Log(100), 8 * BIG * 4, lambda: None), torch.randn(96, 96)
    copy = kept(again, t)
    assert copy.data_ptr() == address
    assert torch.equal(copy, t)
    second.release()
    again.release()


def test_what_was_given_back_does_not_count_against_the_budget(copies):
    for _ in range(3):
        copies.keep(torch.randn(96, 96))
    copies.release()
    for _ in range(3):
        assert isinstance(kept(copies, torch.randn(96, 96)), torch.Tensor)
    assert all(isinstance(one, torch.Tensor) for one in copies.log.snapshots)


def test_spare_memory_is_given_up_for_copies_of_another_shape(copies):
    for _ in range(3):
        copies.keep(torch.randn(96, 96))
    copies.release()
    assert sum(map(len, module._cached.values())) == 3
    copies.keep(torch.randn(3, BIG))
    assert sum(map(len, module._cached.values())) == 1


def test_inference_tensors_and_transforms_are_copied_too(copies):
    copies.keep(torch.randn(3 * BIG))
    copies.release()
    with torch.inference_mode():
        t = torch.randn(3 * BIG)
        assert torch.equal(kept(copies, t), t)
    outside, found = torch.randn(3 * BIG), []

    def inside(x):
        found.append(kept(copies, outside))
        return x * 2

    torch.func.grad(inside)(torch.tensor(1.0))
    assert torch.equal(found[0], outside)
    copies.release()
    assert not any(t.is_inference() for some in module._cached.values() for t in some)


def test_gradients_through_views_are_right_in_two_runs_of_one_program():
    source = (
        "w = param(torch.randn(64, 48))\nx = torch.randn(32, 48)\n"
        "y = (x @ w.t()).view(16, 2, 64).transpose(0, 1)\n"
        "y.reshape(-1).expand(2, -1).mul(torch.randn(2, 2048)).sum().backward()\n"
    )
    for seed in (0, 1):
        names, _, _ = plain(source, seed)
        tape = record(source, seed=seed)
        norm = tape.snapshots[tape.accumulations[0].after].norm
        assert norm == pytest.approx(float(names["w"].grad.double().norm()), rel=1e-12)


def test_a_view_of_a_tensor_that_was_kept_is_not_copied(copies):
    base = torch.randn(128, 64)
    base[0, 0], base[0, 1] = torch.nan, -0.0
    index = copies.keep(base)
    view = copies.keep_view(base.t(), base, index)
    found = copies.log.snapshots[view]
    address = copies.log.snapshots[index].data_ptr()
    assert found.data_ptr() == address
    assert torch.equal(found.view(torch.int32), base.t().view(torch.int32))


@pytest.mark.parametrize("number", [7.0, -0.0])
def test_a_view_of_a_tensor_that_was_written_to_unseen_is_copied(copies, number):
    base = torch.zeros(128, 64)
    index = copies.keep(base)
    base.data[3, 3] = number
    view = copies.keep_view(base.t(), base, index)
    assert copies.log.snapshots[index][3, 3].item() == 0
    kept = copies.log.snapshots[view].view(torch.int32)
    assert torch.equal(kept, base.t().view(torch.int32))


WITH_SPARSE_GRADIENTS = [
    "e = nn.Embedding(500, 16, sparse=True)\nloss = e(torch.tensor([1, 499, 1])).pow(2).sum()",
    "e = torch.eye(99).to_sparse().requires_grad_()\nloss = torch.sparse.mm(e, e.to_dense()).sum()",
    "e = torch.eye(99).to_sparse().requires_grad_()\nloss = (e.to_dense() * 3).sum()",
    "e = param(torch.ones(99, 99))\nloss = (torch.eye(99).to_sparse() @ e).sum()",
]


@pytest.mark.parametrize("made", WITH_SPARSE_GRADIENTS)
def test_a_big_sparse_gradient_has_no_memory_to_share(made):
    tape = record(f"{made}\nloss.backward()")
    names, _, error = plain(f"{made}\nloss.backward()")
    assert error is tape.error is None
    leaf = names["e"] if isinstance(names["e"], torch.Tensor) else names["e"].weight
    grads = [a.after for a in tape.accumulations if a.after is not None]
    norms = [tape.snapshots[g].norm for g in grads]
    assert float(leaf.grad.to_dense().norm()) in [pytest.approx(n) for n in norms]


def test_of_an_expanded_view_only_what_there_is_of_it_is_compared():
    tape = record("x = torch.ones(1).expand(10**15)\ny = x[:3] + 1\n", timeout=20.0)
    assert (tape.status, tape.error) == ("ok", None)


def test_an_expanded_view_of_nothing_is_compared_too():
    tape = record(
        "x = param([2.0]).expand(0)\ny = torch.ones(1).expand(3, 0, 1)\nx.sum().backward()\n"
    )
    assert (tape.status, tape.error) == ("ok", None)
