"""Two tapes compared; what should differ comes from torch and from arithmetic."""

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build, look
from gradscribe.playback.graph.compare import Comparison, DifferenceTinter

BASE = "a = param(2.0)\nb = param(3.0)\nc = a * b\nd = torch.tanh(c)\nd.backward()"
TWICE = "x = param(2.0)\nfor i in range({0}):\n    x = x * {1}\nx.backward()"


def compared(one, other):
    return Comparison(record(one), record(other))


def told(comparison, kind):
    return [one.name for one in comparison.differences if one.kind == kind]


def test_a_run_is_the_same_as_itself():
    found = compared(BASE, BASE)
    assert found.differences == ()
    assert found.summary() == "Both runs are the same, every value and every gradient"


def test_nan_is_the_same_as_nan():
    source = "a = param(0.0)\nb = a / a\nb.backward()"
    assert compared(source, source).differences == ()


def test_a_changed_number_shows_where_it_came_from_first():
    found = compared(BASE, BASE.replace("2.0", "4.0"))
    assert told(found, "value") == ["a", "c", "d"]
    first = found.differences[0]
    assert (first.name, first.words) == ("a", "2.0000 → 4.0000")
    assert "b" in told(found, "gradient")  # d tanh(ab)/db = a (1 - tanh²)


def test_an_op_more_and_an_op_less():
    found = compared(BASE, BASE.replace("torch.tanh(c)", "torch.tanh(c + 1)"))
    assert told(found, "right") == ["add"]
    assert [one.words for one in found.differences if one.kind == "right"] == ["line 4"]
    assert told(found, "left") == []
    back = compared(BASE.replace("torch.tanh(c)", "torch.tanh(c + 1)"), BASE)
    assert told(back, "left") == ["add"]
    assert told(found, "value") == ["d"]


def test_a_forgotten_zero_grad_differs_in_gradients_only():
    loop = "w = param(1.0)\nfor i in range(2):\n    {0}loss = w * 3\n    loss.backward()"
    found = compared(loop.format(""), loop.format("w.grad = None\n    "))
    assert {one.kind for one in found.differences} == {"gradient"}
    only = found.differences[0]
    assert (only.name, only.words) == ("w", "6.0000 → 3.0000")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("torch.ones(3)", "torch.ones(4)"), "3 → 4"),
        (("torch.ones(3)", "torch.ones(3).double()"), "float32 → float64"),
        (("torch.ones(3)", "torch.full((3,), 3.0)"), "apart by 3.4641"),  # sqrt(3 · 2²)
    ],
)
def test_tensors_differ_in_shape_dtype_or_numbers(change, words):
    source = "y = torch.ones(3) * 1"
    found = compared(source, source.replace(*change))
    assert any(one.words == words for one in found.differences if one.name == "y")


def test_big_tensors_are_compared_by_what_travelled_of_them():
    source = "y = torch.arange(5000.0) * {0}"
    assert compared(source.format(2), source.format(2)).differences == ()
    assert "y" in told(compared(source.format(2), source.format(3)), "value")


def test_positions_go_together_and_come_back():
    found = compared(BASE, "z = param(1.0)\n" + BASE)
    left, right = found.left.tape, found.right.tape
    assert found.matching_position(0) == 0
    assert found.matching_position(len(left.events)) == len(right.events)
    for op, name in enumerate(("mul", "tanh")):
        here, there = found.left.op_events[op] + 1, found.right.op_events[op] + 1
        assert left.ops[op].op == name
        assert found.matching_position(here) == there
        assert found.matching_position(there, from_left=False) == here
    steps = [found.matching_position(p) for p in range(len(left.events) + 1)]
    assert steps == sorted(steps)


def test_loops_of_other_lengths_are_aligned():
    found = compared(TWICE.format(2, 3), TWICE.format(4, 3))
    assert len(told(found, "right")) == 2
    assert all(0 <= found.matching_position(p) <= len(found.right.tape.events) for p in range(50))


