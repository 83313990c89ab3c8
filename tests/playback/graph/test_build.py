from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.folding.modules import MAX_CARDS
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import scenes


def picture(tape, open_calls=None, scene=0):
    return build_picture(tape, scenes(tape)[scene], open_calls)


def cards(tape, **kw):
    return {card.key: card for card in picture(tape, **kw).cards}


def test_a_neuron_has_the_cards_of_the_picture(neuron):
    found = picture(neuron)
    assert sorted((c.kind, c.title) for c in found.cards) == sorted([
        ("data", "x1"), ("parameter", "w1"), ("data", "x2"), ("parameter", "w2"),
        ("op", "mul"), ("op", "mul"), ("op", "add"), ("parameter", "b"), ("op", "add"),
        ("op", "tanh"), ("constant", ""), ("op", "sub"), ("loss", "pow"),
    ])  # fmt: skip


def test_a_card_shows_symbol_name_and_value(neuron):
    card = cards(neuron)["op:add:n:0"]
    assert (card.symbol, card.name, card.title) == ("+", "n", "add")
    assert card.value == neuron.ops[card.op].outputs[0]
    assert cards(neuron)["op:pow:L:0"].symbol == "x²"


def test_literals_are_pills_of_their_own_and_named_ones_have_their_name(neuron):
    found = cards(neuron)
    literals = {c.title: (c.literal, c.kind, c.cut) for c in found.values() if c.literal}
    assert literals == {
        "x1": ("2.0", "data", True), "x2": ("0.0", "data", True), "": ("0.5", "constant", True),
    }  # fmt: skip


def test_the_exponent_is_in_the_chip_and_not_a_pill(fan):
    assert not any(card.literal for card in picture(fan).cards)


def test_a_leaf_used_twice_is_one_pill_with_two_wires(fan):
    found = picture(fan)
    assert [c.title for c in found.cards].count("x") == 1
    assert len([w for w in found.wires if w.source == "leaf:x"]) == 2


def test_wires_keep_the_order_of_the_operands(neuron):
    by_target = {}
    for wire in picture(neuron).wires:
        by_target.setdefault(wire.target, []).append((wire.operand, wire.source))
    assert [s for _, s in sorted(by_target["op:add:n:0"])] == ["op:add::0", "leaf:b"]
    assert all([o for o, _ in sorted(w)] == list(range(len(w))) for w in by_target.values())


def test_producers_come_before_what_uses_them(neuron, mlp, blocks, by_hand):
    for tape in (neuron, mlp, blocks, by_hand):
        found = picture(tape)
        place = {card.key: n for n, card in enumerate(found.cards)}
        assert all(place[w.source] < place[w.target] for w in found.wires)


def test_a_wire_is_dashed_where_no_gradient_comes_back(recorded):
    tape = recorded(
        "x = torch.ones(2)\nw = param([1.0, 2.0])\ny = x * w\nz = y.detach() * w\n"
        "z.sum().backward()"
    )
    dashed = {(w.source.split(":")[1], w.dashed) for w in picture(tape).wires}
    assert ("x", True) in dashed
    assert ("detach", True) in dashed
    assert ("w", False) in dashed


def test_what_no_gradient_can_pass_is_cut_off(recorded):
    tape = recorded(
        "x = param(1.0)\nwith torch.no_grad():\n    y = x * 2\nz = x * 3\nd = z.detach()"
    )
    cut = {c.name: c.cut for c in picture(tape).cards if c.kind == "op"}
    assert cut == {"y": True, "z": False, "d": True}


def test_wires_tell_the_shape_of_tensors_only(mlp, neuron):
    assert "16 × 8" in {w.shape for w in picture(mlp).wires}
    assert {w.shape for w in picture(neuron).wires} == {""}


def test_in_place_results_and_views_are_marked(recorded):
    tape = recorded("x = param(3.0)\na = x * 2\na += 1\nb = a.view(1)")
    marks = {card.title: card.mark for card in picture(tape).cards}
    assert marks["add_"] == "⧉ a · v1"
    assert marks["view"] == marks["mul"] == "⧉ a"


