"""A run as a graph of networkx, and the files of it, read by networkx."""

import io
import json
import math

import networkx as nx
import pytest
import torch

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run.run import record
from gradscribe.playback.flow import attributes, take_home

PATHS = """\
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
w = x * y + x
loss = w**2
loss.backward()
"""
NET = """\
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    loss = (net(torch.ones(4, 2)) - 1).pow(2).mean()
    loss.backward()
    opt.step()
a, b = torch.randn(4, 2).chunk(2)
"""
ODD = """\
x = torch.tensor(-1.0, requires_grad=True)
a = torch.log(x)
b = a * torch.tensor(float("inf"))
c = torch.tensor([1 + 2j, 3j]) * 2
d = torch.empty(0, 3) + 1
e = torch.tensor(True) & torch.tensor(False)
b.backward()
"""


def read(kind, data):
    if kind == "json":
        return nx.node_link_graph(json.loads(data), edges="edges")
    reader = nx.read_graphml if kind == "graphml" else nx.read_gexf
    return reader(io.BytesIO(data))


def by_name(graph):
    return {known["name"]: known for _, known in graph.nodes(data=True) if "name" in known}


def test_nodes_have_the_numbers_and_gradients_of_torch():
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    (w := x * y + x).retain_grad()
    (w**2).backward()
    graph = take_home.to_networkx(record(PATHS))
    found = by_name(graph)
    assert (found["x"]["value"], found["x"]["grad"]) == (2.0, x.grad.item())
    assert found["y"]["grad"] == y.grad.item()
    assert (found["w"]["value"], found["w"]["grad"]) == (w.item(), w.grad.item())
    assert found["loss"]["line"] == 4
    assert found["w"]["op"] == "add"


def test_edges_have_the_share_of_the_gradient_that_came_back_along_them():
    graph = take_home.to_networkx(record(PATHS))
    shares = {
        (graph.nodes[target]["op"], known["operand"]): known["grad"]
        for source, target, known in graph.edges(data=True)
        if graph.nodes[source].get("name") == "x"
    }
    assert shares == {("mul", 0): 48.0, ("add", 1): 16.0}


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json"])
@pytest.mark.parametrize("source", [PATHS, NET, ODD], ids=["paths", "net", "odd"])
def test_networkx_reads_the_same_graph_again(kind, source):
    tape = record(source)
    graph, again = take_home.to_networkx(tape), read(kind, take_home.encode(tape, kind))
    assert nx.is_directed_acyclic_graph(again)
    assert set(again) == set(graph)

    def rows_of(of, leave=("id",)):
        rows = [(n, n, known) for n, known in of.nodes(data=True)]
        rows += list(of.edges(data=True))
        return sorted(
            (a, b, *((k, shown(v)) for k, v in sorted(known.items()) if k not in leave))
            for a, b, known in rows
        )

    def shown(known):
        if isinstance(known, list):
            return "x".join(map(str, known)) or "scalar"
        return str(known)

    assert rows_of(again) == rows_of(graph)


@pytest.mark.parametrize("source", [PATHS, NET, ODD], ids=["paths", "net", "odd"])
def test_each_attribute_has_its_documented_type(source):
    graph = take_home.to_networkx(record(source))
    rows = [(attributes.NODE, known) for _, known in graph.nodes(data=True)]
    rows += [(attributes.EDGE, known) for _, _, known in graph.edges(data=True)]
    rows.append((attributes.GRAPH, graph.graph))
    for types, known in rows:
        assert {key: type(known[key]) for key in known} == {key: types[key] for key in known}


def test_a_tensor_has_its_norm():
    tape = record("w = torch.arange(6.0).reshape(2, 3).requires_grad_()\n(w * w).sum().backward()")
    found = by_name(take_home.to_networkx(tape))["w"]
    w = torch.arange(6.0).reshape(2, 3)
    assert found["shape"] == "2x3"
    assert found["value_norm"] == pytest.approx(w.norm().item())
    assert found["grad_norm"] == pytest.approx((2 * w).norm().item())
    assert "value" not in found


def test_json_has_lists_and_no_number_that_json_lacks():
    text = take_home.encode(record(ODD), "json").decode()

    def fail(word):
        raise AssertionError(word)

    data = json.loads(text, parse_constant=fail)
    named = {node["name"]: node for node in data["nodes"] if "name" in node}
    assert named["a"]["value"] == "nan"
    assert named["d"]["shape"] == [0, 3]
    assert named["x"]["shape"] == []


def test_graphml_spells_numbers_as_xml_schema_does():
    text = take_home.encode(record(ODD), "graphml").decode()
    assert ">NaN<" in text
    assert ">nan<" not in text
    assert ">true<" in text
    assert ">True<" not in text


def test_a_program_that_failed_has_the_call_that_did():
    graph = take_home.to_networkx(record("a = torch.ones(2)\nb = a @ torch.ones(3)"))
    assert graph.nodes["failed"]["line"] == 2
    assert len(graph.in_edges("failed")) == 2


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json"])
def test_a_run_without_tensors_is_an_empty_graph(kind):
    assert len(read(kind, take_home.encode(Tape(), kind))) == 0


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json"])
def test_characters_that_xml_lacks_do_no_harm(kind):
    tape = record(
        "class M(nn.Module):\n    def forward(self, x):\n        return x + 1\n"
        "net = nn.Sequential()\nnet.add_module('a\\x0b<&é', M())\ny = net(torch.ones(2))"
    )
    again = read(kind, take_home.encode(tape, kind))
    assert any("<&é" in known.get("module", "") for _, known in again.nodes(data=True))


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json"])
def test_names_of_any_characters_can_be_read_again(kind):
    tape = record(
        "net = nn.Sequential()\n"
        "net.add_module('a\\x00\\r\\ud800\\x1b\\n\\t\"<&é😀', nn.Linear(1, 1))\n"
        "y = net(torch.ones(1, 1))"
    )
    again = read(kind, take_home.encode(tape, kind))
    lost = "\N{REPLACEMENT CHARACTER}"
    xml = f'net.a{lost * 4}\n\t"<&é😀'
    module = 'net.a\x00\r\ud800\x1b\n\t"<&é😀' if kind == "json" else xml
    assert module in {known.get("module") for _, known in again.nodes(data=True)}


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_the_smallest_and_the_largest_number_survive(kind):
    numbers = (5e-324, 1.7976931348623157e308, -0.0, math.inf, -math.inf)
    lines = (
        f"v{at} = torch.tensor(float('{x}'), dtype=torch.float64).clone()"
        for at, x in enumerate(numbers)
    )
    again = by_name(read(kind, take_home.encode(record("\n".join(lines)), kind)))
    values = [again[f"v{at}"]["value"] for at in range(len(numbers))]
    assert values == list(numbers)
    assert math.copysign(1.0, values[2]) == -1.0


def test_infinities_survive_graphml():
    again = by_name(read("graphml", take_home.encode(record(ODD), "graphml")))
    assert math.isnan(again["b"]["value"])
