import numpy as np
import pytest
import torch

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.graph import build
from gradscribe.widgets.inspector.panes import page as pages
from gradscribe.widgets.inspector.panes.page import InspectorPage, Selection, select
from tests.widgets.inspector.panes.programs import (
    FAN,
    NEURON,
    ODD,
    TRAIN,
    VIEWS,
    happened,
    named,
    page,
    taped,
)


def test_an_empty_page_has_nothing():
    empty = InspectorPage()
    assert empty.value is None
    assert empty.op is None
    assert empty.call is None
    assert not empty.reached
    assert empty.array() is None
    assert empty.snapshot("gradient") is None


def test_a_selection_from_another_tape_finds_nothing():
    tape = taped(FAN)
    for chosen in (
        Selection("op", 10**6, 10**6),
        Selection("module", call=10**6),
        Selection("value", 10**6),
    ):
        looked = InspectorPage(tape, 3, chosen, versions=pages.TensorVersions.of(tape))
        assert (looked.value, looked.op, looked.call) == (None, None, None)
        assert looked.snapshot() is None


def test_a_value_has_no_numbers_before_its_event():
    made = happened(taped(NEURON), "op", 1)
    assert page(NEURON, "n", made - 1).snapshot() is None
    assert not page(NEURON, "n", made - 1).reached
    assert page(NEURON, "n", made).snapshot().item() == pytest.approx(0.8814, abs=1e-4)


def test_a_gradient_appears_when_its_node_has_run():
    tape = taped(NEURON)
    runs = [happened(tape, "node", k) for k in range(4)]
    assert page(NEURON, "o", runs[1]).snapshot_number("gradient") is None
    after = page(NEURON, "n", runs[3]).snapshot("gradient").item()
    x, w, b = (torch.tensor(v, requires_grad=True) for v in (2.0, -3.0, 6.8814))
    n = x * w + b
    n.retain_grad()
    ((torch.tanh(n) - 0.5) ** 2).backward()
    assert after == n.grad.item()


def test_a_parameter_shows_what_the_optimizer_made_of_it():
    tape = taped(TRAIN)
    first, second = happened(tape, "step"), happened(tape, "step", 1)
    before = page(TRAIN, "net.0.weight", first - 1).array().copy()
    after = page(TRAIN, "net.0.weight", first).array().copy()
    later = page(TRAIN, "net.0.weight", second).array().copy()
    gradient = page(TRAIN, "net.0.weight", first).array("gradient")
    np.testing.assert_allclose(after, before - 0.1 * gradient, rtol=1e-6)
    assert not np.array_equal(after, later)


def test_an_overwritten_leaf_shows_its_newest_numbers_and_a_result_its_own():
    assert page(VIEWS, "a", 1).array().tolist() == [0, 1, 2, 3, 4, 5]
    assert page(VIEWS, "a").array().tolist() == [1, 2, 3, 4, 5, 6]
    assert page(VIEWS, "c").array().tolist() == [1, 2, 3, 4, 5, 6]


def test_numbers_that_were_fetched_replace_the_summary():
    looked = page(ODD, "big")
    number = looked.snapshot_number("value")
    assert looked.array() is None
    full = Snapshot((50, 80), "float32", "<f4", np.arange(4000, dtype="<f4").tobytes())
    fetched = page(ODD, "big", fetched={number: full})
    assert fetched.array()[49, 79] == 3999
    gone = page(ODD, "big", fetched={number: None})
    assert gone.array() is None
    assert gone.snapshot().mean == pytest.approx(1999.5)


@pytest.mark.parametrize(
    ("shape", "slices", "expected", "offset"),
    [
        ((), (), (), 0),
        ((5,), (3,), (), 0),
        ((2, 3), (1,), (), 0),
        ((4, 2, 3), (), (0,), 0),
        ((4, 2, 3), (2,), (2,), 12),
        ((4, 2, 3), (9,), (3,), 18),
        ((2, 3, 2, 4), (1, 2), (1, 2), 40),
        ((0, 2, 2), (1,), (0,), 0),
    ],
)
def test_slices_are_held_inside_the_shape(shape, slices, expected, offset):
    looked = InspectorPage(slices=slices)
    assert looked.slice_at(shape) == expected
    assert looked.offset(shape) == offset


def test_a_slice_begins_at_its_offset():
    numbers = np.arange(288).reshape(2, 3, 2, 4, 3, 2)
    looked = InspectorPage(slices=(1, 2, 0, 3))
    block = pages.as_matrix(numbers, looked.slice_at(numbers.shape))
    assert block.shape == (3, 2)
    assert block[0, 0] == looked.offset(numbers.shape)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((), (1, 1)), ((3,), (1, 3)), ((2, 3), (2, 3)), ((0, 3), (0, 3)), ((2, 0, 3), (0, 0))],
)
def test_every_tensor_is_looked_at_as_a_matrix(shape, expected):
    numbers = np.zeros(shape)
    assert pages.as_matrix(numbers, InspectorPage().slice_at(shape)).shape == expected


def test_real_numbers_are_made_of_all_kinds():
    assert pages.to_float64(np.array([True, False])).tolist() == [1, 0]
    assert pages.to_float64(np.array([3 + 4j])).tolist() == [5]
    assert pages.to_float64(np.array([2**40])).tolist() == [2**40]
    assert np.isnan(pages.to_float64(np.array([np.nan]))).all()


def test_cards_wires_and_frames_become_selections():
    tape = taped(TRAIN)
    scene = build.scenes(tape)[0]
    picture = build.build_picture(tape, scene)
    assert select(picture, "no such key") is None
    kinds = {}
    for key in [c.key for c in picture.cards] + [w.key for w in picture.wires]:
        kinds.setdefault(select(picture, key).kind, []).append(key)
    assert {"value", "op", "wire"} <= set(kinds)
    for frame in picture.frames:
        chosen = select(picture, frame.key)
        assert (chosen.kind, chosen.call) == ("module", frame.call)


def test_a_wire_shows_the_share_that_came_back_along_it():
    tape = taped(FAN)
    scene = build.scenes(tape)[0]
    picture = build.build_picture(tape, scene)
    x = named(tape, "x")
    shares = []
    for wire in picture.wires:
        if wire.value == x.id:
            looked = InspectorPage(
                tape,
                len(tape.events),
                select(picture, wire.key),
                versions=pages.TensorVersions.of(tape),
            )
            shares.append(looked.snapshot("gradient").item())
    assert sorted(shares) == [16.0, 48.0]


def test_equal_keys_mean_equal_numbers():
    here, same = page(FAN, "x"), page(FAN, "x")
    assert here.numbers_key() == same.numbers_key()
    assert here.numbers_key() != page(FAN, "x", side="gradient").numbers_key()
    assert here.numbers_key() != page(FAN, "x", 3).numbers_key()
    assert here.numbers_key() != page(FAN, "x", serial=1).numbers_key()
