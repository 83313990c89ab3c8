"""Module calls: paths, nesting, repeated and shared modules."""

import gc
import weakref

import pytest
import torch
from torch import nn

from gradscribe.engine.record.forward import modules
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run.run import record
from tests.engine.mirror import mirror, ops

NESTED = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return torch.relu(self.fc(x)) + x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
net = Net()
out = net(torch.ones(1, 2))
"""


def test_paths_lead_from_the_users_variable_down():
    tape = record(NESTED)
    assert [c.name for c in tape.calls] == [
        "net",
        "net.blocks.0",
        "net.blocks.0.fc",
        "net.blocks.1",
        "net.blocks.1.fc",
        "net.blocks.2",
        "net.blocks.2.fc",
    ]
    assert [c.parent for c in tape.calls] == [None, 0, 1, 0, 3, 0, 5]
    assert tape.calls[2].kind == "Linear"
    assert tape.calls[2].parameters == 6
    assert "in_features=2" in tape.calls[2].about
    assert [o.scope for o in tape.ops[:3]] == ["net.blocks.0.fc", "net.blocks.0", "net.blocks.0"]


def test_parameters_carry_their_full_names():
    tape = record(NESTED)
    assert "net.blocks.1.fc.weight" in {v.name for v in tape.values}


def test_a_module_called_twice_is_one_module_in_two_calls():
    tape = mirror("fc = nn.Linear(2, 2)\nx = fc(fc(torch.ones(1, 2)))\nx.sum().backward()")
    assert [c.name for c in tape.calls] == ["fc", "fc"]
    assert tape.calls[0].module == tape.calls[1].module
    weight = {v.id for v in tape.values if v.name == "fc.weight"}
    assert len(weight) == 1


def test_a_module_without_a_variable_goes_by_its_class():
    assert record("y = nn.Tanh()(torch.ones(1))").calls[0].name == "Tanh"


def test_an_exception_inside_forward_leaves_every_module():
    tape = mirror(
        "class Bad(nn.Module):\n    def forward(self, x):\n        return x @ torch.ones(5, 5)\n"
        "bad = Bad()\ntry:\n    bad(torch.ones(2, 2))\nexcept RuntimeError:\n    print('caught')\n"
        "y = torch.ones(1) * 2"
    )
    assert tape.ops[-1].scope == ""


def test_training_mode_is_noted_per_call():
    tape = record("d = nn.Dropout()\nd(torch.ones(2))\nd.eval()\nd(torch.ones(2))")
    assert [c.training for c in tape.calls] == [True, False]


def test_lazy_modules_are_seen_once_they_have_a_shape():
    tape = mirror(
        "net = nn.Sequential(nn.LazyConv2d(2, 3), nn.LazyBatchNorm2d(), nn.Flatten(),"
        " nn.LazyLinear(1))\nunused = nn.LazyLinear(2)\n"
        "net.zero_grad()\nprint(unused)\nnet(torch.ones(2, 1, 4, 4)).sum().backward()\n"
        "optim.SGD(net.parameters(), lr=0.1).step()"
    )
    assert ops(tape) == ["conv2d", "add_", "batch_norm", "flatten", "linear", "sum"]
    assert all(v.name for v in tape.values if v.role == "parameter")


def test_a_call_does_not_keep_its_result_alive():
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    gc.disable()
    try:
        with Recorder("", __file__):
            dead = weakref.ref(net(torch.ones(1, 2)))
        assert dead() is None
    finally:
        gc.enable()


def test_an_op_deep_inside_modules_stands_where_the_user_called_the_outermost():
    tape = record(
        "net = nn.Sequential(nn.Sequential(nn.Sequential(nn.Linear(2, 2))))\n"
        "class Own(nn.Module):\n    def forward(self, x):\n        x = net(x)\n"
        "        return x * 2\nown = Own()\ny = own(torch.ones(1, 2))"
    )
    assert [(o.op, o.place.line) for o in tape.ops] == [("linear", 4), ("mul", 5)]
    enters = [e.line for e in tape.events if e.kind == "enter"]
    assert enters == [7, 4, 4, 4, 4]


def test_a_module_made_while_another_runs_is_found_in_it():
    tape = record(
        "class Grows(nn.Module):\n    def forward(self, x):\n"
        "        n = len(self._modules)\n        self.add_module(f'layer{n}', nn.Linear(2, 2))\n"
        "        return self._modules[f'layer{n}'](x)\n"
        "net = Grows()\nfor _ in range(2):\n    net(torch.ones(1, 2))"
    )
    assert [c.name for c in tape.calls] == ["net", "net.layer0", "net", "net.layer1"]


def test_a_module_from_elsewhere_is_looked_for_once_in_the_one_that_calls_it(monkeypatch):
    walks = []
    walk = modules._submodules

    def counted(module):
        walks.append(module)
        return walk(module)

    monkeypatch.setattr(modules, "_submodules", counted)
    tape = record(
        "act = nn.Tanh()\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        for _ in range(50):\n            x = act(x)\n        return x\n"
        "net = Net()\nnet(torch.ones(1))"
    )
    assert {c.name for c in tape.calls} == {"net", "act"}
    assert 1 <= len([m for m in walks if type(m).__name__ == "Net"]) <= 2


def test_modules_are_found_where_torch_itself_finds_them():
    shared = nn.Linear(2, 2)
    inner = nn.Sequential(nn.ReLU(), shared, nn.ModuleDict({"a": nn.Tanh(), "b": shared}))
    net = nn.ModuleList([shared, inner, nn.TransformerDecoderLayer(8, 2, 8), inner])
    net.register_module("none", None)
    found = modules._submodules(net)
    assert found == list(net.named_modules())
    assert modules._parameter_count(found) == sum(p.numel() for p in net.parameters())


def test_forward_called_directly_names_what_is_inside_after_the_variable():
    tape = record(
        "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\n"
        "for _ in range(2):\n    pred = net.forward(torch.ones(1, 2))\n"
        "pred.sum().backward()"
    )
    assert [call.name for call in tape.calls] == ["net.0", "net.1", "net.2"] * 2
    names = {value.id: value.name for value in tape.values}
    made = [names[op.outputs[0]] for op in tape.ops if op.call is not None]
    assert made == ["", "", "pred"] * 2
    assert {"net.0.weight", "net.2.bias"} <= set(names.values())


LOOPED = """
class Net(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), inner])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
    def loss(self, x):
        return self.first(self.layers[0], x) + self.forward(x).mean()
    def first(self, layer, x):
        return layer(x).sum()
