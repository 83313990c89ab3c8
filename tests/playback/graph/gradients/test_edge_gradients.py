"""Gradients that a node sends: every share, the sum, and thousands at once."""

import time

import pytest

from gradscribe.playback.graph.look import MAX_LABELLED_CARDS
from tests.playback.graph.test_look import Screen

STACKED = "x = param(2.0)\nz = x * 3\ny = torch.stack([z] * {})\ny.sum().backward()"


def fanned(recorded, uses):
    return Screen(recorded(STACKED.format(uses)))


@pytest.mark.parametrize("uses", [1, 3, 700])
def test_every_use_sends_a_share_and_their_sum_arrives(recorded, uses):
    screen = fanned(recorded, uses)
    sent = screen.after("node", 1)
    card = sent.cards["op:mul:z:0"]
    assert [screen.number(share) for share in card.shares] == [1.0] * uses
    landed = screen.after("node", 2).cards["op:mul:z:0"]
    assert screen.number(landed.gradient) == uses
    assert not landed.pending
    leaf = screen.at(len(screen.tape.events)).cards["leaf:x"]
    assert screen.number(leaf.gradient) == 3 * uses


def test_all_wires_of_the_node_that_runs_are_lit(recorded):
    screen = fanned(recorded, 3)
    sent = screen.after("node", 1)
    lit = [key for key, wire in sent.wires.items() if wire.active == "backward"]
    assert len(lit) == 3
    assert all(screen.number(sent.wires[key].share) == 1.0 for key in lit)


def test_a_share_that_is_not_all_yet_is_pending(recorded):
    screen = Screen(recorded("x = param(2.0)\nz = x * 3\ny = z * z.exp()\ny.backward()"))
    first = screen.after("node", 0)
    card = first.cards["op:mul:z:0"]
    assert len(card.shares) == 1
    assert screen.at(screen.tape.events.index(_nodes(screen)[1]) + 1).cards["op:mul:z:0"].pending


def _nodes(screen):
    return [event for event in screen.tape.events if event.kind == "node"]


def test_few_wires_have_labels_and_a_crowd_has_none(recorded):
    product = "x = param(2.0)\nz = x * 3\ny = torch.stack([z] * {}).sum() * x\ny.backward()"
    for uses, labelled in ((3, True), (2 * MAX_LABELLED_CARDS + 2, False)):
        sent = Screen(recorded(product.format(uses))).after("node", 0)
        factors = [wire.factor for wire in sent.wires.values() if wire.active]
        assert len(factors) == 2
        assert any(factors) == labelled


@pytest.mark.slow
def test_four_times_the_shares_take_no_more_than_in_proportion(recorded):
    def spent(uses):
        screen = fanned(recorded, uses)
        at = screen.tape.events.index(_nodes(screen)[1])
        screen.at(at)
        since = time.process_time()
        screen.at(at + 1)
        return time.process_time() - since

    small = min(spent(4_000) for _ in range(3))
    assert min(spent(16_000) for _ in range(2)) < 10 * small
