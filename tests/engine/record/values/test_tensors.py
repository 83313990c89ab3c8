"""Snapshots are what the tensor was then, whatever happens to it later, and memory is bounded."""

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.engine.record.values.tensors import same_elements
from gradscribe.engine.run import run
from gradscribe.engine.run.run import execute, record
from tests.engine.mirror import mirror


def test_a_snapshot_keeps_the_numbers_of_its_moment():
    tape = mirror("x = torch.zeros(2)\ny = x + 1\nx.fill_(7)\nx.data[1] = 8")
    first = next(v for v in tape.values if v.name == "x")
    assert tape.snapshots[first.snapshot].array().tolist() == [0, 0]


def test_past_the_budget_the_oldest_values_become_summaries_and_the_structure_stays():
    source = "x = torch.ones(200, 100)\nfor _ in range(5):\n    x = x * 2\nprint(x.sum())"
    tape = execute(Run(1, source, memory=200_000))
    kept = run.last_run.recorder.log.snapshots
    assert [isinstance(s, torch.Tensor) for s in kept[:6]] == [False] * 4 + [True] * 2
    assert tape.dropped == 4
    assert len([o for o in tape.ops if o.op == "mul"]) == 5
    last = next(v for v in reversed(tape.values) if v.name == "x")
    assert tape.snapshots[last.snapshot].max == 32


UNCOUNTED = {
    "running statistics": (
        "norm = nn.BatchNorm1d(2000)\n"
        "for i in range(3):\n    y = norm(torch.randn(8, 2000) + i)\n"
        "a, b = norm.running_mean, norm.running_var"
    ),
    "a fused step": (
        "a = param(torch.ones(60, 60))\nb = param(torch.zeros(60, 60))\n"
        "opt = optim.Adam([a, b], fused=True)\n"
        "for i in range(3):\n    opt.zero_grad()\n    (a * 2 + b).sin().sum().backward()\n"
        "    opt.step()"
    ),
    "data, NumPy and a view of it": (
        "a = torch.ones(60, 60)\nb = a[1:]\nn = b.numpy()\n"
        "c = [a * i for i in range(6)]\n"
        "a.data[3, 3] = 7.0\nn[40, 5] = -9.0\nd = a + 1\nb.mul_(float('nan'))"
    ),
    "nothing at all": (
        "a = param(torch.randn(60, 60))\nb = torch.full((60, 60), torch.inf)\nc = a.T[1:]\n"
        "d = [torch.randn(60, 60) for _ in range(9)]\ne = [one * 1.5 + a for one in d]\n"
        "n = b.numpy()\nm = d[0].numpy()\n"
        "sum(e).sum().backward()\nprint(a.grad.sum(), b.sum())"
    ),
}


@pytest.mark.parametrize("memory", [40_000, 9_000])
@pytest.mark.parametrize("source", UNCOUNTED.values(), ids=UNCOUNTED.keys())
def test_a_change_that_is_not_counted_is_seen_where_only_a_summary_is_kept(source, memory):
    full = execute(Run(1, source))
    names = run.last_run.names
    ends = {name: names[name].detach() for name in "ab"}
    small = execute(Run(1, source, memory=memory))
    assert full.dropped == 0 < small.dropped
    assert [(e.kind, e.line) for e in small.events] == [(e.kind, e.line) for e in full.events]
    assert [(v.name, v.op, v.tensor) for v in small.values] == [
        (v.name, v.op, v.tensor) for v in full.values
    ]
    for name, end in ends.items():
        tensor = run.last_run.recorder.tensors.known(run.last_run.names[name]).tensor
        last = next(v for v in reversed(small.values) if v.tensor == tensor)
        told = small.snapshots[last.snapshot]
        np.testing.assert_array_equal((told.min, told.max), (end.min(), end.max()))


@pytest.mark.parametrize(
    ("made", "writes"),
    [
        ("torch.eye(3).to_sparse()", 0),
        ("torch.sparse_coo_tensor([[0, 0, 2]], [1.0, 2.0, 3.0], (4,))", 0),
        ("torch.eye(3).to_sparse_csr()", 0),
        ("torch.eye(3).to_sparse()\na._values().data[0] = 5.0", 1),
    ],
)
def test_a_sparse_tensor_has_changed_only_where_its_numbers_have(made, writes):
    tape = record(f"a = {made}\nb = a * 2")
    assert tape.error is None
    assert len(tape.writes) == writes
    assert sum(v.name == "a" for v in tape.values) == 1 + writes


