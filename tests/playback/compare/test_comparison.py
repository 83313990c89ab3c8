"""Two tapes compared; what should differ comes from torch and from arithmetic."""

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.compare.tinter import DifferenceTinter
from gradscribe.playback.graph import build, look

BASE = "a = param(2.0)\nb = param(3.0)\nc = a * b\nd = torch.tanh(c)\nd.backward()"
TWICE = "x = param(2.0)\nfor i in range({0}):\n    x = x * {1}\nx.backward()"


def compared(one, other):
    return Comparison(record(one), record(other))


def names_of(comparison, kind):
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
    assert names_of(found, "value") == ["a", "c", "d"]
    first = found.differences[0]
    assert (first.name, first.words) == ("a", "2.0000 → 4.0000")
    assert "b" in names_of(found, "gradient")  # d tanh(ab)/db = a (1 - tanh²)


def test_an_op_more_and_an_op_less():
    found = compared(BASE, BASE.replace("torch.tanh(c)", "torch.tanh(c + 1)"))
    assert names_of(found, "right") == ["add"]
    assert [one.words for one in found.differences if one.kind == "right"] == ["line 4"]
    assert names_of(found, "left") == []
    back = compared(BASE.replace("torch.tanh(c)", "torch.tanh(c + 1)"), BASE)
    assert names_of(back, "left") == ["add"]
    assert names_of(found, "value") == ["d"]


def test_a_forgotten_zero_grad_differs_in_gradients_only():
    loop = "w = param(1.0)\nfor i in range(2):\n    {0}loss = w * 3\n    loss.backward()"
    found = compared(loop.format(""), loop.format("w.grad = None\n    "))
    assert {one.kind for one in found.differences} == {"right", "gradient"}
    (only,) = found.causes[0].following
    assert (only.kind, only.name, only.words) == ("gradient", "w", "6.0000 → 3.0000")
    assert [cause.words for cause in found.causes] == ["zero_grad only on the right"]


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
    assert "y" in names_of(compared(source.format(2), source.format(3)), "value")


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
    assert len(names_of(found, "right")) == 2
    assert all(0 <= found.matching_position(p) <= len(found.right.tape.events) for p in range(50))


def test_nothing_and_something():
    assert compared("", "").differences == ()
    found = compared("", BASE)
    assert names_of(found, "right") == ["c", "d", "backward"]
    assert found.summary() == "First at line 3: mul, tanh, backward only on the right"


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
    assert names_of(found, "value")[:2] == ["net.weight", "net.bias"]


BROKEN = "a = param(torch.ones(3))\nb = torch.ones({0})\nc = a * b\nc.sum().backward()"


def test_a_failure_stands_below_its_cause():
    found = compared(BROKEN.format(2), BROKEN.format(3))
    assert [cause.title() for cause in found.causes] == ["line 2: b 2 → 3"]
    first = found.causes[0].following[0]
    assert (first.kind, first.name, first.left, first.right) == ("left fails", "mul", None, None)
    with pytest.raises(RuntimeError) as raised:
        torch.ones(3) * torch.ones(2)
    assert first.words == f"{raised.value} · line 3"
    assert " · only the left fails · " in found.summary()
    turned = compared(BROKEN.format(3), BROKEN.format(2)).causes[0].following[0]
    assert turned.kind == "right fails"


def test_a_failure_of_both_is_a_difference_only_if_they_fail_differently():
    assert compared(BROKEN.format(2), BROKEN.format(2)).differences == ()
    other = BROKEN.format(2).replace("ones(2)", "ones(2) + 1")
    same = compared(BROKEN.format(2), other)
    assert names_of(same, "left fails") == names_of(same, "right fails") == []
    both = compared(BROKEN.format(2), BROKEN.format(4))
    failures = [one.kind for one in both.causes[0].following]
    assert failures == ["left fails", "right fails"]
    assert " · both fail, differently" in both.summary()


def test_an_error_outside_of_torch_is_told_by_its_type():
    found = compared("a = param(1.0)\nb = a * 2\nraise ValueError", "a = param(1.0)\nb = a * 2")
    assert found.differences[0].name == "ValueError"
    assert "line 3" in found.differences[0].words


def test_the_card_that_fails_on_one_side_is_tinted():
    source, other = BROKEN.format(2), BROKEN.format(3)
    assert marks(source, other, left=True)["mul"].words == "fails here"
    assert marks(source, source, left=True)["mul"] is None
    assert marks(source, other, left=True, position=0)["mul"] is None


# Causes

LOG = """
x = param(torch.tensor([1.0, {second}]))
p = x * 1
y = torch.log({inner})
z = y * 2
z.backward()
"""


