"""Attributes of a module are saved with its run, which goes on as if never closed."""

import math
import random
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from enum import Enum

import msgspec
import numpy as np
import pytest
import torch
from torch import nn

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.runs import saved
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import replies
from gradscribe.engine.train.user_module import attribute_lists, attributes
from tests.engine.train.plain import plain_losses

STATEFUL = """
import random
import sys
from collections import Counter, deque
import numpy as np
import torch
from torch import nn

class Part(nn.Module):
    def __init__(self, log):
        super().__init__()
        self.line, self.log = nn.Linear(2, 4), log

    def forward(self, x):
        self.log.append(float(x.mean()))
        return self.line(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = []
        self.part, self.out = Part(self.log), nn.Linear(4, 1)
        self.calls, self.big, self.warm = 0, 3 ** 70, True
        self.average = torch.zeros(4)
        self.history = deque(maxlen=3)
        self.seen = Counter()
        self.table = {"states": [torch.zeros(2), np.zeros(2)], ("a", 1): None}
        self.own, self.noise = random.Random(5), torch.Generator().manual_seed(7)
        self.draws = np.random.default_rng(3)

    def forward(self, x):
        h = torch.tanh(self.part(x))
        self.calls += 1
        self.warm = self.calls < 9
        self.big += 1
        self.average.mul_(0.9).add_(h.detach().mean(0), alpha=0.1)
        self.history.append(self.calls % 5)
        self.seen[self.calls % 2] += 1
        self.table["states"][0] += x.mean(0)
        self.table["states"][1] += 0.5
        h = h + 0.01 * torch.randn(h.shape, generator=self.noise)
        scale = 1 + 0.1 * self.own.random() + 0.1 * float(self.draws.random()) + self.big % 7 / 70
        scale += sum(self.history) / 50 + self.seen[0] / 90 + sum(self.log[-4:]) / 40
        scale += float(self.table["states"][1].sum()) / 100
        shift = self.average.sum() + self.table["states"][0].sum() / 10
        return self.out(h) * scale * (0.5 if self.warm else 1) + shift
"""


def begun(source=STATEFUL):
    whole = {
        "data": {"name": "moons", "n": 50},
        "model": {"name": "own", "source": source},
        "batch": 8,
        "validate_every": 0,
        "threads": 1,
    }
    run = TrainingRun(setup.parse(whole))
    run.enter()
    return run


def test_a_run_that_was_reopened_goes_on_as_the_script_that_never_stopped():
    expected, run = plain_losses(STATEFUL, begun().batches, 40), begun()
    for steps in (5, 12, 23):
        run.advance(steps)
        run.leave()
        again = saved.resume(saved.save(run))
        assert again.left == ()
        run = again
        run.enter()
    assert run.history.recent == expected
    run.leave()


def test_going_back_in_a_run_that_was_reopened_brings_what_it_kept_then(monkeypatch):
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 8)
    run = begun()
    run.advance(30)
    run.leave()
    expected = run.history.recent
    again = saved.resume(saved.save(run))
    again.enter()
    for step in (21, 8, 0):
        again.rewind(step)
        assert again.program.model.calls == step
        assert len(again.program.model.log) == step
        again.advance(30 - step)
        assert again.history.recent == expected
    again.leave()


def test_what_two_modules_share_they_share_when_it_is_reopened():
    run = begun()
    run.advance(3)
    model = saved.resume(saved.save(run)).program.model
    assert model.log is model.part.log
    assert len(model.log) == 3
    run.leave()


class Color(Enum):
    RED = 1


class Bag(nn.Module):
    """Holds what it is given."""

    def __init__(self, **what):
        super().__init__()
        self.line = nn.Linear(2, 3)
        vars(self).update(what)


def back(model, other=None):
    """Return the attributes of a model, written and read into another, and what is left."""
    other = other or Bag()
    lists, left = attribute_lists.to_lists(attributes.of_model(model), model)
    lists = msgspec.msgpack.decode(msgspec.msgpack.encode(lists))
    attribute_lists.from_lists(lists, "cpu").restore(other)
    return other, left


VALUES = {
    "numbers": [1, -(2**63), 2**64, -(3**200), 2.5, math.inf, True, None, 1 + 2j],
    "texts": ["", "é\ud800", "long" * 10_000, b"\x00\xff"],
    "tuple": (1, (2, "a"), frozenset({3})),
    "set": {1, "a", (2, 3)},
    "ordered": OrderedDict([("b", 1), ("a", [2])]),
    "counter": Counter("abca"),
    "deque": deque([1, 2, 3], maxlen=3),
    "default": defaultdict(list, {"a": [1]}),
}


