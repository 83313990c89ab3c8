"""The policy as a whole: tutorials run as they stand, and a refusal has a place and a hint."""

import re

import pytest

from gradscribe.app.document import examples
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Place
from gradscribe.engine.run import run
from tests.engine.sandbox.policy.tutorials import PROGRAMS


def record(source, **options):
    """Run a program under the policy, with time for what it imports on a busy machine."""
    return run.execute(messages.Run(0, source, policy=True, timeout=300.0, **options))


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_program_out_of_a_tutorial_runs(title):
    tape = record(PROGRAMS[title])
    assert (tape.status, tape.error) == ("ok", None)
    plain = run.execute(messages.Run(0, PROGRAMS[title], timeout=300.0))
    assert without_addresses(tape.stdout) == without_addresses(plain.stdout)


def without_addresses(text):
    return re.sub("0x[0-9a-f]+", "", text)


@pytest.mark.parametrize("example", examples.load(), ids=lambda one: one.title)
def test_every_example_gives_the_same_under_the_policy(example):
    guarded, plain = record(example.source), run.record(example.source)
    assert guarded.status == "ok"
    assert guarded.stdout == plain.stdout
    assert [op.op for op in guarded.ops] == [op.op for op in plain.ops]
    assert [value.name for value in guarded.values] == [value.name for value in plain.values]
    assert [op.place for op in guarded.ops] == [op.place for op in plain.ops]
    assert guarded.leaves == plain.leaves


REFUSED = {
    "x = 1\nimport os": (Place(2, 7, 2, 9), "os"),
    "from torch import save": (Place(1, 18, 1, 22), "save"),
    "from torch.utils.data import *": (Place(1, 29, 1, 30), "*"),
    "é = ().__class__": (Place(1, 4, 1, 16), "__class__"),
    "torch.save(1, 'a')": (Place(1, 0, 1, 10), ".save"),
    "if 1:\n    eval('1')": (Place(2, 4, 2, 8), "eval"),
    "class A:\n    def __del__(self): pass": (Place(2, 4, 2, 27), "__del__"),
    "class A(metaclass=type): pass": (Place(1, 8, 1, 22), "metaclass"),
    "f(__x=1)": (Place(1, 2, 1, 7), "__x"),
    "async def f(): pass": (Place(1, 0, 1, 19), "coroutine"),
    "x = [[" * 40: (Place(1, 184, 1, 185), "Brackets"),
    "getattr(1, '__class' + '__')": (Place(1, 0, 1, 28), "__class__"),
    "y = 1\ntorch.nope_ = 1": (Place(2, 0, 2, 5), "module"),
    "'{0.__class__}'.format(1)": (Place(1, 0, 1, 25), "__class__"),
}


@pytest.mark.parametrize("source", REFUSED)
def test_a_refusal_names_the_thing_its_place_and_what_to_do(source):
    place, word = REFUSED[source]
    tape = record(source)
    assert (tape.status, tape.error.type) == ("refused", "Refused")
    assert word in tape.error.message
    assert tape.error.hint
    assert tape.error.place == place


def test_grammar_and_errors_are_told_as_ever():
    assert record("x = = 1").error == run.record("x = = 1").error
    assert record("x = 1 / 0").error == run.record("x = 1 / 0").error
    plain = run.record("x = nope")
    assert record("x = nope").error == plain.error
    assert record("torch.nope").error.type == "AttributeError"


def test_the_recorder_and_the_next_program_are_left_as_they_were():
    record("import math\nmath.pi")
    tape = run.record("import os\nprint(type(math).__name__, os.sep)")
    assert tape.stdout == "module /\n"


def test_a_long_text_is_refused_before_anything_reads_it():
    tape = record("x = 1\n" * 100_000)
    assert tape.status == "refused"


def test_private_names_of_own_classes_are_open_and_those_of_libraries_are_not():
    own = "class A:\n    def __init__(self):\n        self._x = 1\n        self.__y = 2\n"
    assert (
        record(own + "    def f(self): return self.__y\na = A()\nprint(a._x, a.f())").stdout
        == "1 2\n"
    )
    assert record("print(nn.Linear(1, 1)._forward_hooks)").status == "refused"
    assert record("print(list(nn.Linear(1, 1)._parameters))").stdout == "['weight', 'bias']\n"
    assert record("nn.Linear(1, 1)._parameters['x'] = 1").error.type == "TypeError"
    assert record("class L(nn.Linear): pass\nL(1, 1)._call_impl").status == "refused"
    assert record("class N: pass\nN._shared = 3\nprint(N._shared)").stdout == "3\n"


def test_a_check_takes_little_beside_the_run():
    from gradscribe.engine.sandbox.policy import program

    source = "".join(f"x{n} = torch.relu(torch.ones({n}) * 2).sum()\n" for n in range(300))
    code = program.compile_guarded(source, "many")
    assert len(code.co_names) > 300


ARRAYS = """
x = np.ones(3)
assert type(x) == np.ndarray and isinstance(x, np.ndarray) and isinstance(x, type(x))
assert type(x).__name__ == "ndarray" and issubclass(type(x), np.ndarray)
assert np.ndarray((2, 3), int).shape == (2, 3) and np.ndarray.mean(x) == 1.0
match x:
    case np.ndarray(): print("an array")
def double(x: np.ndarray) -> np.ndarray: return 2 * x
print(double(x).tolist())
"""


def test_arrays_are_arrays_and_nothing_is_laid_over_memory():
    tape = record(ARRAYS)
    assert (tape.error, tape.stdout) == (None, "an array\n[2.0, 2.0, 2.0]\n")
    for made in ("np.ndarray(2, float, b'1' * 16)", "type(np.ones(1))(2, strides=(1,))"):
        assert "a shape and a dtype" in record(made).error.message


