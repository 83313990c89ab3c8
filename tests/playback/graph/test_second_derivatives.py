"""Second derivatives of many programs: every node is drawn, and all numbers are torch's own."""

from functools import cache

import numpy as np
import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.tape import passes
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import scenes
from tests.engine.mirror import plain
from tests.playback.graph.second_derivative_programs import PROGRAMS

EVERY = pytest.mark.parametrize("name", PROGRAMS)
BY_ROUNDING = {"rtol": 1e-5, "atol": 1e-5}


@cache
def drawn(name):
    """Return a program's tape, and the scene and the picture of each of its steps."""
    tape = record(PROGRAMS[name])
    assert tape.status == "ok", tape.error
    assert not tape.truncated
    return tape, [(scene, build_picture(tape, scene)) for scene in scenes(tape)]


def numbers(tape, snapshot):
    return None if snapshot is None else tape.snapshots[snapshot].array()


def total(tape, shares):
    return sum(numbers(tape, share).astype(np.float64) for share in shares)


def ends_of_passes(tape, scene):
    """Yield pass, and the position after its end, for those in a scene."""
    for run, (start, stop) in index_of(tape).passes.items():
        if scene.start <= start < scene.stop:
            yield run, stop + 1


@EVERY
def test_every_recorded_node_is_on_a_card(name):
    tape, pictures = drawn(name)
    shown = set()
    for _, picture in pictures:
        keys = {card.key for card in picture.cards}
        shown |= {node for node, key in picture.node_cards.items() if key in keys}
    assert [(node.id, node.name) for node in tape.nodes if node.id not in shown] == []


@EVERY
def test_every_node_is_on_a_card_when_the_passes_are_folded(name):
    tape, pictures = drawn(name)
    shown = set()
    for scene, _ in pictures:
        picture = build_picture(tape, scene, frozenset())
        keys = {card.key for card in picture.cards}
        shown |= {node for node, key in picture.node_cards.items() if key in keys}
    assert {node.id for node in tape.nodes} <= shown


@EVERY
def test_what_torch_returned_is_drawn_as_a_result_with_its_number(name):
    names, _, error = plain(PROGRAMS[name])
    assert error is None
    tape, pictures = drawn(name)
    scene, picture = pictures[-1]
    look = look_at(tape, picture, scene, scene.stop)
    index = index_of(tape)
    given = {value for run in tape.passes for value in run.results}
    for card in picture.cards:
        value = index.values.get(card.value) if card.value is not None else None
        if value is None or value.id not in given or card.kind == "module":
            continue
        if value.id != max(v for v in given if v and index.values[v].name == value.name):
            continue  # an earlier round of a loop
        assert card.kind in ("op", "loss"), card.key
        expected = names.get(value.name)
        if isinstance(expected, torch.Tensor) and tuple(expected.shape) == value.shape:
            shown = numbers(tape, look.cards[card.key].snapshot)
            np.testing.assert_array_equal(shown, expected.detach().numpy())


@EVERY
def test_all_named_gradients_are_on_cards(name):
    names, _, _ = plain(PROGRAMS[name])
    tape, pictures = drawn(name)
    index = index_of(tape)
    shown = {index.values[v].name for _, picture in pictures for v in picture.value_cards}
    given = {index.values[v].name for run in tape.passes for v in run.results if v is not None}
    assert given & names.keys() <= shown


@EVERY
def test_shares_add_up_to_the_gradient_at_every_card_after_every_pass(name):
    tape, pictures = drawn(name)
    for scene, picture in pictures:
        for run, position in ends_of_passes(tape, scene):
            look = look_at(tape, picture, scene, position)
            for key, card in look.cards.items():
                assert not card.pending, (run, key)
                shares = [numbers(tape, share) for share in card.shares]
                if card.gradient is None or not shares or any(s is None for s in shares):
                    continue
                np.testing.assert_allclose(
                    total(tape, card.shares), numbers(tape, card.gradient), **BY_ROUNDING
                )


@EVERY
def test_the_wires_of_a_card_add_up_to_its_gradient_after_every_pass(name):
    tape, pictures = drawn(name)
    index = index_of(tape)
    for scene, picture in pictures:
        cards = {card.key: card for card in picture.cards}
        folded = {key for key, card in cards.items() if card.kind == "module"}
        for run, position in ends_of_passes(tape, scene):
            look = look_at(tape, picture, scene, position)
            # What the pass added to a leaf's .grad, without what was there before.
            added = {a.leaf: a.sent for a in tape.accumulations if a.run == run}
            reached = {
                index.target(edge.target, edge.input_nr) for edge in tape.edges if edge.run == run
            }
            seeded = {
                edge.target for edge in tape.edges if edge.run == run and edge.execution is None
            }
            for key, card in look.cards.items():
                value = index.values.get(cards[key].value) if cards[key].value else None
                if key in folded or value is None or card.gradient is None:
                    continue
                node = (value.node, value.output_nr)
                place = node if value.node is not None else (index.first_version(value.id), 0)
                sent = [
                    share
                    for wire in picture.wires
                    if wire.source == key
                    and wire.key in look.wires
                    and (value.id == wire.value or value.node is None)
                    for share in look.wires[wire.key].shares
                ]
                if place not in reached or place[0] in seeded or not sent:
                    continue
                whole = added.get(place[0], card.gradient)
                np.testing.assert_allclose(total(tape, sent), numbers(tape, whole), **BY_ROUNDING)


@EVERY
def test_a_leaf_shows_the_gradient_that_torch_stored_or_returned(name):
    names, _, _ = plain(PROGRAMS[name])
    tape, pictures = drawn(name)
    index = index_of(tape)
    scene, picture = pictures[-1]
    look = look_at(tape, picture, scene, scene.stop)
    for card in picture.cards:
        leaf = names.get(card.name)
        if (
            card.kind != "parameter"
            or not isinstance(leaf, torch.Tensor)
            or card.key != f"leaf:{card.name}"
        ):
            continue
        shown = look.cards[card.key]
        if shown.returned:
            place = (index.first_version(card.value), 0)
            last = max(arrival.run for arrival in index.arrivals[place])
            got = dict(passes.results_at(index, last))[place]
            shares = [a.snapshot for a in index.arrivals[place] if a.run == last]
            returned = numbers(tape, index.values[got].snapshot)
            np.testing.assert_array_equal(numbers(tape, shown.gradient), returned)
            np.testing.assert_allclose(total(tape, shares), returned, **BY_ROUNDING)
        elif leaf.grad is not None:
            np.testing.assert_array_equal(numbers(tape, shown.gradient), leaf.grad.detach().numpy())
        else:
            assert shown.gradient is None


@EVERY
def test_everything_is_reached_at_the_end(name):
    tape, pictures = drawn(name)
    for scene, picture in pictures:
        look = look_at(tape, picture, scene, scene.stop)
        waiting = [
            c.key
            for c in picture.cards
            if not look.cards.get(c.key) or not look.cards[c.key].reached
        ]
        assert not waiting


def test_there_are_thirty_programs_and_more():
    assert len(PROGRAMS) >= 30