def test_every_edge_of_the_picture_has_its_wire(neuron, fan, mlp):
    for tape in (neuron, fan, mlp):
        found, index = picture(tape), Index(tape)
        wires = {w.key: w for w in found.wires}
        for op in tape.ops:
            inner = set(op.nodes)
            for node in op.nodes:
                for slot, after in enumerate(index.nodes[node].next):
                    if after is None or after[0] in inner:
                        assert (node, slot) not in found.edge_wires
                        continue
                    wire = wires[found.edge_wires[node, slot]]
                    assert wire.target == found.node_cards[node]
                    value = index.values[wire.value]
                    leads = (value.node, value.output_nr) if value.node else (value.id, 0)
                    assert leads == after


def test_a_square_has_two_wires_for_its_two_slots(recorded):
    tape = recorded("x = param(3.0)\ny = x * x\ny.backward()")
    found = picture(tape)
    assert len(found.wires) == 2
    assert len(set(found.edge_wires.values())) == 2


def test_no_two_edges_share_a_wire_in_an_open_picture(neuron, mlp):
    for tape in (neuron, mlp):
        wires = list(picture(tape).edge_wires.values())
        assert len(wires) == len(set(wires))


def test_modules_stand_in_frames_with_their_parameters(mlp):
    found = picture(mlp)
    frames = {frame.key: frame for frame in found.frames}
    assert (frames["call:net.0#0"].title, frames["call:net.0#0"].kind) == ("0", "Linear(2 → 8)")
    assert frames["call:net.0#0"].note == "24 parameters"
    assert frames["call:net.0#0"].parent == "call:net#0"
    inside = [(c.kind, c.title) for c in found.cards if c.frame == "call:net.0#0"]
    assert inside == [("parameter", "weight"), ("parameter", "bias"), ("op", "linear")]
    assert next(c.frame for c in found.cards if c.title == "x") == ""


def test_a_folded_module_is_one_card_that_hides_its_parameters(mlp):
    found = picture(mlp, frozenset({"call:net#0", "call:net.0#0"}))
    card = next(c for c in found.cards if c.key == "call:net.2#0")
    assert (card.kind, card.title, card.note) == ("module", "2: Linear", "8 → 8 · 72 params")
    assert card.frame == "call:net#0"
    assert not any(c.name == "net.2.weight" for c in found.cards)
    weight = next(v.id for v in mlp.values if v.name == "net.2.weight")
    assert found.value_cards[weight] == card.key


def test_a_folded_model_keeps_the_way_of_the_gradient(mlp):
    found = picture(mlp, frozenset())
    assert [c.kind for c in found.cards] == ["data", "module", "data", "loss"]
    loss = next(c for c in found.cards if c.kind == "loss")
    net = next(c for c in found.cards if c.kind == "module")
    wire = found.edge_wires[mlp.ops[loss.op].node, 0]
    assert wire.startswith(f"{net.key}>{loss.key}")


def test_one_module_that_is_called_again_and_again_has_one_name(recorded):
    tape = recorded(
        "enc = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))\n"
        "xs = [torch.ones(2, 3) * i for i in range(9)]\n"
        "ys = [enc(x) for x in xs]\nloss = torch.stack(ys).sum()\nloss.backward()"
    )
    card = next(c for c in picture(tape, frozenset()).cards if c.repeats > 1)
    assert (card.title, card.repeats) == ("enc: Sequential", 9)
    frame = next(f for f in picture(tape, frozenset({card.key})).frames if f.repeats > 1)
    assert frame.title == "enc"


def test_many_alike_blocks_are_counted_on_one_card(blocks):
    found = picture(blocks)
    card = next(c for c in found.cards if c.repeats > 1)
    assert (card.mark, card.repeats, card.title) == ("×12", 12, "h.0–11: Block")
    assert len(found.cards) <= MAX_CARDS


def test_an_update_changes_leaves_and_is_no_card(by_hand):
    titles = [c.title for c in picture(by_hand).cards]
    assert "sub_" not in titles
    assert titles.count("w") == 1


def test_what_an_earlier_step_made_is_data_here(by_hand):
    found = {c.title: c for c in picture(by_hand, scene=1).cards}
    assert (found["y"].kind, found["y"].cut) == ("data", True)
    assert found["w"].kind == "parameter"


def test_steps_of_a_loop_have_the_same_keys(by_hand):
    second, third = ({card.key for card in picture(by_hand, scene=n).cards} for n in (1, 2))
    assert second == third


