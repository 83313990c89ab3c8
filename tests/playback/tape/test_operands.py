import time

from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.operands import operand_edges, operands


def test_a_reflected_op_is_read_as_it_is_written(recorded):
    tape = recorded("x = param(2.0)\na = 1 - x\nb = 1 / x\nc = x - 1")
    firsts = [operands(op)[0].value is None for op in tape.ops if op.op in ("rsub", "rdiv", "sub")]
    assert firsts == [True, True, False]


def test_lists_of_tensors_are_operands_in_order(recorded):
    tape = recorded("a, b = param(1.0), param(2.0)\nc = torch.stack([a, b])")
    assert [arg.value for arg in operands(tape.ops[0])][:2] == list(tape.ops[0].inputs)


def test_every_edge_out_of_an_op_finds_its_operand(mlp):
    index = Index(mlp)
    for op in mlp.ops:
        inner = set(op.nodes)
        leaving = {
            (node, slot)
            for node in op.nodes
            for slot, after in enumerate(index.nodes[node].next)
            if after is not None and after[0] not in inner
        }
        assert set(operand_edges(index, op)) == leaving


def test_two_uses_of_one_value_have_an_edge_each(recorded):
    tape = recorded("x = param(3.0)\ny = x * x")
    assert sorted(operand_edges(Index(tape), tape.ops[0]).values()) == [0, 1]


def test_outputs_of_one_node_are_told_apart(recorded):
    tape = recorded("x = torch.ones(4, requires_grad=True)\na, b = x.split(2)\ny = b * a")
    index = Index(tape)
    found = operand_edges(index, tape.ops[1])
    node = tape.ops[1].node
    for (_, slot), operand in found.items():
        value = index.values[operands(tape.ops[1])[operand].value]
        assert index.nodes[node].next[slot][1] == value.output_nr


def test_a_composite_may_send_two_shares_to_one_operand(recorded):
    tape = recorded("x = param(0.5)\ny = F.softsign(x)")
    assert list(operand_edges(Index(tape), tape.ops[0]).values()) == [0, 0]


def test_thousands_of_operands_have_an_edge_each_in_their_order(recorded):
    tape = recorded("xs = [param(1.0) for _ in range(3000)]\ny = torch.stack(xs)")
    op = tape.ops[0]
    since = time.thread_time()
    found = operand_edges(Index(tape), op)
    # One operand after the other for each edge took four seconds.
    assert time.thread_time() - since < 1
    assert found == {(op.node, at): at for at in range(3000)}


def test_a_value_used_more_often_than_it_stands_there_is_found_again(recorded):
    tape = recorded(
        "x = param([1.0, 2.0])\nw = param([3.0, 4.0])\ny = torch.stack([x, w, x, x, w])"
    )
    index = Index(tape)
    places = operand_edges(index, tape.ops[0])
    assert list(places.values()) == [0, 1, 2, 3, 4]
    for (node, slot), at in places.items():
        leaf, _ = index.nodes[node].next[slot]
        assert index.first_version(leaf) == index.first_version(tape.ops[0].inputs[at])