@pytest.mark.parametrize("name", VALUES)
def test_plain_values_come_back_as_they_were(name):
    other, left = back(Bag(value=VALUES[name]))
    assert other.value == VALUES[name]
    assert type(other.value) is type(VALUES[name])
    assert left == []
    if name == "deque":
        assert other.value.maxlen == 3
    if name == "default":
        assert other.value["new"] == []


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).T,
        torch.tensor(math.nan, dtype=torch.float64),
        torch.zeros(0, 3, dtype=torch.int64),
        torch.tensor([1 + 2j]),
        torch.tensor([1.5], dtype=torch.bfloat16),
        torch.ones(1).expand(4),
    ],
)
def test_tensors_come_back_bit_for_bit(tensor):
    other, left = back(Bag(value=[tensor, tensor]))
    assert left == []
    torch.testing.assert_close(other.value[0], tensor, rtol=0, atol=0, equal_nan=True)
    assert other.value[0] is other.value[1]


def test_arrays_and_generators_come_back():
    draws = random.Random(3), torch.Generator().manual_seed(4), np.random.default_rng(5)
    given = Bag(array=np.arange(4, dtype="f4"), one=np.float64(0.1), draws=draws)
    draws[0].gauss(0, 1)
    other, left = back(given)
    assert left == []
    assert (other.array == given.array).all()
    assert type(other.one) is np.float64
    assert other.one == 0.1
    mine, torchs, numpys = other.draws
    assert mine.gauss(0, 1) == draws[0].gauss(0, 1)
    assert torch.equal(torch.rand(3, generator=torchs), torch.rand(3, generator=draws[1]))
    assert numpys.random() == draws[2].random()


def test_what_is_too_much_or_of_no_kind_is_named_and_the_rest_is_kept():
    knot = []
    knot.append(knot)
    huge = torch.zeros(attribute_lists.MOST_BYTES // 4 + 1)
    made = Bag(count=3, color=Color.RED, knot=knot, huge=huge, more=[1])
    other, left = back(made, Bag(color=Color.RED, huge=2))
    assert left == ["Bag.color", "Bag.knot", "Bag.huge"]
    assert (other.count, other.more) == (3, [1])
    # As the other model made them itself.
    assert (other.color, other.huge) == (Color.RED, 2)
    assert not hasattr(other, "knot")
    run = begun(STATEFUL.replace("self.log = []", "self.log = []; self.huge = torch.zeros(2**21)"))
    again = saved.resume(saved.save(run))
    assert replies.run_started(1, again, None, resumed=True).left == ("Net.huge",)
    run.leave()


def test_a_view_of_a_weight_stays_one():
    made = Bag()
    made.view = made.line.weight.data
    other = Bag()
    other.view = other.line.weight.data
    assert back(made, other)[1] == []
    other.view.zero_()
    assert not other.line.weight.any()


HOSTILE = [
    [["forward", 1]],
    [["parameters", 1]],
    [["_modules", ["dict", []]]],
    [["__class__", 1]],
    [[1, 1]],
    [["a", 1, 2]],
    [[]],
    "abc",
    [["a", ["tensor", "float32", [10**9], b"", False]]],
    [["a", ["tensor", "float32", [-1], b"1234", False]]],
    [["a", ["tensor", "object", [1], b"1234", False]]],
    [["a", ["array", "O", [1], b"12345678"]]],
    [["a", ["array", "<M8", [1], b"12345678"]]],
    [["a", ["same", 0]]],
    [["a", ["same", -1]]],
    [["a", ["set", [["list", []]]]]],
    [["a", ["default", [], "eval"]]],
    [["a", ["torch", b"abc"]]],
    [["a", ["random", 3, [1], None]]],
    [["a", ["numpy", "x", "y", 0, 0]]],
    [["a", ["os.system", "true"]]],
    [["a", []]],
    [["a", {"b": 1}]],
]


@pytest.mark.parametrize("lists", HOSTILE, ids=str)
def test_what_nobody_wrote_is_refused(lists):
    run = begun()
    whole = msgspec.msgpack.decode(saved.save(run), type=saved.SavedRun)
    bad = msgspec.structs.replace(whole.now, kept=[lists])
    with pytest.raises(saved.SavedRunError):
        saved.resume(msgspec.msgpack.encode(msgspec.structs.replace(whole, now=bad)))
    run.leave()


@pytest.mark.parametrize("limit", [1_000, 30_000])
def test_lists_that_lie_too_deep_are_refused(limit):
    before = sys.getrecursionlimit()
    run = begun()
    whole = msgspec.msgpack.decode(saved.save(run), type=saved.SavedRun)
    deep = 1
    for _ in range(400):
        deep = ["list", [deep]]
    bad = msgspec.structs.replace(whole.now, kept=[[["a", deep]]])
    data = msgspec.msgpack.encode(msgspec.structs.replace(whole, now=bad))
    sys.setrecursionlimit(limit)
    try:
        with pytest.raises(saved.SavedRunError):
            saved.resume(data)
    finally:
        sys.setrecursionlimit(before)
    run.leave()


def test_a_file_from_before_attributes_were_saved_is_read():
    run = begun()
    run.advance(3)
    fields = msgspec.msgpack.decode(saved.save(run))
    for state in [fields["now"], *fields["past"]]:
        del state["kept"]
    del fields["left"]
    again = saved.resume(msgspec.msgpack.encode(fields))
    assert again.step == 3
    assert again.program.model.calls == 0
    run.leave()
