"""A parameter that is changed through another tensor of its memory has its new numbers at once."""

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.explain.page import explain
from gradscribe.playback.tape.index import index_of

CHANGES = (
    "w.data.fill_(5.0)",
    "w.data.copy_(torch.full((2,), 5.0))",
    "w.data[:] = 5.0",
    "w.data[0] = 5.0\nw.data[1] = 5.0",
    "w.data.mul_(0).add_(5.0)",
    "w.data = torch.full((2,), 5.0)",
    "w.detach().fill_(5.0)",
    "w.view(2).data.fill_(5.0)",
    "torch.nn.init.constant_(w, 5.0)",
    "w.detach().numpy()[:] = 5.0",
    "v = w.data\nu = v.view(1, 2)\nu.fill_(5.0)",
)


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_op_is_given_the_new_numbers(change):
    source = (
        "import torch\n"
        "w = torch.ones(2, requires_grad=True)\n"
        f"a = (w * 2).sum()\n{change}\n"
        "b = (w * w).sum()\nb.backward()\n"
    )
    scope: dict[str, object] = {}
    exec(source, scope)
    tape = record(source)
    index = index_of(tape)
    square = next(
        n
        for n, op in enumerate(tape.ops)
        if op.op == "mul" and len(op.inputs) == 2 and len(set(op.inputs)) == 1
    )
    given = index.values[tape.ops[square].inputs[0]]
    assert tape.snapshots[given.snapshot].array().tolist() == [5.0, 5.0]
    assert given.name == "w"
    rows = explain(tape, op=square, position=index.op_events[square] + 1).rows
    assert [row.number for row in rows] == ["[5, 5]", "[5, 5]", "[25, 25]"]
    last = len(tape.events)
    gradient = index.gradient(index.first_version(given.id), last).snapshot
    wanted = scope["w"]
    assert isinstance(wanted, torch.Tensor)
    assert tape.snapshots[gradient].array().tolist() == wanted.grad.tolist() == [10.0, 10.0]
    now = index.snapshot_at(given.id, last)
    assert tape.snapshots[now].array().tolist() == [5.0, 5.0]


def test_nothing_is_said_twice():
    tape = record(
        "import torch\nw = torch.nn.Parameter(torch.ones(2))\nw.data.fill_(5.0)\ny = w * 2\n"
    )
    index = index_of(tape)
    assert [event.kind for event in tape.events].count("write") == 1
    (home,) = {index.first_version(v.id) for v in tape.values if v.role == "parameter"}
    assert len(index.updates[home]) == 1
