"""Visits of backward nodes next to the order in which plain torch runs them."""

import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.flow.next_functions import visit
from gradscribe.playback.graph.visits import visits_of
from gradscribe.playback.tape.index import index_of

SHARED = """
x = param(2.0)
a = x * 3.0
b = a.exp()
c = a.sin()
loss = b + c
loss.backward(retain_graph=True)
b.backward()
"""


def test_each_pass_counts_from_1_and_visits_count_on():
    x = torch.tensor(2.0, requires_grad=True)
    a = x * 3.0
    b, c = a.exp(), a.sin()
    loss = b + c
    ran = []
    for tensor in (a, b, c, loss):
        node = tensor.grad_fn
        node.register_hook(lambda *_, node=node: ran.append(node.name()))
    loss.backward(retain_graph=True)
    first = len(ran)
    b.backward()

    index = index_of(record(SHARED))
    nodes = [index.nodes[e.node].name for e in index.tape.executions]
    assert nodes == ran
    found = visits_of(index)
    assert [v.order for v in found] == [*range(1, first + 1), *range(1, len(ran) - first + 1)]
    assert [v.of for v in found] == [first] * first + [len(ran) - first] * (len(ran) - first)
    assert [v.visits for v in found] == [ran[: n + 1].count(name) for n, name in enumerate(ran)]


def test_the_inspector_and_the_cards_count_alike():
    index = index_of(record(SHARED))
    found = visits_of(index)
    for at, event in enumerate(index.tape.events):
        if event.kind == "node":
            node = index.tape.executions[event.ref].node
            assert visit(index, node, at + 1) == found[event.ref]
