import random
import time

from gradscribe.engine.run.run import record
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import look_at, playing_at
from gradscribe.playback.graph.reading import CardReader
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import scenes


class Screen:
    """A picture of one scene, and how its cards look at positions."""

    def __init__(self, tape, scene=0, open_calls=None):
        self.tape = tape
        self.scene = scenes(tape)[scene]
        self.picture = build_picture(tape, self.scene, open_calls)

    def at(self, position):
        return look_at(self.tape, self.picture, self.scene, position)

    def after(self, kind, number=0, scene_only=True):
        found = [
            n for n, e in enumerate(self.tape.events)
            if e.kind == kind and (not scene_only or self.scene.start <= n < self.scene.stop)
        ]  # fmt: skip
        return self.at(found[number] + 1)

    def number(self, snapshot):
        return None if snapshot is None else self.tape.snapshots[snapshot].item()


def test_at_the_start_nothing_is_reached(neuron, mlp):
    for tape in (neuron, mlp):
        shown = Screen(tape).at(0)
        assert not any(card.reached for card in shown.cards.values())
        assert (shown.line, shown.phase, shown.caption) == (0, "", "")


def test_a_moment_tells_what_is_playing_without_a_picture(neuron, mlp):
    for tape in (neuron, mlp):
        screen = Screen(tape)
        for position in range(len(tape.events) + 2):
            whole, bare = screen.at(position), playing_at(tape, screen.scene, position)
            told = (whole.line, whole.phase, whole.caption)
            assert (bare.line, bare.phase, bare.caption) == told
            assert not bare.cards
            assert not bare.wires


def test_values_appear_in_the_order_they_are_made(fan):
    screen = Screen(fan)
    order = []
    for position in range(1, 6):
        shown = screen.at(position)
        order += [k for k, c in shown.cards.items() if c.reached and k not in order]
    assert order == ["leaf:x", "leaf:y", "op:mul:z:0", "op:add:w:0", "op:pow:loss:0"]


def test_the_op_that_just_ran_is_active_with_the_wires_into_it(fan):
    shown = Screen(fan).at(3)
    assert [k for k, c in shown.cards.items() if c.active] == ["op:mul:z:0"]
    assert {k for k, w in shown.wires.items() if w.active == "forward"} == {
        "leaf:x>op:mul:z:0:0", "leaf:y>op:mul:z:0:1",
    }  # fmt: skip
    assert (shown.line, shown.phase, shown.caption) == (3, "forward", "mul makes z")


def test_backward_starts_with_a_one_at_the_loss(fan):
    screen = Screen(fan)
    card = screen.after("backward").cards["op:pow:loss:0"]
    assert (screen.number(card.gradient), card.active) == (1.0, "backward")


def test_each_wire_carries_its_own_share_back(fan):
    screen = Screen(fan)
    shown = screen.at(len(fan.events))
    shares = {key: screen.number(wire.share) for key, wire in shown.wires.items()}
    assert shares == {
        "leaf:x>op:mul:z:0:0": 48.0, "leaf:y>op:mul:z:0:1": 32.0, "op:mul:z:0>op:add:w:0:0": 16.0,
        "leaf:x>op:add:w:0:1": 16.0, "op:add:w:0>op:pow:loss:0:0": 16.0,
    }  # fmt: skip
    assert shown.wires["leaf:x>op:mul:z:0:0"].factor == "× y = 3"


def test_shares_gather_on_a_leaf_until_it_collects_their_sum(fan):
    screen = Screen(fan)
    history = []
    for position in range(8, 11):
        card = screen.at(position).cards["leaf:x"]
        history.append(([screen.number(s) for s in card.shares], screen.number(card.gradient)))
    assert history == [([16.0], None), ([16.0, 48.0], None), ([16.0, 48.0], 64.0)]


def test_a_share_on_its_way_is_not_yet_on_the_card(neuron):
    screen = Screen(neuron)
    index = Index(neuron)
    names = {
        n: index.nodes[neuron.executions[e.ref].node].name
        for n, e in enumerate(neuron.events)
        if e.kind == "node"
    }
    sending = next(n for n, name in names.items() if name == "AddBackward0")
    shown = screen.at(sending + 1)
    assert {k for k, w in shown.wires.items() if w.active == "backward"} == {
        "op:add::0>op:add:n:0:0", "leaf:b>op:add:n:0:1",
    }  # fmt: skip
    assert shown.cards["op:add::0"].gradient is None
    assert screen.number(screen.at(sending + 2).cards["op:add::0"].gradient) is not None