"""


@pytest.mark.parametrize(
    ("called", "names"),
    [
        ("net = Net(nn.ReLU())\nnet.forward(x)", ["net.layers.0", "net.layers.1"]),
        ("net = Net(nn.ReLU())\nnet.loss(x)", ["net.layers.0", "net.layers.0", "net.layers.1"]),
        ("Net(nn.ReLU()).forward(x)", ["Net.layers.0", "Net.layers.1"]),
        (
            "nets = [Net(Net(nn.Tanh()))]\nnets[0].layers[1].forward(x)",
            ["nets[0].layers.1.layers.0", "nets[0].layers.1.layers.1"],
        ),
        (
            "def fit(model):\n    return model.loss(x)\nfit(Net(nn.ReLU()))",
            ["model.layers.0", "model.layers.0", "model.layers.1"],
        ),
    ],
)
def test_a_method_that_loops_over_layers_names_each_after_the_variable(called, names):
    tape = record(f"{LOOPED}x = torch.ones(1, 2)\n{called}")
    assert tape.error is None
    assert [call.name for call in tape.calls] == names


def test_one_of_several_modules_called_in_turn_still_names_its_result():
    tape = record("for net in (nn.Linear(1, 1), nn.ReLU()):\n    y = net(torch.ones(1, 1))")
    names = {value.id: value.name for value in tape.values}
    assert [names[op.outputs[0]] for op in tape.ops] == ["y", "y"]


HELD = """
class Trainer:
    def __init__(self, net):
        self.net = net
    def loss(self, x):
        return self.net(x).mean()