def test_a_sparse_tensor_keeps_the_indices_that_it_was_checked_with():
    source = (
        "i = torch.tensor([[0, 2]])\nx = torch.sparse_coo_tensor(i, torch.ones(2), (3,))\n"
        "i[0, 0] = 10**9\nx = x.coalesce()\nx.indices()[0, 1] = 10**9\n"
        "print(x.to_dense().tolist(), torch.ones(3).max(0).indices.item())"
    )
    tape = record(source)
    assert (tape.error, tape.stdout) == (None, "[1.0, 0.0, 1.0] 0\n")


def test_a_name_that_is_dangerous_on_one_thing_is_free_on_others():
    source = (
        "from typing import cast\nclass Conv:\n    def __init__(self):\n        self.strides = 2\n"
        "        self.indices = [3]\n        self.data = cast(int, 4)\nc = Conv()\n"
        "g = torch.Generator()\ng.set_state(g.get_state())\np = param(1.0)\np.data = p.data * 2\n"
        "print(c.strides, c.indices, c.data, p.item())"
    )
    tape = record(source)
    assert (tape.error, tape.stdout) == (None, "2 [3] 4 2.0\n")


def test_a_field_of_ones_own_may_be_called_like_a_part_of_torch():
    tape = record(
        "class Config:\n    classes = 4\n    ops = ['add']\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, cfg):\n"
        "        super().__init__()\n"
        "        self.classes, self.package = cfg.classes, {'a': 1}\n"
        "        self.library = nn.Linear(2, cfg.classes)\n"
        "    def export(self):\n        return len(self.package)\n"
        "    def forward(self, x):\n        return self.library(x)\n"
        "net = Net(Config())\n"
        "print(net.classes, net.export(), hasattr(net, 'fx'), net(torch.ones(2)).shape)\n"
    )
    assert (tape.status, tape.error) == ("ok", None)
    assert tape.stdout == "4 1 False torch.Size([4])\n"


@pytest.mark.parametrize(
    "source",
    [
        "torch.ops.aten",
        "t = torch\nt.ops",
        "t = [torch]\nt[0].classes",
        "getattr(torch, 'library')",
        "class A(nn.Module): pass\nA.fx = torch\nnn.Linear(1, 1).classes",
        "class A: pass\na = A()\na.ops = nn\na.ops.ops",
        "import types\ntypes.SimpleNamespace(ops=1).ops",
        "match torch:\n    case object(ops=x): pass",
        "def f(): pass\nf.ops = 1\nf.ops",
        "from torch import library",
    ],
)
def test_the_parts_of_torch_that_make_code_stay_out_of_reach(source):
    assert record(source).status == "refused"


NARROWED = """
import copy
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Protocol
x = torch.ones(2).type(torch.LongTensor)
print(x.dtype, isinstance(x, torch.LongTensor), isinstance(x, torch.FloatTensor))
print(torch.FloatTensor([1, 2]), torch.Tensor([3]), torch.Tensor(2, 3).shape, x.new([4, 5]))
w = param(torch.ones(2))
w.grad = torch.ones(2)
w.data -= 0.1 * w.grad.data
print(w, np.ones(2).data.shape)
class Bag: pass
bag = Bag()
bag.ops, bag.new, bag.data, bag.fields = 1, 2, [3], 4
bag.ops += 1; bag.new -= 1; bag.data += [5]; bag.fields *= 2
print(bag.ops, bag.new, bag.data, bag.fields)
model = nn.Linear(2, 1)
kept = {name: torch.zeros_like(one) for name, one in model.named_parameters()}
print(torch.func.functional_call(model, kept, (torch.ones(1, 2),)))
@torch.no_grad()
def counted(): counted.calls += 1
counted.calls = 0
counted()
print(counted.calls)
@contextmanager
def room(): yield 7
room.size = 3
with room() as seven: print(seven, room.size)
def twice(f):
    @wraps(f)
    def g(*args): return 2 * f(*args)
    g._count = 1
    return g
@twice
def three(): return 3
print(three(), three.__name__, three._count)
class Same(nn.Conv2d):
    def _conv_forward(self, x, weight, bias): return F.conv2d(x, weight * 0, bias)
    def _reset(self): return 1
print(Same(1, 1, 1, bias=False)(torch.ones(1, 1, 1, 1)), Same(1, 1, 1)._reset())
@dataclass
class Pair:
    _a: int
    b: list = field(default_factory=list)
print(replace(Pair(1), _a=2))
class Sized(Protocol):
    def size(self): ...
class Box(Sized):
    def __init__(self): self.inside = [1]
    def size(self): return 1
print(copy.deepcopy(Box()).inside, Box().size(), copy.deepcopy(nn.Sequential(model))[0].in_features)
normal = torch.distributions.Normal(0.0, 1.0)
print(normal.arg_constraints["loc"], "scale" in torch.distributions.Normal.arg_constraints)
class Lazy(nn.LazyLinear):
    cls_to_become = nn.Linear
import random
class Dice(random.Random):
    def random(self): return 0.5
    def getrandbits(self, k): return 1
print(Dice().choice([1, 2]))
print(nn.ParameterList([torch.ones(1)])[0], nn.ModuleList([model])[-1] is model)
"""


def test_what_is_narrowed_is_used_as_in_plain_python():
    held, plain = record(NARROWED), run.execute(messages.Run(0, NARROWED))
    assert (held.error, plain.error) == (None, None)
    assert held.stdout == plain.stdout
    assert len(held.stdout.splitlines()) == 15