def test_nothing_and_something():
    assert compared("", "").differences == ()
    found = compared("", BASE)
    assert told(found, "right") == ["c", "d"]
    assert "2 ops on one side only" in found.summary()


def marks(source, other, left, position=None):
    found = compared(source, other)
    tape = (found.left if left else found.right).tape
    scene = build.scenes(tape)[0]
    picture = build.build_picture(tape, scene)
    seen = look.look_at(tape, picture, scene, scene.stop if position is None else position)
    made = DifferenceTinter(found, left)
    return {c.name or c.title: made.tint(c, seen.cards.get(c.key)) for c in picture.cards}


def test_cards_are_marked_on_both_sides_as_far_as_one_has_come():
    other = BASE.replace("torch.tanh(c)", "torch.tanh(c + 1)")
    left, right = marks(BASE, other, left=True), marks(BASE, other, left=False)
    assert left["c"].words == "≠ gradient"  # the slope of tanh is another at c + 1
    assert left["d"].words == "≠ value"
    assert right["add"].words == "only here"
    assert left["d"].group != right["add"].group
    early = marks(BASE, other, left=True, position=1)
    assert early["d"] is None


def test_a_folded_module_counts_what_differs_inside():
    source = "torch.manual_seed({0})\nnet = nn.Linear(2, 2)\nnet(torch.ones(1, 2)).sum().backward()"
    one, other = (record(source.format(seed)) for seed in (0, 1))
    found = Comparison(one, other)
    picture = build.build_picture(one, build.scenes(one)[0], frozenset())
    scene = build.scenes(one)[0]
    seen = look.look_at(one, picture, scene, scene.stop)
    module = next(card for card in picture.cards if card.kind == "module")
    assert "inside" in DifferenceTinter(found, True).tint(module, seen.cards[module.key]).words
    # The parameters were filled in place before the run saw them, and are compared all the same.
    assert told(found, "value")[:2] == ["net.weight", "net.bias"]


BROKEN = "a = param(torch.ones(3))\nb = torch.ones({0})\nc = a * b\nc.sum().backward()"


def test_a_failure_that_only_one_side_has_comes_first():
    found = compared(BROKEN.format(2), BROKEN.format(3))
    first = found.differences[0]
    assert (first.kind, first.name, first.left, first.right) == ("left fails", "mul", None, None)
    with pytest.raises(RuntimeError) as raised:
        torch.ones(3) * torch.ones(2)
    assert first.words == f"{raised.value} · line 3"
    assert found.summary().startswith("Only the left fails · ")
    turned = compared(BROKEN.format(3), BROKEN.format(2)).differences[0]
    assert turned.kind == "right fails"


def test_a_failure_of_both_is_a_difference_only_if_they_fail_differently():
    assert compared(BROKEN.format(2), BROKEN.format(2)).differences == ()
    other = BROKEN.format(2).replace("ones(2)", "ones(2) + 1")
    same = compared(BROKEN.format(2), other)
    assert told(same, "left fails") == told(same, "right fails") == []
    both = compared(BROKEN.format(2), BROKEN.format(4))
    assert [one.kind for one in both.differences[:2]] == ["left fails", "right fails"]
    assert both.summary().startswith("Both fail, differently")


def test_an_error_outside_of_torch_is_told_by_its_type():
    found = compared("a = param(1.0)\nb = a * 2\nraise ValueError", "a = param(1.0)\nb = a * 2")
    assert found.differences[0].name == "ValueError"
    assert "line 3" in found.differences[0].words


def test_the_card_that_fails_on_one_side_is_tinted():
    source, other = BROKEN.format(2), BROKEN.format(3)
    assert marks(source, other, left=True)["mul"].words == "fails here"
    assert marks(source, source, left=True)["mul"] is None
    assert marks(source, other, left=True, position=0)["mul"] is None
