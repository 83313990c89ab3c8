import pytest
import torch

from gradscribe.engine.record.values import containers
from tests.engine.mirror import gradient, mirror

OWN = """\
from dataclasses import dataclass
from collections import namedtuple
class Holder:
    def __init__(self):
        self.w = torch.ones(2, requires_grad=True)
@dataclass
class Pair:
    a: torch.Tensor
    b: torch.Tensor
Both = namedtuple("Both", "first second")
def leaf(): return torch.ones(2, requires_grad=True)
holder, pair, both = Holder(), Pair(leaf(), leaf()), Both(leaf(), leaf())
params = {"0.weight": leaf(), "deep": [leaf(), (leaf(),)]}
(holder.w * 2 + pair.a * 3 + pair.b * 4 + both.second * 5 + params["0.weight"] * 6
 + params["deep"][0] * 7 + params["deep"][1][0] * 8).sum().backward()
"""


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("holder.w", 2),
        ("pair.a", 3),
        ("pair.b", 4),
        ("both.second", 5),
        ("params['0.weight']", 6),
        ("params['deep'][0]", 7),
        ("params['deep'][1][0]", 8),
    ],
)
def test_leaves_are_named_by_the_expression_that_reaches_them(name, factor):
    tape = mirror(OWN)
    assert gradient(tape, name).tolist() == [factor, factor]
    (leaf,) = [leaf for leaf in tape.leaves if leaf.name == name]
    assert next(v.name for v in tape.values if v.id == leaf.value) == name


def test_layers_called_through_a_loop_variable_have_their_own_names():
    tape = mirror(
        "layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])\nx = torch.ones(2)\n"
        "for layer in layers:\n    x = layer(x)\nx.sum().backward()"
    )
    assert [call.name for call in tape.calls] == ["layers.0", "layers.1"]
    assert [op.scope for op in tape.ops if op.op == "linear"] == ["layers.0", "layers.1"]
    names = {leaf.name for leaf in tape.leaves if leaf.grad is not None}
    assert names == {f"layers.{n}.{kind}" for n in (0, 1) for kind in ("weight", "bias")}


def test_a_loop_variable_names_a_layer_that_has_no_other_name():
    tape = mirror("for net in (nn.Linear(1, 1), nn.Linear(1, 1)):\n    net(torch.ones(1))")
    assert [call.name for call in tape.calls] == ["net", "net"]


def test_a_list_that_contains_itself_ends():
    circle: list[object] = [torch.ones(1)]
    circle.append(circle)
    found = list(containers.tensors_inside({"__name__": "x", "circle": circle}))
    assert [name for name, _ in found] == ["circle[0]"]


def test_a_class_with_its_own_way_of_giving_attributes_is_not_run():
    asked = []

    class Secret:
        def __getattribute__(self, name):
            asked.append(name)
            raise RuntimeError(name)

        def __iter__(self):
            asked.append("iter")
            return iter(())

    Secret.__module__ = "x"
    secret = Secret()
    asked.clear()
    assert list(containers.tensors_inside({"__name__": "x", "secret": secret})) == []
    assert "iter" not in asked


def test_long_lists_are_data_and_not_searched_to_their_end():
    many = [torch.ones(1) for _ in range(containers.MOST_ELEMENTS + 5)]
    found = list(containers.tensors_inside({"many": many}))
    assert len(found) == containers.MOST_ELEMENTS