def titles(one, other):
    return [cause.title() for cause in compared(one, other).causes]


def test_another_op_in_its_place_is_the_cause_and_the_rest_follows():
    one = LOG.format(second="2.0", inner="p.exp().sum()")
    other = one.replace("torch.log(p.exp().sum())", "torch.logsumexp(p, 0)")
    found = compared(one, other)
    assert [cause.title() for cause in found.causes] == ["line 4: exp, sum, log → logsumexp"]
    bare = LOG.format(second="-3.0", inner="p.sum()")
    found = compared(bare, bare.replace("torch.log(p.sum())", "torch.logsumexp(p, 0)"))
    (cause,) = found.causes
    assert cause.title() == "line 4: sum, log → logsumexp"
    # log of -2 is NaN, and so is twice of it; the slopes of both ops differ.
    assert {one.name for one in cause.following if one.kind == "value"} == {"y", "z"}
    assert {one.name for one in cause.following if one.kind == "gradient"} == {"x", "p"}
    assert cause.consequence() == "2 gradients and 2 values differ because of it"
    assert found.summary() == f"First at {cause.title()} · {cause.consequence()}"


NET = """
torch.manual_seed({seed})
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
    def forward(self, x):
        s = torch.softmax(self.lin(x), -1)
        return x + (s + {eps}).log()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList(Block() for _ in range(4))
    def forward(self, x):
        for block in self.h:
            x = block(x)
        return x
net = Net()
opt = torch.optim.{optimizer}(net.parameters(), lr={lr})
x = torch.ones(2, 3)
for step in range(3):
    loss = net(x).pow(2).mean()
    {reset}
    loss.backward()
    opt.step()
"""
PLAIN = {"seed": 0, "eps": "1e-3", "optimizer": "SGD", "lr": "0.1", "reset": "opt.zero_grad()"}


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({"eps": "1e-9"}, "line 9: add 0.001 → 1e−09 in net.h.0 and 3 other modules"),
        ({"optimizer": "Adam"}, "line 25: SGD → Adam · 3 times"),
        ({"lr": "0.2"}, "line 25: SGD lr 0.1 → 0.2 · 3 times"),
        ({"reset": "pass"}, "line 23: zero_grad only on the left · 3 times"),
    ],
)
def test_whatever_is_changed_is_the_only_cause_of_all_that_differs(change, title):
    found = compared(NET.format(**PLAIN), NET.format(**{**PLAIN, **change}))
    assert [cause.title() for cause in found.causes] == [title]
    assert len(found.causes[0].following) > 5


def test_another_seed_is_a_cause_in_every_parameter_and_gradients_follow():
    found = compared(NET.format(**PLAIN), NET.format(**{**PLAIN, "seed": 1}))
    assert [cause.kind for cause in found.causes] == ["value"]
    assert found.causes[0].title().startswith("line 8: net.h.0.lin.weight apart by ")
    assert found.causes[0].title().endswith(" and 7 others")


def test_the_first_of_two_changes_comes_first_and_each_has_its_own_consequences():
    one = "a = param(1.0)\nb = param(2.0)\nc = a * 3\nd = b * 4\nc.backward()\nd.backward()"
    found = compared(one, one.replace("b * 4", "b + 4").replace("a * 3", "a * 5"))
    assert [cause.title() for cause in found.causes] == ["line 3: mul 3 → 5", "line 4: mul → add"]
    names = [{one.name for one in cause.following} for cause in found.causes]
    assert names == [{"a", "c"}, {"b", "d"}]


def test_rounds_that_a_loop_runs_more_often_follow_from_what_made_it_go_on():
    loop = "x = param({0})\nwhile x < 20:\n    x = x * 2\nx.backward()"
    found = compared(loop.format("2.0"), loop.format("1.0"))
    assert [cause.title() for cause in found.causes] == ["line 1: x 2.0000 → 1.0000"]
    assert "on the right only because of it" in found.causes[0].consequence()
    counted = compared(TWICE.format(2, 3), TWICE.format(4, 3))
    assert [cause.title() for cause in counted.causes] == ["line 3: 2 × mul only on the right"]


@pytest.mark.parametrize(
    ("one", "other", "title"),
    [
        ("y = x * 3", "y = x * 3\ny.register_hook(lambda g: g * 2)", "nothing before it differs"),
        ("y = x * a", "y = x * b", "line 4: mul a → b"),
        ("y = x.sum()", "y = x.sum(0, keepdim=True)", "line 4: sum none → 0, keepdim=none → True"),
        ("y = x.detach()", "y = x.clone()", "line 4: detach → clone"),
        ("y = x * 2", "with torch.no_grad():\n    y = x * 2", "under no_grad"),
        ("y = F.dropout(x, 0.5)", "torch.rand(1)\ny = F.dropout(x, 0.5)", "other numbers from"),
        ("torch.rand(1)\ny = x.half()", "torch.rand(1)\ny = x.double()", "half → double"),
    ],
)
def test_each_kind_of_change_is_named(one, other, title):
    head = "x = param(torch.ones(8))\na = param(2.0)\nb = param(2.0)\n"
    tail = "\nz = (y * 1).sum() + (x * 1).sum()\nz.backward()"
    found = titles(head + one + tail, head + other + tail)
    assert len(found) == 1, found
    assert title in found[0]


