"""Questions to the graph of a run."""

import random

import networkx as nx

from gradscribe.engine.run.run import record
from gradscribe.playback.flow import network
from gradscribe.playback.tape.index import index_of

SOURCE = """\
x = param(2.0)
y = param(3.0)
a = x * y
b = a.detach()
with torch.no_grad():
    c = x * 5
d = a + b + c
other = y * 7
loss = d.tanh()
loss.backward()
"""


def asked(source=SOURCE):
    index = index_of(record(source))
    return index, {value.name: value.id for value in index.tape.values if value.name}


def names(index, values):
    return {index.values[value].name for value in values} - {""}


def test_what_leads_to_a_value():
    index, named = asked()
    assert names(index, network.before(index, [named["a"]])) == {"x", "y", "a"}


def test_what_follows_from_a_value():
    index, named = asked()
    assert names(index, network.after(index, [named["y"]])) == {"y", "a", "b", "d", "other", "loss"}


def test_a_gradient_is_cut_at_detach_and_no_grad():
    index, named = asked()
    ops = network.cut(index, named["x"], [named["loss"]])
    assert [(index.op(op).op, index.op(op).place.line) for op in ops] == [("detach", 4), ("mul", 6)]
    assert network.cut(index, named["y"], [named["d"]])
    index, named = asked("x = param(2.0)\nloss = x * 3\nloss.backward()")
    assert network.cut(index, named["x"], [named["loss"]]) == []


def test_every_way_passes_the_bottlenecks():
    index, named = asked("x = param(2.0)\na = x * x\nb = a.sin() + a.cos()\nloss = b * b\n")
    chain = network.bottlenecks(index, named["x"], named["loss"])
    assert [index.values[value].name for value in chain] == ["a", "b", "loss"]
    assert network.bottlenecks(index, named["loss"], named["x"]) == []


def test_the_critical_path_takes_longest():
    index, _ = asked()
    path = network.critical_path(index, range(len(index.tape.ops)))
    times = index.tape.times
    longest: dict[int, int] = {}
    for number, op in enumerate(index.tape.ops):
        makers = [index.values[v].op for v in op.inputs]
        longest[number] = times[number] + max(
            (longest[m] for m in makers if m is not None), default=0
        )
    assert sum(times[number] for number in path) == max(longest.values())
    assert network.critical_path(index, range(0)) == []


def test_an_updated_leaf_is_one_node():
    index, _ = asked(
        "w = param(2.0)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(2):\n    loss = w * w\n    loss.backward()\n    opt.step()"
    )
    versions = [v.id for v in index.tape.values if v.name == "w"]
    assert len({network.node_of(index, version) for version in versions}) == 1


def test_before_and_after_are_ancestors_and_descendants_in_random_programs():
    rng = random.Random(5)
    for _ in range(20):
        names, lines = ["v0", "v1"], ["v0 = param(1.0)", "v1 = param(0.5)"]
        for number in range(2, 30):
            a, b = rng.choice(names), rng.choice(names)
            form = rng.choice(("{a} * {b}", "{a} + {b}", "{a}.detach()", "{a}.sin()"))
            lines.append(f"v{number} = {form.format(a=a, b=b)}")
            names.append(f"v{number}")
        index, _ = asked("\n".join(lines))
        plain = nx.DiGraph()
        plain.add_nodes_from(value.id for value in index.tape.values)
        for op in index.tape.ops:
            plain.add_edges_from((a, b) for a in op.inputs for b in op.outputs)
        for value in plain:
            assert network.before(index, [value]) == nx.ancestors(plain, value) | {value}
            assert network.after(index, [value]) == nx.descendants(plain, value) | {value}
