"""One tape of several ranks: made of recorded programs, with collectives put onto them."""

import msgspec
import pytest

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.tape import Collective, Problem, Tape
from gradscribe.engine.run import run
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import CardLook, look_at
from gradscribe.playback.ranks.merge import merge
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.phases import phases
from gradscribe.playback.tape.scenes import scenes

SOURCE = """\
w = param({w})
x = torch.tensor(2.0)
optimizer = optim.SGD([w], lr=0.1)
total = torch.ones(())
for step in range(2):
    optimizer.zero_grad()
    loss = w * x
    loss.backward()
    total.add_(loss.detach())
    optimizer.step()
print(total.item())
"""
"""``add_`` stands for a collective: an op that writes into its argument."""


def _rank(w):
    tape = run.record(SOURCE.format(w=w))
    calls = [
        Collective("all_reduce", (0, 1), number, op.place, at, op.inputs[:1], op.outputs, "sum")
        for number, (at, op) in enumerate((a, o) for a, o in enumerate(tape.ops) if o.op == "add_")
    ]
    return msgspec.structs.replace(tape, collectives=tuple(calls))


@pytest.fixture(scope="module")
def ranks():
    """Two ranks that begin with other weights."""
    return [_rank(1.0), _rank(3.0)]


def test_a_merged_tape_is_sound(ranks):
    merged = merge(ranks)
    assert [flaw for flaw in check_tape.find_flaws(merged) if flaw] == []
    assert index_of(merged) is not None


def test_a_collective_is_one_op_with_the_inputs_and_outputs_of_all(ranks):
    merged = merge(ranks)
    shared = [op for op in merged.ops if op.op == "add_"]
    assert [(len(op.inputs), len(op.outputs), op.call) for op in shared] == [(2, 2, None)] * 2
    assert sum(event.kind == "op" for event in merged.events) == sum(
        event.kind == "op" for tape in ranks for event in tape.events
    ) - len(shared)


def test_everything_else_lies_in_the_box_of_its_rank(ranks):
    merged = merge(ranks)
    assert [call.name for call in merged.calls[:2]] == ["rank 0", "rank 1"]
    assert {op.call for op in merged.ops if op.op != "add_"} == {0, 1}


def test_numbers_are_those_of_the_ranks(ranks):
    merged = merge(ranks)
    values = {value.id: value for value in merged.values}
    grads = {leaf.name: merged.snapshots[leaf.grad].item() for leaf in merged.leaves if leaf.grad}
    assert grads["w [0]"] == grads["w [1]"] == 2.0
    ends = {leaf.name: leaf.value for leaf in merged.leaves}
    numbers = [merged.snapshots[values[ends[f"w [{rank}]"]].snapshot].item() for rank in (0, 1)]
    assert numbers == [
        tape.snapshots[next(v for v in tape.values if v.id == leaf.value).snapshot].item()
        for tape in ranks
        for leaf in tape.leaves
        if leaf.name == "w"
    ]


def test_no_event_is_lost_but_errors_of_others(ranks):
    failed = run.record("w = param(1.0)\nw.foo")
    merged = merge([ranks[0], failed])
    assert merged.status == "error"
    assert merged.error.message.startswith("rank 1: ")
    kinds = [event.kind for event in merged.events]
    assert kinds[-1] == "error"
    assert kinds.count("error") == 1
    assert [flaw for flaw in check_tape.find_flaws(merged) if flaw] == []


def test_a_rank_that_left_nothing_is_merged_as_well(ranks):
    lost = Tape(status="died", error=Problem("Crash", "killed"))
    merged = merge([ranks[0], lost])
    assert (merged.status, merged.error.message) == ("died", "rank 1: killed")
    assert [flaw for flaw in check_tape.find_flaws(merged) if flaw] == []


def test_what_is_printed_has_its_rank(ranks):
    assert merge(ranks).stdout.count("[rank ") == 2


GRADIENTS = """\
w = param({w})
optimizer = optim.SGD([w], lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = w * 2
    loss.backward()
    w.grad.add_(1.0)
    optimizer.step()
"""
"""``add_`` on the gradient stands for its all_reduce."""


def _reducing(w):
    tape = run.record(GRADIENTS.format(w=w))
    calls = [
        Collective("all_reduce", (0, 1), number, op.place, at, op.inputs[:1], op.outputs, "sum")
        for number, (at, op) in enumerate((a, o) for a, o in enumerate(tape.ops) if o.op == "add_")
    ]
    return msgspec.structs.replace(tape, collectives=tuple(calls))


def test_a_step_of_all_ranks_is_one_scene_with_its_collective():
    merged = merge([_reducing(1.0), _reducing(3.0)])
    found = scenes(merged)
    assert len(found) == 2
    for scene in found:
        kinds = [event.kind for event in merged.events[scene.start : scene.stop]]
        assert kinds.count("backward") == kinds.count("step") == 2
    shared = [call.op for call in merged.collectives]
    assert len(shared) == 2
    index = index_of(merged)
    assert all(index.kinds[op] == "forward" for op in shared)
    at = [index.op_events[op] for op in shared]
    assert [phases(merged)[position] for position in at] == ["Backward", "Backward"]
    assert len(build_picture(merged, found[0]).cards) == len(build_picture(merged, found[1]).cards)
    assert sum(card.op == shared[0] for card in build_picture(merged, found[0]).cards) == 1
    key = next(card.key for card in build_picture(merged, found[0]).cards if card.op == shared[0])
    before, after = (
        look_at(merged, build_picture(merged, found[0]), found[0], position)
        for position in (at[0], at[0] + 1)
    )
    assert not before.cards.get(key, CardLook()).reached
    assert after.cards[key].reached


def test_the_error_of_all_is_the_first_cause(ranks):
    ended = Tape(status="died", error=Problem("RankEnded", "Rank 0 was ended"))
    lost = Tape(status="error", error=Problem("RuntimeError", "Connection closed by peer"))
    cause = Tape(status="error", error=Problem("ValueError", "the cause"))
    merged = merge([ended, lost, cause])
    assert (merged.status, merged.error.message) == ("error", "rank 2: the cause")
    assert merge([ended, ranks[0]]).error.message == "Rank 0 was ended"