def test_in_the_end_every_parameter_shows_its_grad(neuron, mlp, by_hand):
    for tape in (neuron, mlp):
        screen = Screen(tape)
        shown = screen.at(len(tape.events))
        for leaf in tape.leaves:
            if leaf.grad is None:
                continue
            key = screen.picture.value_cards[leaf.value]
            gradient = tape.snapshots[shown.cards[key].gradient]
            assert gradient.data == tape.snapshots[leaf.grad].data


def test_an_optimizer_changes_its_leaves(optimizer):
    screen = Screen(optimizer)
    before, shown = screen.after("end"), screen.after("step")
    for key in ("leaf:net.weight", "leaf:net.bias"):
        assert shown.cards[key].changed
        assert shown.cards[key].active == "update"
        assert shown.cards[key].snapshot != before.cards[key].snapshot
    assert shown.phase == "update"


def test_an_update_by_hand_changes_its_leaf(by_hand):
    screen = Screen(by_hand)
    last = screen.at(screen.scene.stop).cards["leaf:w"]
    first = screen.after("end").cards["leaf:w"]
    assert last.changed
    assert not first.changed
    assert screen.number(last.snapshot) != screen.number(first.snapshot)


def test_resetting_takes_gradients_and_shares_away(by_hand):
    screen = Screen(by_hand)
    assert screen.after("end").cards["leaf:w"].gradient is not None
    shown = screen.after("zero_grad").cards["leaf:w"]
    assert (shown.gradient, shown.shares) == (None, ())


def test_the_next_step_begins_with_the_new_numbers(by_hand):
    first, second = Screen(by_hand), Screen(by_hand, 1)
    end = first.at(first.scene.stop).cards["leaf:w"]
    start = second.at(second.scene.start).cards["leaf:w"]
    assert start.reached
    assert start.snapshot == end.snapshot
    assert "op:mean:loss:0" not in second.at(second.scene.start).cards


def test_a_gradient_of_the_step_before_is_still_there(recorded):
    screen = Screen(recorded(
        "w = param(2.0)\nfor i in range(2):\n    loss = w * 3\n    loss.backward()"
    ), 1)  # fmt: skip
    start = screen.at(screen.scene.start).cards["leaf:w"]
    assert screen.number(start.gradient) == 3.0
    end = screen.at(screen.scene.stop).cards["leaf:w"]
    assert [screen.number(s) for s in end.shares] == [3.0, 3.0]
    assert screen.number(end.gradient) == 6.0


def test_a_second_pass_over_the_same_nodes_starts_clean(recorded):
    screen = Screen(
        recorded("x = param(2.0)\ny = x ** 3\ny.backward(retain_graph=True)\ny.backward()")
    )
    shown = screen.after("backward", 1)
    assert all(wire.share is None for wire in shown.wires.values())
    assert screen.number(shown.cards["leaf:x"].gradient) == 12.0
    end = screen.at(screen.scene.stop)
    assert screen.number(end.cards["leaf:x"].gradient) == 24.0


def test_a_composite_that_sends_twice_claims_no_single_share(recorded):
    screen = Screen(recorded("x = param(0.5)\ny = F.softsign(x)\ny.backward()"))
    (wire,) = screen.at(screen.scene.stop).wires.values()
    assert wire.share is None
    assert len(wire.shares) == 2
    assert wire.factor == ""


def test_a_folded_model_receives_and_hands_on(mlp):
    screen = Screen(mlp, open_calls=frozenset())
    shown = screen.at(len(mlp.events))
    module = next(c for c in screen.picture.cards if c.kind == "module")
    assert shown.cards[module.key].reached
    assert shown.cards[module.key].gradient is not None
    assert screen.after("accumulate").cards[module.key].active == "backward"