def test_tensors_without_numbers_have_no_snapshot():
    tape = record("a = torch.empty(2, device='meta')\nb = a * 2")
    assert [v.snapshot for v in tape.values] == [None, None]
    assert tape.values[1].shape == (2,)


def test_a_tensor_that_died_does_not_lend_its_id_to_another():
    tape = record("for i in range(50):\n    t = torch.ones(3) * i\n    del t")
    made = [v for v in tape.values if v.op is not None]
    assert len({v.tensor for v in made}) == 50
    assert [tape.snapshots[v.snapshot].array()[0] for v in made] == list(range(50))


def test_equality_of_numbers_knows_nan_shape_and_dtype():
    nan = torch.tensor([1.0, float("nan")])
    assert same_elements(nan, nan.clone())
    assert not same_elements(nan, torch.tensor([2.0, float("nan")]))
    assert not same_elements(torch.ones(2), torch.ones(1, 2))
    assert not same_elements(torch.ones(1), torch.ones(1, dtype=torch.float64))
    small = torch.ones(2).to(torch.float8_e4m3fn)
    assert same_elements(small, small.clone())
    assert not same_elements(small, torch.zeros(2).to(torch.float8_e4m3fn))
    inf = torch.tensor([float("inf")])
    assert not same_elements(inf, torch.tensor([torch.finfo(torch.float32).max]))


def test_flags_that_change_are_told_by_their_last_state():
    tape = record(
        "x = torch.ones(1)\nx.requires_grad_()\ny = torch.ones(1)\ny.requires_grad = True"
    )
    assert [v.role for v in tape.values] == ["parameter", "parameter"]


def test_numbers_kept_are_a_snapshot_or_a_copy():
    tape = record("x = torch.ones(3)")
    assert all(isinstance(s, Snapshot) for s in tape.snapshots)


def test_memory_that_is_used_again_is_not_taken_for_shared():
    tape = record("for i in range(20):\n    t = torch.ones(3) * i\n    v = t[:2]\n    del t, v")
    values = {v.id: v for v in tape.values}
    products = [values[o.outputs[0]] for o in tape.ops if o.op == "mul"]
    views = [values[o.outputs[0]] for o in tape.ops if o.op == "getitem"]
    assert len({v.storage for v in products}) == 20
    assert [v.storage for v in views] == [v.storage for v in products]


def test_a_view_that_outlives_its_base_keeps_their_memory_apart_from_others():
    tape = record("t = torch.ones(3) * 2\nv = t[:2]\ndel t\nu = torch.ones(3) * 3\nw = v[:1]")
    values = {v.name: v for v in tape.values}
    assert values["w"].storage == values["v"].storage != values["u"].storage


def test_a_view_that_is_only_read_is_not_what_changed_its_base():
    tape = record(
        "base = param([[1.0, 2.0], [3.0, 4.0]]) * 1.0\nrow = base[0]\nbase.mul_(2)\n"
        "other = base.t()\ns = row.sum()"
    )
    values = {value.id: value for value in tape.values}
    (sum_,) = (op for op in tape.ops if op.op == "sum")
    row = values[sum_.inputs[0]]
    assert row.name == "row"
    assert tape.ops[row.op].op == "mul_"


FREED = """\
flat = torch.zeros(100)
part = flat.view(10, 10)[2:4]
late = flat[5:10]
with torch.no_grad():
    flat.untyped_storage().resize_(0)
    inside = part.view(20)
    other = late.view(5, 1)
    whole = flat.view(4, 25)
    flat.untyped_storage().resize_(400)
    flat.fill_(3.0)
last = flat.sum()
"""


def test_memory_that_was_given_back_is_not_read():
    """FSDP does so with parameters that it has gathered: torch itself would read from nowhere."""
    tape = run.record(FREED)
    assert (tape.status, tape.truncated) == ("ok", "")
    # The first value of each: at the end they have memory again.
    kept = {value.name: value.snapshot for value in reversed(tape.values)}
    assert kept["inside"] is kept["other"] is kept["whole"] is None
    assert tape.snapshots[kept["last"]].item() == 300.0
