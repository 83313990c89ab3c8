"""The bytes held for backward: against torch's own saved tensors, and against a plain count."""

import random
import time

import pytest
import torch

from gradscribe.engine.protocol.tape import Event, Node, Saved, Tape
from gradscribe.engine.run.run import record
from gradscribe.playback.tape.saved_memory import node_saved_bytes, peak_saved_bytes, saved_bytes


def kept(storage, size):
    return Saved("self", None, (size,), "float32", size, storage)


def tape_of(*nodes, events=20):
    made = tuple(
        Node(number, "MulBackward0", None, (), (), tuple(kept(*one) for one in saved), made, freed)
        for number, (made, freed, saved) in enumerate(nodes)
    )
    return Tape(nodes=made, events=tuple(Event("leaf", 0, 0) for _ in range(events)))


def counted(tape, position):
    """The same by hand: each memory once, at the size of its largest tensor alive."""
    sizes = {}
    for node in tape.nodes:
        if node.made <= position and (node.freed is None or position < node.freed):
            for saved in node.kept:
                sizes[saved.storage] = max(saved.size, sizes.get(saved.storage, 0))
    return sum(sizes.values())


def test_it_is_held_from_the_making_until_the_freeing():
    tape = tape_of((3, 7, [(1, 100)]))
    assert [saved_bytes(tape, p) for p in (0, 2, 3, 6, 7, 20)] == [0, 0, 100, 100, 0, 0]
    assert peak_saved_bytes(tape) == 100


def test_shared_memory_counts_once_with_its_largest_tensor():
    tape = tape_of((1, 9, [(1, 100), (1, 40)]), (2, 5, [(1, 160), (2, 8)]), (3, None, [(1, 100)]))
    assert [saved_bytes(tape, p) for p in (1, 2, 5, 9)] == [100, 168, 100, 100]
    assert [node_saved_bytes(node) for node in tape.nodes] == [100, 168, 100]


def test_a_tape_without_nodes_holds_nothing():
    assert (saved_bytes(Tape(), 0), peak_saved_bytes(Tape())) == (0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_any_tape_agrees_with_the_plain_count(seed):
    dice = random.Random(seed)
    nodes = []
    for _ in range(dice.randrange(30)):
        made = dice.randrange(20)
        freed = dice.choice([None, made, made + dice.randrange(1, 9)])
        saved = [(dice.randrange(4), dice.randrange(1, 9)) for _ in range(dice.randrange(4))]
        nodes.append((made, freed, saved))
    tape = tape_of(*nodes)
    for position in range(21):
        assert saved_bytes(tape, position) == counted(tape, position)


def test_a_recorded_run_holds_what_torch_packs_and_lets_it_go():
    source = "x = torch.ones(50, requires_grad=True)\ny = torch.exp(x)\nz = y * y\nL = z.sum()"
    sizes = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        sizes[memory.data_ptr()] = memory.nbytes()
        return tensor

    x = torch.ones(50, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = torch.exp(x)
        z = y * y
        root = z.sum()
    tape = record(source)
    assert saved_bytes(tape, len(tape.events)) == sum(sizes.values())
    root.backward()
    done = record(source + "\nL.backward()")
    assert saved_bytes(done, len(done.events)) == 0
    assert peak_saved_bytes(done) == sum(sizes.values())


def test_twenty_thousand_events_take_no_time_worth_telling():
    nodes = [(at, at + 900, [(at % 500, 64), (at % 7, 4096)]) for at in range(20_000)]
    tape = tape_of(*nodes, events=21_000)
    start = time.process_time()
    saved_bytes(tape, 10_000)
    assert time.process_time() - start < 2.0
    start = time.process_time()
    for position in range(0, 20_000, 20):
        saved_bytes(tape, position)
    assert time.process_time() - start < 0.2
