"""Next functions, visits and the walk, next to what plain torch's own graph says."""

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.flow.next_functions import next_functions, visit, walk
from gradscribe.playback.tape.index import index_of

FAN = """
x = param(2.0)
y = param(3.0)
z = x * y
w = z + x
loss = w ** 2
loss.backward()
"""
SUITE = (
    FAN,
    "x = param([1.0, 2.0])\nloss = (x.detach() * x).sum() + x.exp().mean()\nloss.backward()",
    "x = param([[1.0, 2.0]])\na, b = x.split(1, dim=1)\nloss = (b * a * b).sum()\nloss.backward()",
    (
        "w = param([[1.0, 2.0]])\nb = param([1.0])\n"
        "loss = torch.sigmoid(F.linear(torch.ones(3, 2), w, b)).var()\nloss.backward()"
    ),
)


def plain(source):
    """Return plain torch's names in depth-first order, and in the order in which they run."""
    names = {"torch": torch, "F": torch.nn.functional}
    names["param"] = lambda numbers: torch.tensor(numbers, requires_grad=True)
    exec(source.replace("loss.backward()", ""), names)
    found, ran = [], []

    def follow(node):
        if node is None or node in seen:
            return
        seen.append(node)
        found.append(node.name())
        if "Accumulate" not in node.name():
            node.register_hook(lambda *_, node=node: ran.append(node.name()))
        for after, _ in node.next_functions:
            follow(after)

    seen = []
    follow(names["loss"].grad_fn)
    names["loss"].backward()
    return [name.rsplit("::", 1)[-1] for name in found], ran, names["loss"].grad_fn


def recorded(source):
    index = index_of(record(source))
    return index, next(v for v in reversed(index.tape.values) if v.name == "loss")


@pytest.mark.parametrize("source", SUITE)
def test_the_walk_is_that_of_the_recursive_function(source):
    index, loss = recorded(source)
    steps = walk(index, [loss.id])
    names = [index.nodes[s].name if s in index.nodes else "AccumulateGrad" for s in steps]
    assert [name.removesuffix("\n") for name in names] == [
        name.rsplit("/", 1)[-1] for name in plain(source)[0]
    ]


@pytest.mark.parametrize("source", SUITE)
def test_the_order_is_the_one_in_which_torch_runs_the_nodes(source):
    index, loss = recorded(source)
    last = len(index.tape.events)
    visits = {
        node: visit(index, node, last) for node in walk(index, [loss.id]) if node in index.nodes
    }
    in_order = sorted(visits, key=lambda node: visits[node].order)
    ran = plain(source)[1]
    assert [index.nodes[node].name for node in in_order] == ran
    assert {v.of for v in visits.values()} == {len(ran)}
    assert {v.visits for v in visits.values()} == {1}


@pytest.mark.parametrize("source", SUITE)
def test_the_entries_of_the_loss_are_torchs_own(source):
    index, loss = recorded(source)
    entries = [entry for entry in next_functions(index, loss.node) if not entry.depth]
    expected = [
        ("None", 0) if node is None else (node.name().rsplit("::", 1)[-1], number)
        for node, number in plain(source)[2].next_functions
    ]
    assert [(entry.name, entry.input_nr) for entry in entries] == expected


def test_a_second_pass_is_a_second_visit():
    source = FAN.replace("loss.backward()", "loss.backward(retain_graph=True)\nloss.backward()")
    index, loss = recorded(source)
    assert visit(index, loss.node, 0) is None
    first = index.node_runs[loss.node][0][0] + 1
    assert visit(index, loss.node, first).visits == 1
    last = visit(index, loss.node, len(index.tape.events))
    assert (last.visits, last.order, last.run) == (2, 1, 1)


def test_a_tensor_used_twice_sixty_times_over_is_walked_once():
    source = "x = param(1.0)\ny = x\nfor _ in range(60):\n    y = y + y\ny.backward()"
    index = index_of(record(source))
    y = [v for v in index.tape.values if v.name == "y"][-1]
    assert len(walk(index, [y.id])) == 61
