from gradscribe.playback.graph.folding.modules import MAX_CARDS, plan_folding
from gradscribe.playback.tape.index import Index


def planned(tape, open_calls=None):
    index = Index(tape)
    ops = [n for n in range(len(tape.ops)) if index.kinds[n] == "forward"]
    return plan_folding(index, ops, open_calls)


def test_a_small_model_is_wide_open(mlp):
    found = planned(mlp)
    assert [unit.key for unit in found.frames] == [
        "call:net#0", "call:net.0#0", "call:net.2#0", "call:net.4#0",
    ]  # fmt: skip
    assert found.folded == {}


def test_a_module_that_is_one_op_without_parameters_gets_no_frame(mlp):
    assert sorted(mlp.calls[call].kind for call in planned(mlp).frameless_calls.values()) == [
        "Tanh",
        "Tanh",
    ]


def test_with_nothing_open_the_whole_model_is_one_unit(mlp):
    found = planned(mlp, frozenset())
    assert found.frames == []
    assert {unit.key for unit in found.folded.values()} == {"call:net#0"}


def test_alike_neighbours_fold_into_one(blocks):
    found = planned(blocks)
    (group,) = {unit.key: unit for unit in found.folded.values() if unit.repeats > 1}.values()
    assert group.repeats == 12
    assert len(group.calls) == 12


def test_an_opened_row_shows_its_members_and_can_be_closed_again(blocks):
    row = next(u.key for u in planned(blocks).folded.values() if u.repeats > 1)
    found = planned(blocks, frozenset({"call:net#0", row}))
    assert row in {unit.key for unit in found.frames}
    assert len({unit.key for unit in found.folded.values() if unit.calls}) >= 12


def test_what_is_open_by_itself_stays_within_the_limit(blocks):
    found = planned(blocks)
    shown = len(found.inside) + len({unit.key for unit in found.folded.values()})
    assert shown <= MAX_CARDS


def test_few_alike_modules_are_not_counted_together(mlp):
    assert all(unit.repeats == 1 for unit in planned(mlp).frames)


def test_calls_of_one_module_are_told_apart(recorded):
    tape = recorded("f = nn.Linear(1, 1)\nx = torch.ones(1, 1)\ny = f(f(x))")
    assert [unit.key for unit in planned(tape).frames] == ["call:f#0", "call:f#1"]


def test_a_picture_that_would_be_too_high_folds_what_is_deepest(recorded):
    tape = recorded(RESIDUAL)
    found = planned(tape)
    assert {unit.repeats for unit in found.folded.values()} >= {3}
    assert "call:net#0" in {unit.key for unit in found.frames}


RESIDUAL = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
    def forward(self, x):
        return x + self.b(F.relu(self.a(x)))
net = nn.Sequential(Block(), Block(), Block())
y = net(torch.ones(2, 8)).sum()
"""


def test_a_module_of_very_many_leaves_stays_folded(recorded):
    tape = recorded("net = nn.LSTM(2, 3)\nout, state = net(torch.ones(4, 1, 2))")
    found = planned(tape)
    assert found.frames == []


def test_what_was_adopted_does_not_change_the_order_of_the_modules(recorded):
    tape = recorded(RESIDUAL)
    index = Index(tape)
    ops = [n for n in range(len(tape.ops)) if index.kinds[n] == "forward"]
    last = tape.ops[ops[-2]].call
    assert last is not None
    plain_ = plan_folding(index, ops, frozenset({"call:net#0"}))
    adopting = plan_folding(index, ops, frozenset({"call:net#0"}), {ops[-1]: last})
    assert [u.key for u in plain_.frames] == [u.key for u in adopting.frames]
