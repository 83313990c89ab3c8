import gc
import weakref

import numpy as np

from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.phases import phases


def number(tape, snapshot):
    return None if snapshot is None else tape.snapshots[snapshot].item()


def named(tape, name):
    return next(v.id for v in tape.values if v.name == name)


def test_the_index_of_a_tape_is_made_once(neuron):
    assert index_of(neuron) is index_of(neuron)
    assert index_of(index_of(neuron)) is index_of(neuron)


def test_only_the_latest_tapes_are_kept(recorded):
    first = Index(recorded("x = param(1.0)"))
    seen = weakref.ref(index_of(recorded("a = param(1.25)")))
    for n in range(6):
        index_of(recorded(f"x = param({n}.5)"))
    gc.collect()
    assert seen() is None
    assert first.tape.status == "ok"


def test_a_gradient_comes_when_its_node_runs_and_not_before(fan):
    index = Index(fan)
    z = named(fan, "z")
    history = [number(fan, index.gradient(z, p).snapshot) for p in range(len(fan.events) + 1)]
    assert history == [None] * 9 + [16.0] * 4


def test_between_sending_and_arriving_a_gradient_is_pending(fan):
    index = Index(fan)
    x = named(fan, "x")
    pending = [index.gradient(x, p).pending for p in range(len(fan.events) + 1)]
    assert pending == [False] * 8 + [True, True] + [False] * 3
    assert [number(fan, s) for s in index.gradient(x, 12).shares] == [16.0, 48.0]
    assert number(fan, index.gradient(x, 12).snapshot) == 64.0


def test_resetting_takes_the_gradient_away(by_hand):
    index = Index(by_hand)
    w = named(by_hand, "w")
    resets = [n for n, e in enumerate(by_hand.events) if e.kind == "zero_grad"]
    before, after = index.gradient(w, resets[0]), index.gradient(w, resets[0] + 1)
    assert before.snapshot is not None
    assert (after.snapshot, after.zeros) == (None, True)


def test_a_leaf_shows_the_numbers_its_updates_gave_it(optimizer):
    index = Index(optimizer)
    weight = named(optimizer, "net.weight")
    shown = {index.snapshot_at(weight, p) for p in range(len(optimizer.events) + 1)}
    assert len(shown) == 4


def test_an_update_through_data_reaches_the_parameter(recorded):
    tape = recorded("w = param(1.0)\n(w * 2).backward()\nw.data -= 0.5 * w.grad")
    index = Index(tape)
    assert number(tape, index.snapshot_at(named(tape, "w"), len(tape.events))) == 0.0


def test_update_ops_and_what_feeds_them_are_told_from_forward_ops(by_hand):
    index = Index(by_hand)
    kinds = {by_hand.ops[n].op: kind for n, kind in enumerate(index.kinds[:9])}
    assert kinds["sub_"] == "update"
    assert kinds["mean"] == "forward"
    ops = [(op.op, kind) for op, kind in zip(by_hand.ops, index.kinds, strict=True)]
    assert ("mul", "update") in ops
    assert ("mul", "forward") in ops


def test_what_hooks_compute_is_no_part_of_forward(recorded):
    tape = recorded(
        "a = param(1.0)\nb = a * 2\nb.register_hook(lambda g: g * 10)\n(b * 3).backward()"
    )
    index = Index(tape)
    inner = [n for n, op in enumerate(tape.ops) if op.grad_mode is False]
    assert inner
    assert all(index.kinds[n] == "backward" for n in inner)


def test_the_shares_of_every_node_add_up_to_what_it_received(mlp, fan, blocks):
    for tape in (mlp, fan, blocks):
        index = Index(tape)
        for execution in tape.executions:
            for nr, got in enumerate(execution.received):
                arrived = index.arrivals.get((execution.node, nr), [])
                total = sum(tape.snapshots[a.snapshot].array() for a in arrived)
                if got is not None:
                    assert np.allclose(total, tape.snapshots[got].array(), atol=1e-6)


def test_a_pass_that_only_returns_gradients_leaves_nothing_pending(recorded):
    tape = recorded("x = param(3.0)\ng = torch.autograd.grad(x * x, x)[0]")
    known = Index(tape).gradient(named(tape, "x"), len(tape.events))
    assert (known.snapshot, known.pending) == (None, False)


def test_phases_cover_every_event(neuron, by_hand, optimizer, recorded):
    for tape in (neuron, by_hand, optimizer, recorded("")):
        assert len(phases(Index(tape))) == len(tape.events)
