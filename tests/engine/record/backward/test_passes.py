"""Notes of hooks become executions and edges, whenever they are read."""

import torch

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run.run import execute
from tests.engine.mirror import mirror


def recorded(program):
    with Recorder("", __file__) as recorder:
        program(recorder)
    recorder.passes.process_notes()
    return recorder.log


def test_reading_in_the_middle_of_a_pass_changes_nothing():
    def program(recorder, settle):
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        if settle:
            y.register_hook(lambda g: recorder.passes.process_notes())
        else:
            y.register_hook(lambda g: None)
        (y + y * y).sum().backward()

    logs = [recorded(lambda r, s=s: program(r, s)) for s in (False, True)]
    one, two = [[(e.node, e.received, e.edges, e.hooked) for e in log.executions] for log in logs]
    assert one == two
    assert logs[0].edges == logs[1].edges
    assert [e.kind for e in logs[0].events] == [e.kind for e in logs[1].events]


def test_where_shares_meet_their_sum_is_what_arrived():
    tape = mirror("x = param([1.0, 2.0])\ny = x * 2\nL = (y * 3 + y * 4 + y).sum()\nL.backward()")
    called = {n.id: n.name for n in tape.nodes}
    first = next(n.id for n in tape.nodes if n.name == "MulBackward0")
    shares = [tape.snapshots[e.gradient].array() for e in tape.edges if e.target == first]
    (ran,) = (e for e in tape.executions if e.node == first)
    assert len(shares) == 3
    assert (tape.snapshots[ran.received[0]].array() == sum(shares)).all()
    assert not any(e.hooked for e in tape.executions), called


def test_a_sum_that_a_hook_changed_is_told_though_the_shares_were_dropped_later():
    source = (
        "x = torch.ones(100, 100, requires_grad=True)\ny = x * 2\n"
        "y.register_hook(lambda g: g * 10)\nz = y * 3 + y * 4\nz.sum().backward()\n"
        "for _ in range(40):\n    x = x * 1\n"
    )
    tape = execute(Run(1, source, memory=1_000_000))
    assert tape.dropped
    first = tape.nodes[0].id
    assert [e.hooked for e in tape.executions if e.node == first] == [True]


def test_a_node_that_runs_again_gets_an_id_of_its_own():
    tape = mirror("x = param(2.0)\ny = x**2\ny.backward(retain_graph=True)\ny.backward()")
    one, two = tape.executions
    assert one.node == two.node == one.id != two.id
    assert two.id not in {v.id for v in tape.values} | {n.id for n in tape.nodes}


def test_what_a_users_own_hook_on_the_node_sends_is_what_is_written_down():
    for when in (
        "y.grad_fn.register_hook(double)\nz = y * 1",
        "z = y * 1\ny.grad_fn.register_hook(double)",
    ):
        tape = mirror(
            "x = param(3.0)\ny = x * 2\n"
            "def double(sent, received):\n    return (sent[0] * 2, *sent[1:])\n"
            f"{when}\nz.backward()"
        )
        (leaf,) = (v.id for v in tape.values if v.name == "x" and v.is_leaf)
        sent = [tape.snapshots[e.gradient].item() for e in tape.edges if e.target == leaf]
        assert sent == [4], when
        (added,) = tape.accumulations
        assert tape.snapshots[added.sent].item() == 4


def test_a_gradient_changed_in_place_by_a_hook_is_copied_again():
    tape = mirror(
        "x = param([1.0, 2.0])\ny = x * 2\n"
        "def change(g):\n    g.mul_(3)\n"
        "y.register_hook(change)\n(y * 5).backward(tensor([1.0, 1.0]))"
    )
    by = {n.id: n.name for n in tape.nodes}
    first, second = tape.executions
    assert by[first.node] == by[second.node] == "MulBackward0"
    sent = tape.snapshots[tape.edges[first.edges[0]].gradient].array()
    assert (sent == 5).all()
    assert (tape.snapshots[second.received[0]].array() == 15).all()
    assert second.hooked


def test_grad_does_not_touch_what_leaves_hold():
    tape = mirror(
        "x = param(3.0)\n(x * 2).backward()\ng, = torch.autograd.grad(x * 5, x)\n(x * 7).backward()"
    )
    first, second = tape.accumulations
    numbers = [tape.snapshots[i].item() for i in (first.after, second.before, second.after)]
    assert numbers == [2, 2, 9]
