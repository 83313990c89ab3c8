"""Programs with several passes: leaves, gradients and results are drawn as plain torch has them."""

import re
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from gradscribe.engine.run.run import record
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.graph.picture import Look, Picture
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import scenes
from tests.engine.mirror import plain
from tests.playback.graph.multi_pass_programs import PROGRAMS


def gradients(names):
    """Return name -> gradient of the leaves that plain torch gave one, every alias of each."""
    found = {}

    def walk(name, thing):
        if isinstance(thing, torch.Tensor):
            if thing.is_leaf and thing.grad is not None:
                found.setdefault(id(thing), (set(), thing.grad))[0].add(name)
        elif isinstance(thing, nn.Module):
            for path, p in thing.named_parameters(remove_duplicate=False):
                walk(f"{name}.{path}", p)
        elif isinstance(thing, dict):
            for key, child in thing.items():
                walk(f"{name}[{key!r}]", child)
        elif isinstance(thing, list | tuple):
            for number, child in enumerate(thing):
                walk(f"{name}[{number}]", child)

    for name, thing in names.items():
        if not name.startswith("__") and not isinstance(thing, type(re)):
            walk(name, thing)
    return list(found.values())


@cache
def opened(name):
    """Return tape, picture and look at the end of the last scene, all modules open."""
    tape = record(PROGRAMS[name])
    assert tape.status == "ok", tape.error
    scene = scenes(tape)[-1]
    keys: frozenset[str] = frozenset()
    while True:
        picture: Picture = build_picture(tape, scene, keys)
        more = {card.key for card in picture.cards if card.kind == "module"} - keys
        if not more:
            break
        keys |= more
    look: Look = look_at(tape, picture, scene, scene.stop)
    return tape, picture, look


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_leaf_with_a_gradient_is_drawn_with_its_name_and_gradient(name):
    names, _, error = plain(PROGRAMS[name])
    assert error is None
    tape, picture, look = opened(name)
    leaves = {card.name: card for card in picture.cards if card.kind == "parameter"}
    expected = gradients(names)
    for aliases, grad in expected:
        card = next((leaves[alias] for alias in aliases if alias in leaves), None)
        assert card is not None, (aliases, list(leaves))
        shown = look.cards[card.key].gradient
        assert shown is not None, aliases
        np.testing.assert_array_equal(tape.snapshots[shown].array(), grad.numpy())


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_waits_at_the_end_of_the_tape(name):
    _, picture, look = opened(name)
    waiting = [c.key for c in picture.cards if c.key not in look.cards]
    waiting += [key for key, card in look.cards.items() if not card.reached]
    assert not waiting


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_op_of_a_gradient_graph_can_be_reached_from_its_leaves(name):
    tape, picture, _ = opened(name)
    index = index_of(tape)
    reached = {card.key for card in picture.cards if card.kind == "parameter"}
    before = -1
    while len(reached) != before:
        before = len(reached)
        reached |= {wire.target for wire in picture.wires if wire.source in reached}
    for card in picture.cards:
        value = index.values.get(card.value) if card.value is not None else None
        if card.kind in ("op", "loss", "module") and value is not None and value.requires_grad:
            assert card.key in reached, card.key


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_gradient_that_arrived_is_what_the_node_received(name):
    tape, picture, look = opened(name)
    index = index_of(tape)
    for card in picture.cards:
        seen = look.cards[card.key].gradient
        value = index.values.get(card.value) if card.value is not None else None
        if seen is None or value is None or value.node is None:
            continue
        run = index.execution_at(value.node, len(tape.events))
        if run is not None and run.received[value.output_nr] is not None:
            np.testing.assert_array_equal(
                tape.snapshots[seen].array(), tape.snapshots[run.received[value.output_nr]].array()
            )
