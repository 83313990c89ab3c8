"""Module calls: paths, nesting, repeated and shared modules."""

from engine.run import record
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