def test_keys_do_not_move_when_other_lines_change(recorded):
    before = cards(recorded("x = param(2.0)\ny = x * 2\nz = y + x"))
    after = cards(recorded("# a comment\nk = param(1.0)\nx = param(2.0)\ny = x * 2\n\nz = y + x"))
    assert set(before) <= set(after)


def test_a_named_leaf_that_nothing_uses_is_still_there(recorded):
    assert "leaf:lonely" in cards(recorded("lonely = param(1.0)\nx = param(2.0)\ny = x * 2"))


def test_a_half_run_program_has_the_picture_of_what_ran(recorded):
    tape = recorded("x = torch.randn(2, 3, requires_grad=True)\nh = x * 2\ny = h @ h\nz = y + 1")
    assert tape.status == "error"
    assert [c.title for c in picture(tape).cards] == ["x", "", "mul", "matmul"]


def test_nothing_has_an_empty_picture(recorded):
    found = picture(recorded(""))
    assert (found.cards, found.wires, found.frames) == ((), (), ())


def test_batch_norm_shows_no_counting_of_batches(recorded):
    tape = recorded(
        "net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))\n"
        "net(torch.ones(4, 2)).sum().backward()"
    )
    titles = [card.title for card in picture(tape).cards]
    assert "add_" not in titles
    assert "batch_norm" in titles
    folded = picture(tape, frozenset())
    assert [card.kind for card in folded.cards] == ["data", "module", "loss"]


def test_a_parameter_made_of_a_tensor_is_one_pill_without_its_making(recorded):
    tape = recorded("w = param(torch.ones(3))\ny = (w * 2).sum()\ny.backward()")
    found = picture(tape)
    assert [(c.kind, c.title) for c in found.cards] == [
        ("parameter", "w"), ("constant", ""), ("op", "mul"), ("loss", "sum"),
    ]  # fmt: skip
    (leaf,) = (leaf for leaf in tape.leaves if leaf.name == "w")
    assert found.value_cards[leaf.value] == "leaf:w"


def test_a_buffer_stands_in_the_module_it_was_made_for(recorded):
    tape = recorded(MASKED)
    folded = picture(tape, open_calls=frozenset())
    assert [card.title for card in folded.cards] == ["x", "net: Net", "sum"]
    opened = {c.title: c.frame for c in picture(tape, open_calls=frozenset({"call:net#0"})).cards}
    assert opened["tril"] == opened["mul"] == "call:net#0"


MASKED = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3, 3))
        self.register_buffer("mask", torch.tril(torch.ones(3, 3)))
    def forward(self, x):
        return x @ (self.w * self.mask)
net = Net()
x = torch.ones(1, 3)
y = net(x).sum()
y.backward()
"""


def test_after_an_in_place_change_other_views_come_from_the_op_that_changed_them(recorded):
    tape = recorded("a = param([1., 2.])\nb = a * 2\nv = b.view(2)\nv.mul_(3)\ns = b.sum()")
    found = picture(tape)
    assert ("op:mul_:v:0", "op:sum:s:0") in {(w.source, w.target) for w in found.wires}


def test_a_wire_says_why_the_gradient_stops_and_which_output_it_takes(recorded):
    tape = recorded(
        "x = param([1., 2., 3.])\ny = x * 2\nd = y.detach()\nwith torch.no_grad():\n    n = y + 1\n"
        "big = y.argmax()\na, b = y.topk(2)\nc = a * 2"
    )
    cuts = {wire.target.split(":")[1]: wire.cut for wire in picture(tape).wires if wire.cut}
    assert cuts == {"detach": "detach", "add": "no_grad", "argmax": "argmax"}
    assert [wire.part for wire in picture(tape).wires if wire.part] == ["a"]


def test_a_folded_module_shows_what_it_hands_on_and_not_its_running_statistics(recorded):
    tape = recorded(
        "net = nn.Sequential(nn.BatchNorm1d(2), nn.ReLU())\ny = net(torch.randn(4, 2)).sum()"
    )
    card = next(c for c in picture(tape, open_calls=frozenset({"call:net#0"})).cards
                if c.kind == "module")  # fmt: skip
    assert tape.values[[v.id for v in tape.values].index(card.value)].shape == (4, 2)
    assert not card.cut
