"""Tapes survive the wire unchanged, and snapshots read back as numpy arrays."""

import msgspec
import numpy as np

from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.engine.run.run import record


def test_a_tape_is_the_same_after_the_wire():
    tape = record("x = param([1.0, 2.0])\n(x**2).sum().backward()\nprint(x.grad)\nzz")
    packed = msgspec.msgpack.encode(tape)
    assert msgspec.msgpack.decode(packed, type=Tape) == tape


def test_references_lead_somewhere():
    tape = record("net = nn.Linear(2, 2)\nnet(torch.ones(1, 2)).sum().backward()")
    values = {v.id for v in tape.values}
    nodes = {n.id for n in tape.nodes}
    assert not values & nodes
    for op in tape.ops:
        assert values.issuperset({*op.inputs, *op.outputs})
        assert nodes.issuperset(op.nodes)
    for edge in tape.edges:
        assert edge.target in values | nodes
    for event in tape.events:
        assert event.ref >= 0


def test_a_snapshot_reads_back_row_by_row():
    made = Snapshot((2, 2), "int64", "<i8", np.arange(4).tobytes())
    assert made.array().tolist() == [[0, 1], [2, 3]]
    assert made.item() is None
    assert Snapshot((), "bool", "|b1", b"\x01").item() is True