"""


def test_a_module_held_by_something_else_goes_by_the_way_to_it():
    trained = "Trainer(nn.Linear(1, 1)).loss(torch.ones(1, 1))"
    assert [c.name for c in record(HELD + trained).calls] == ["self.net"]
    inside = "nets = [nn.ReLU(), nn.Sequential(nn.Tanh())]\nnets[1][0](torch.ones(1))"
    assert [c.name for c in record(inside).calls] == ["nets[1].0"]
    held = "heads = {'a': nn.ReLU()}\nheads['a'](torch.ones(1))"
    assert [c.name for c in record(held).calls] == ["heads['a']"]
    field = "net = nn.Sequential(nn.ReLU())\nnet.act = net[0]\nnet.act(torch.ones(1))"
    assert [c.name for c in record(field).calls] == ["net.0"]


def test_a_module_that_cannot_tell_about_itself_yet_runs_as_without_a_recorder():
    tape = mirror(
        "class Late(nn.Module):\n"
        "    def extra_repr(self):\n"
        "        return f'k={self.k}'\n"
        "    def forward(self, x):\n"
        "        self.k = 2\n"
        "        return x * self.k\n"
        "class Secret(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.late = Late()\n"
        "        del self.__dict__['training']\n"
        "    def named_modules(self, *args, **kwargs):\n"
        "        raise ValueError('nobody asked')\n"
        "    parameters = extra_repr = named_modules\n"
        "    def forward(self, x):\n"
        "        return self.late(x) + 1\n"
        "late, secret = Late(), Secret()\n"
        "print(secret(late(torch.ones(2))), late)\n"
    )
    assert [call.kind for call in tape.calls] == ["Late", "Secret", "Late"]
    assert tape.calls[2].name == "secret.late"
    assert [op.op for op in tape.ops] == ["mul", "mul", "add"]


@pytest.mark.parametrize("call", ["Net()(x)", "nn.Sequential(Net())(x)", "Net().forward(x)"])
def test_a_module_that_forgot_the_init_of_its_class_fails_in_torchs_words(call):
    mirror(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        self.scale = 2\n"
        "    def forward(self, x):\n"
        "        return x * self.scale\n"
        f"x = torch.ones(2)\nprint({call})"
    )


def test_a_module_goes_with_its_parameters_and_its_place_may_be_another_s():
    tape = mirror(
        "import gc, weakref\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, width):\n"
        "        super().__init__()\n"
        "        self.layer = nn.Linear(2, width)\n"
        "    def forward(self, x):\n"
        "        return self.layer(x)\n"
        "def work(width):\n"
        "    net = Net(width)\n"
        "    net(torch.ones(1, 2)).sum().backward()\n"
        "    return weakref.ref(net), weakref.ref(net.layer.weight)\n"
        "for width in range(1, 30):\n"
        "    gone = work(width)\n"
        "    gc.collect()\n"
        "    print([ref() is None for ref in gone])\n"
    )
    assert [call.name for call in tape.calls] == ["net", "net.layer"] * 29
    assert len({call.module for call in tape.calls}) == 58
    assert [call.parameters for call in tape.calls[::2]] == [3 * width for width in range(1, 30)]


def test_a_name_found_at_the_end_is_better_than_the_class():
    tape = record(
        "from torch.nn.utils import parametrize\nclass Twice(nn.Module):\n"
        "    def forward(self, w):\n        return w * 2\nnet = nn.Linear(1, 1)\n"
        "parametrize.register_parametrization(net, 'weight', Twice())\n"
        "net(torch.ones(1)).backward()"
    )
    names = {value.name for value in tape.values if value.role == "parameter"}
    assert names == {"net.parametrizations.weight.original", "net.bias"}


def test_a_module_without_a_variable_is_named_by_its_class():
    tape = record("nn.Linear(1, 1)(torch.ones(1)).backward()")
    names = {value.name for value in tape.values if value.role == "parameter"}
    assert names == {"Linear.weight", "Linear.bias"}


ATTRIBUTES = """
class Cell(nn.Module):
    def __init__(this, x):
        super().__init__()
        this.table = torch.ones(2, 2).tril()
        this.pair = [torch.zeros(2), torch.ones(2)]
        this.named = {"bias": torch.full((2,), 3.0), 7: torch.tensor(2.0)}
        this.data = x
        this.fc = nn.Linear(2, 2)
    def forward(this, x):
        y = this.fc(x) @ this.table + this.pair[1] + this.named["bias"] * this.named[7]
        return y + this.data
def main():
    given = torch.zeros(1, 2)
    net = nn.Sequential(Cell(given), Cell(given))
    return net(torch.ones(1, 2))
out = main()
"""


def test_plain_tensors_of_modules_carry_full_names_unless_a_variable_refers_to_them():
    tape = mirror(ATTRIBUTES)
    names = {v.name for v in tape.values}
    own = {"table", "pair[1]", "named['bias']", "named[7]"}
    assert {f"net.{n}.{name}" for n in range(2) for name in own} <= names
    assert "given" in names
    assert not [name for name in names if name.startswith("this.")]
    assert not [name for name in names if name.endswith(".data")]


def test_reading_a_modules_plain_tensors_runs_no_code_of_the_program():
    tape = mirror(
        "asked = []\n"
        "class Odd(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.mask = torch.ones(2)\n"
        "    def __getattribute__(self, name):\n"
        "        asked.append(name)\n        return super().__getattribute__(name)\n"
        "    def forward(self, x):\n        return x * self.mask\n"
        "net = Odd()\nbefore = len(asked)\ny = net(torch.ones(2))\n"
        "print(asked[before:].count('mask'))"
    )
    assert tape.stdout == "1\n"
    assert "net.mask" in {v.name for v in tape.values}