def test_stepping_back_is_the_same_as_never_having_gone_on(mlp, by_hand):
    for tape in (mlp, by_hand):
        screen = Screen(tape)
        positions = range(screen.scene.start, screen.scene.stop + 1)
        forward = [screen.at(p) for p in positions]
        shuffled = random.Random(2).sample(list(positions), len(positions))
        fresh = Screen(tape)
        assert all(fresh.at(p) == forward[p - positions[0]] for p in shuffled)


def test_after_an_error_what_ran_is_shown(recorded):
    screen = Screen(recorded("x = torch.randn(2, 3)\nh = x * 2\ny = h @ h"))
    shown = screen.at(screen.scene.stop)
    assert shown.cards["op:mul:h:0"].reached
    assert shown.caption.startswith("RuntimeError")


def test_any_position_of_a_long_tape_is_there_at_once(recorded):
    tape = recorded(
        "w = param(0.5)\nfor i in range(1500):\n    l = (w * 2 - 1) ** 2\n    l.backward()\n"
        "    with torch.no_grad():\n        w -= 0.01 * w.grad\n    w.grad = None"
    )
    assert len(tape.events) > 19_000
    screen = Screen(tape, 700)
    screen.at(screen.scene.stop)
    start = time.process_time()
    for position in range(screen.scene.start, screen.scene.stop + 1):
        screen.at(position)
    assert (time.process_time() - start) / 15 < 0.005


def test_while_a_sum_is_being_made_the_card_says_so(fan):
    screen = Screen(fan)
    history = [
        (card.pending, [screen.number(s) for s in card.shares], screen.number(card.gradient))
        for card in (screen.at(position).cards["leaf:x"] for position in range(8, 11))
    ]
    assert history == [
        (False, [16.0], None),
        (True, [16.0, 48.0], None),
        (False, [16.0, 48.0], 64.0),
    ]


def test_an_op_used_twice_is_pending_until_all_its_shares_are_there(recorded):
    tape = recorded("x = param(3.0)\na = x * 2\ny = a**2 + a*5\ny.backward()")
    screen = Screen(tape)
    seen = [screen.at(position).cards.get("op:mul:a:0") for position in range(len(tape.events) + 1)]
    told = [(c.pending, screen.number(c.gradient)) for c in seen if c and (c.pending or c.gradient)]
    assert told[0] == (True, None)
    assert told[-1] == (False, 17.0)
    assert (True, 17.0) not in told


def test_an_update_keeps_the_numbers_before_it(optimizer):
    screen = Screen(optimizer)
    shown = screen.after("step")
    changed = {key: card for key, card in shown.cards.items() if card.changed}
    (step,) = (
        optimizer.steps[e.ref] for e in optimizer.events[: screen.scene.stop] if e.kind == "step"
    )
    before = {
        optimizer.values[[v.id for v in optimizer.values].index(c.before)].snapshot
        for c in step.changes
    }
    assert {card.before for card in changed.values()} == before
    assert all(card.snapshot != card.before for card in changed.values())


def test_zeros_stay_to_be_seen_and_none_is_told_once(recorded):
    source = (
        "w = param(2.0)\nopt = torch.optim.SGD([w], lr=0.1)\nloss = w**2\nloss.backward()\n"
        "opt.zero_grad(set_to_none={})\nprint('done')"
    )
    zeros = Screen(recorded(source.format(False)))
    end = len(zeros.tape.events)
    assert zeros.after("zero_grad").cards["leaf:w"].reset == "zeros"
    assert zeros.at(end).cards["leaf:w"].reset == "zeros"
    none = Screen(recorded(source.format(True)))
    card = none.after("zero_grad").cards["leaf:w"]
    assert (card.reset, card.active, card.gradient) == ("none", "update", None)
    assert none.at(end).cards["leaf:w"].reset == ""


def test_what_was_changed_in_place_later_says_its_version(recorded):
    tape = recorded("x = param(3.0)\na = x * 2\na += 1\na += 1\nb = a * 2")
    screen = Screen(tape)
    versions = [screen.at(p).cards.get("op:mul:a:0") for p in range(len(tape.events) + 1)]
    assert [card.version for card in versions if card] == [None, 1, 2, 2]


