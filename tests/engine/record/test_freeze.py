"""A log as a tape, whatever its program calls its things."""

import msgspec
import pytest

from gradscribe.app.cli import report
from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run.run import execute, record


def test_a_module_that_cannot_tell_its_parameters_ends_no_run():
    tape = record(
        "w = param(2.0)\n"
        "class Half(nn.Module):\n    def __init__(self): pass\n"
        "half = Half()\n"
        "class Odd(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.p = nn.Parameter(w)\n"
        "    def named_parameters(self, *a, **k): return [('x', 1), ('y', torch.ones(1))]\n"
        "odd = Odd()\n"
        "broken = nn.Linear(1, 1)\nbroken._modules['x'] = {}\n"
        "(w * w).backward()\n"
    )
    assert tape.error is None
    assert next(leaf for leaf in tape.leaves if leaf.name == "w").grad is not None
    assert "odd.p" in {leaf.name for leaf in tape.leaves}


def test_names_of_a_million_letters_are_cut():
    long = "'Q' * 10**6"
    tape = record(
        f"M = type({long}, (nn.Module,), {{'forward': lambda s, x: x * 2}})\n"
        f"net = nn.Sequential()\nnet.add_module({long}, M())\n"
        f"F2 = type({long}, (torch.autograd.Function,), {{"
        "'forward': staticmethod(lambda ctx, x: x * 2), "
        "'backward': staticmethod(lambda ctx, g: g * 2)})\n"
        f"O = type({long}, (optim.SGD,), {{}})\nw = param(1.0)\nopt = O([w], 0.1)\n"
        f"loss = F2.apply(net(w))\nloss.backward()\nopt.step()\n{'n' * 100_000} = w * 3\n"
        f"raise type({long}, (Exception,), {{}})('z')\n"
    )
    assert (tape.error.message, set(tape.error.type)) == ("z", {"Q"})
    assert tape.leaves[0].grad is not None
    assert len(msgspec.json.encode(msgspec.structs.replace(tape, formulas={}))) < 30_000


def test_a_parameter_without_a_shape_yet_is_none_of_the_leaves():
    tape = record(
        "early = nn.UninitializedParameter()\nlayer = nn.LazyLinear(2)\nheld = layer.weight\n"
        "w = param(2.0)\n(w * w).backward()\nprint(type(held).__name__)\n"
    )
    assert (tape.error, tape.stdout) == (None, "UninitializedParameter\n")
    assert [leaf.name for leaf in tape.leaves] == ["w"]


@pytest.mark.parametrize(
    "broken",
    [
        "shape = property(lambda self: 1 / 0)",
        "_version = property(lambda self: 1 / 0)",
        "device = property(lambda self: 1 / 0)",
        "def stride(self): raise ValueError",
    ],
)
def test_a_tensor_of_a_class_that_cannot_tell_itself_ends_no_run(broken):
    tape = record(
        f"class Odd(torch.Tensor):\n    {broken}\n"
        "w = param(3.0)\nodd = torch.ones(1).as_subclass(Odd)\nmore = odd + 1\n(w * w).backward()\n"
    )
    assert (tape.status, tape.error) == ("ok", None)
    assert "could not be read" in tape.truncated
    (leaf,) = [one for one in tape.leaves if one.name == "w"]
    assert tape.snapshots[leaf.grad].item() == 6.0


STEPS = """
net = nn.Linear(2, 3)
opt = optim.SGD(net.parameters(), lr=0.1)
unused = param(2.0)
for step in range(5):
    opt.zero_grad()
    net(torch.ones(4, 2)).pow(2).mean().backward()
    opt.step()
    print(step)
"""


@pytest.mark.parametrize("source", [STEPS, STEPS + "1 / 0", "x = torch.ones(3)", ""])
def test_leaves_alone_are_those_of_the_whole_tape(source):
    tape = record(source)
    end = execute(Run(0, source, timeout=60, leaves_only=True))
    assert report.leaf_table(end) == report.leaf_table(tape)
    assert report.counts_line(end) == report.counts_line(tape)
    assert (end.stdout, end.error, end.status) == (tape.stdout, tape.error, tape.status)
    assert not any(check_tape.find_flaws(end))
    assert (end.events, end.ops, len(end.values)) == ((), (), len(tape.leaves))