def test_renamed_variables_and_modules_are_no_difference():
    assert compared(BASE, BASE.replace("c =", "product =").replace("(c)", "(product)")).causes == ()
    net = "torch.manual_seed(0)\n{0} = nn.Linear(2, 1)\ny = {0}(torch.ones(1, 2))\ny.backward()"
    assert compared(net.format("net"), net.format("model")).causes == ()


def test_nan_is_counted_and_never_a_distance():
    one = "x = param(torch.tensor([1.0, 4.0, 9.0]))\ny = torch.sqrt(x - {0})\ny.sum().backward()"
    words = {
        difference.name: difference.words
        for difference in compared(one.format(1), one.format(2)).differences
    }
    # sqrt(0, 3, 8) against sqrt(-1, 2, 7)
    apart = ((3**0.5 - 2**0.5) ** 2 + (8**0.5 - 7**0.5) ** 2) ** 0.5
    assert words["y"] == f"0 → 1 of 3 NaN · the others apart by {apart:.4f}"
    found = compared(one.format(1), one.format(100))
    assert not any("by NaN" in difference.words for difference in found.differences)
    assert next(d.words for d in found.differences if d.name == "y") == "0 → 3 of 3 NaN"


def test_numbers_that_are_written_the_same_are_said_to_be_apart():
    found = compared("a = param(1.0)", "a = param(1.00001)")
    (difference,) = found.differences
    assert difference.words == "apart by 1.00e−05"


def test_long_loops_with_many_changes_are_aligned():
    loop = (
        "x = param(1.0)\ny = x\nfor i in range(900):\n    y = y * 1.01\n    y = {0}\ny.backward()"
    )
    one, other = loop.format("y - 1"), loop.format("y - 1 if i % 3 else torch.sin(y)")
    found = compared(one, other)
    assert [cause.title() for cause in found.causes] == ["line 5: sub → sin · 300 times"]


@pytest.mark.parametrize(
    ("one", "other", "title"),
    [
        ("y = x * 3", "y = x.detach() * 3", "line 2: detach only on the right"),
        ("y = x.tanh()", "y = x.tanh()\ny += 1", "line 3: add_ only on the right"),
        ("y = x * 3", "y = x * 3\ny.backward()", "line 4: backward only on the right"),
    ],
)
def test_a_backward_pass_that_fails_follows_from_what_was_changed_before_it(one, other, title):
    source = "x = param(2.0)\n{0}\nz = y * y\nz.backward()\nz.backward"
    source = source.replace("z = y * y\nz.backward()\nz.backward", "y.backward()")
    found = compared(source.format(one), source.format(other))
    assert [cause.title() for cause in found.causes] == [title]
    assert "right fails" in [one.kind for one in found.causes[0].following]


def test_batches_of_another_size_are_a_single_cause():
    source = NET.format(**PLAIN).replace("for step in range(3):", "for x in x.split({0}):")
    found = compared(source.format(1), source.format(2))
    assert [cause.title() for cause in found.causes] == ["line 21: split 1 → 2"]


def test_a_leaf_that_only_one_run_updates_is_the_same_leaf():
    source = NET.format(**PLAIN)
    late = source.replace(
        "    loss.backward()\n    opt.step()", "    opt.step()\n    loss.backward()"
    )
    titles_ = titles(source, late)
    assert not any("weight → " in title for title in titles_), titles_
    assert titles_[0].startswith("line 24: backward only on the left")


def test_of_the_parameters_that_steps_change_the_last_numbers_are_compared():
    source = "w = param(1.0)\nopt = torch.optim.SGD([w], lr={0})\n"
    source += "for i in range(3):\n    opt.zero_grad()\n    (w * 2).backward()\n    opt.step()"
    found = compared(source.format(0.1), source.format(0.2))
    assert [cause.title() for cause in found.causes] == ["line 6: SGD lr 0.1 → 0.2 · 3 times"]
    # 1 - 3 * lr * 2, and before each step after the first w * 2 of it.
    values = [d.words for d in found.causes[0].following if d.kind == "value" and d.name == "w"]
    assert values == ["0.4000 → −0.2000"]