def test_a_gradient_of_another_view_arrives_at_the_op_that_changed_it(recorded):
    tape = recorded(
        "a = param([1., 2.])\nb = a * 2\nv = b.view(2)\nv.mul_(3)\ns = b.sum()\ns.backward()"
    )
    screen = Screen(tape)
    shown = screen.at(len(tape.events))
    gradient = tape.snapshots[shown.cards["op:mul_:v:0"].gradient].array()
    assert gradient.tolist() == [1.0, 1.0]
    assert tape.snapshots[shown.cards["leaf:a"].gradient].array().tolist() == [6.0, 6.0]


COUNTED = """w = param(3.0)
v = param(1.0)
for _ in range(3):
    (w * w).backward()
(w * v).backward()
w.grad.zero_()
w.grad = None
(w * 2).backward()
"""


def test_a_leaf_counts_the_passes_whose_gradients_it_has_added_up(recorded):
    """Row 43: torch gives 6, 12, 18, then 19 of four passes, and after None 2 of one."""
    tape = recorded(COUNTED)
    parts = scenes(tape)
    counts = {}
    for number, scene in enumerate(parts):
        screen = Screen(tape, number)
        for at in range(scene.start, scene.stop):
            if tape.events[at].kind != "accumulate":
                continue
            added = tape.accumulations[tape.events[at].ref]
            name = next(v.name for v in tape.values if v.id == added.leaf)
            look = screen.at(at + 1).cards
            shown = [
                card for key, card in look.items() if card.active and card.gradient is not None
            ]
            counts.setdefault(name, []).append(
                (max(card.added for card in shown), screen.number(added.after))
            )
    assert counts["w"] == [(1, 6.0), (2, 12.0), (3, 18.0), (4, 19.0), (1, 2.0)]
    assert counts["v"] == [(1, 3.0)]


def test_zero_grad_starts_the_count_anew(recorded):
    tape = recorded(
        """w = param(3.0)
optimizer = torch.optim.SGD([w], lr=0.0)
(w * w).backward()
(w * w).backward()
optimizer.zero_grad({how})
(w * w).backward()
""".replace("{how}", "set_to_none=False")
    )
    from gradscribe.playback.graph.look import _added_passes

    assert _added_passes(Index(tape)) == [1, 2, 1]


def test_cards_count_the_order_of_the_pass_and_their_visits():
    screen = Screen(record(TWICE))
    runs = [n for n, e in enumerate(screen.tape.events) if e.kind == "node"]
    reader = CardReader(screen.tape, screen.picture.cards)

    def order(name, position):
        card = next(c for c in screen.picture.cards if c.name == name)
        return reader.card(card, screen.at(position).cards.get(card.key)).order

    # Plain torch runs AddBackward0, SinBackward0, ExpBackward0, MulBackward0: the latest first.
    assert [order(name, runs[0]) for name in "abcl"] == [""] * 4
    assert [order(name, runs[3] + 1) for name in "lcba"] == [
        "#1 · 1×",
        "#2 · 1×",
        "#3 · 1×",
        "#4 · 1×",
    ]
    assert [order(name, runs[-1] + 1) for name in "lcba"] == [
        "#1 · 1×",
        "#2 · 1×",
        "#1 · 2×",
        "#2 · 2×",
    ]


def test_a_folded_module_has_the_orders_of_its_first_and_last_node():
    screen = Screen(record(FOLDED), open_calls=frozenset())
    shown = screen.at(len(screen.tape.events))
    module = next(c for c in screen.picture.cards if c.kind == "module")
    look = shown.cards[module.key]
    orders = [
        number + 1 for number, e in enumerate(screen.tape.executions)
        if screen.picture.node_cards[e.node] == module.key
    ]  # fmt: skip
    assert len(orders) >= 2
    assert (look.first_order, look.last_order, look.of) == (
        min(orders), max(orders), len(screen.tape.executions)
    )  # fmt: skip
    assert look.visits == 1


TWICE = """
x = param(2.0)
a = x * 3.0
b = a.exp()
c = a.sin()
l = b + c
l.backward(retain_graph=True)
b.backward()
"""
FOLDED = """
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
net(torch.ones(1, 2)).sum().backward()
"""
