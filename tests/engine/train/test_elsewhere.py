"""Modules that write, pick and count where one does not look: the run is still the plain loop."""

import sys

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import replies as training_replies
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.train import views
from gradscribe.engine.train.runs import measure, saved
from gradscribe.engine.train.runs.export import script
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import replies
from tests.engine.train.runs.test_export import printed
from tests.engine.train.serve.test_host import Desk, of

HEAD = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 8)
        self.b = nn.Linear(8, 1)
        {made}

    def forward(self, x):
        h = torch.tanh(self.a(x))
        {done}
"""
TIMES = "return self.b(h) * (1 + 0.01 * {})"
COUNTING = """def count(n=[0]):
    n[0] += 1
    return n[0]
"""
ELSEWHERE = {
    "global": "COUNT = [0]\n"
    + HEAD.format(made="", done="COUNT[0] += 1\n        " + TIMES.format("COUNT[0]")),
    "default": COUNTING + HEAD.format(made="", done=TIMES.format("count()")),
    "class": HEAD.format(made="Net.n = 0", done="Net.n += 1\n        " + TIMES.format("Net.n")),
    "iterator": "import itertools\n"
    + HEAD.format(made="self.n = itertools.count(1)", done=TIMES.format("next(self.n)")),
}
PICKING = {
    "mask": "h = h.clone()\n        m = h > 0\n        h[m] = h[m] * 2\n        return self.b(h)",
    "nonzero": "return self.b(h) * (1 + 0.01 * (h > 0).nonzero().float().mean())",
    "masked_select": "return self.b(h) + torch.masked_select(h, h > 0).mean()",
}


def own(source, **more):
    model = {"name": "own", "source": source}
    return {"data": {"name": "circle", "n": 53}, "model": model, "batch": 16, **more}


def trained(given, steps=23):
    run = TrainingRun(setup.parse(given))
    run.advance(steps)
    assert run.problem is None
    steps_told, values, _ = run.history.take()
    return run, [(int(s), float(v)) for s, v in zip(steps_told, values[:, 0], strict=True) if s]


@pytest.mark.parametrize("mode", ["reference", "captured"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_counts_elsewhere_counts_the_steps_alone(name, mode):
    given = own(ELSEWHERE[name], mode=mode, validate_every=5)
    run = TrainingRun(setup.parse(given))
    assert replies.layers_by_depth(run) == ()
    run.advance(23)
    assert run.mode == "reference"
    assert bool(run.why) == (mode == "captured")
    steps_told, values, _ = run.history.take()
    rows = [(int(s), float(v)) for s, v in zip(steps_told, values[:, 0], strict=True) if s]
    assert printed(script(run, 23)) == rows


BACKWARD = """class Grow(torch.autograd.Function):
    n = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        Grow.n += 1
        return g * (1 + 0.01 * Grow.n)


"""
SELDOM = {
    "function": BACKWARD + HEAD.format(made="", done="return self.b(Grow.apply(h))"),
    "hook": COUNTING
    + HEAD.format(
        made="self.b.weight.register_hook(lambda g: g * (1 + 0.01 * count()))",
        done="return self.b(h)",
    ),
    "training": COUNTING
    + HEAD.format(
        made="", done="n = count() if torch.is_grad_enabled() else 1\n        " + TIMES.format("n")
    ),
}


@pytest.mark.parametrize("begun", [0, 7])
@pytest.mark.parametrize("name", SELDOM)
def test_what_counts_backward_calls_alone_counts_no_trial_of_the_captured_mode(name, begun):
    run = TrainingRun(setup.parse(own(SELDOM[name], mode="reference" if begun else "captured")))
    run.advance(begun)
    run.change_setup(setup.parse(own(SELDOM[name], mode="captured")))
    run.advance(23 - begun)
    assert run.problem is None
    why = "a step changes what its program keeps outside of the module"
    assert (run.mode, run.why) == ("reference", why)
    steps_told, values, _ = run.history.take()
    rows = [(int(s), float(v)) for s, v in zip(steps_told, values[:, 0], strict=True) if s]
    straight = TrainingRun(setup.parse(own(SELDOM[name], mode="reference")))
    assert printed(script(straight, 23)) == rows


CLOCKS = {
    "time": "import time\n" + HEAD.format(made="", done="return self.b(h * (time.time() > 0))"),
    "now": "from datetime import datetime\n"
    + HEAD.format(made="", done="return self.b(h if datetime.now().year > 1 else -h)"),
    "urandom": "import os\n" + HEAD.format(made="", done="return self.b(h) + 0 * os.urandom(1)[0]"),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_what_looks_at_the_clock_runs_in_reference_mode_though_its_numbers_agree(name):
    run, rows = trained(own(CLOCKS[name], mode="captured"))
    assert run.mode == "reference"
    assert run.why == f"a step depends on more than its run: it calls {name}()"
    assert sys.getprofile() is None
    plain, expected = trained(own(HEAD.format(made="", done="return self.b(h)"), mode="captured"))
    assert (plain.mode, rows) == ("captured", expected)


def test_a_module_that_can_be_made_only_once_runs_in_reference_mode():
    once = "torch.once = not hasattr(torch, 'once') or 1 / 0"
    source = HEAD.format(made=once, done="return self.b(h)")
    try:
        run, rows = trained(own(source, mode="captured"))
    finally:
        vars(torch).pop("once", None)
    assert (run.mode, run.why) == (
        "reference",
        "the module could not be made a second time, to try it",
    )
    source = HEAD.format(made="", done="return self.b(h)")
    assert rows == trained(own(source, mode="reference"))[1]


@pytest.mark.parametrize("name", PICKING)
def test_what_picks_by_its_data_runs_in_reference_mode(name):
    source = HEAD.format(made="", done=PICKING[name])
    run, rows = trained(own(source, mode="captured"))
    assert (run.mode, run.why) == ("reference", "how many numbers it picks depends on its data")
    assert rows == trained(own(source, mode="reference"))[1]


def test_picking_rows_by_number_is_captured():
    done = "return self.b(h[torch.arange(len(x) - 1, -1, -1)])"
    run, rows = trained(own(HEAD.format(made="", done=done), mode="captured"))
    assert run.mode == "captured"
    assert rows == trained(own(HEAD.format(made="", done=done), mode="reference"))[1]


def test_a_parameter_in_another_order_runs_in_reference_mode():
    made = "self.a.weight = nn.Parameter(torch.randn(2, 8).t())"
    source = HEAD.format(made=made, done="return self.b(h)")
    run, rows = trained(own(source, mode="captured"))
    assert run.mode == "reference"
    assert "in another order" in run.why
    assert run.program.model.a.weight.stride() == (1, 8)
    assert rows == trained(own(source, mode="reference"))[1]


SPARSE = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(3, 4, sparse=True)
        self.o = nn.Linear(6, 1)

    def forward(self, x):
        k = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
        return self.o(torch.cat([self.e(k), x], 1))
"""


def test_a_sparse_gradient_is_measured_as_the_dense_one():
    ratios = []
    for source in (SPARSE, SPARSE.replace("sparse=True", "sparse=False")):
        run = TrainingRun(setup.parse(own(source, optimizer="sgd")))
        measure.measure_step(run)
        ratios.append(run.ratios)
    assert sum(ratios[0], ()) == pytest.approx(sum(ratios[1], ()), rel=0.01)
    assert ratios[0][0][0] > 0


def test_a_sparse_gradient_goes_through_the_host():
    desk = Desk()
    desk.train(**own(SPARSE, optimizer="sgd"))
    desk.ask(
        requests.WatchViews(
            1, tuple(map(requests.ViewRequest, ("gradients", "histograms", "optimizer")))
        )
    )
    assert of(training_replies.TrainState, desk.steps(20))[-1].step == 20


def test_looking_at_an_embedding_with_a_largest_norm_leaves_its_weights():
    source = SPARSE.replace("sparse=True", "max_norm=0.5")
    run = TrainingRun(setup.parse(own(source, optimizer={"name": "sgd", "lr": 1.0})))
    run.advance(4)
    before = [p.detach().clone() for p in run.program.model.parameters()]
    assert before[0].norm(dim=1).max() > 0.5, "its next forward would write into it"
    views.compute(run, "scores", {})
    assert all(map(torch.equal, before, run.program.model.parameters()))


def test_a_look_at_the_shapes_leaves_the_data_to_a_module_that_writes_into_it():
    source = HEAD.format(made="", done="x.mul_(0.5)\n        return self.b(h)")
    run = TrainingRun(setup.parse(own(source, validate_every=0)))
    x = run.program.tensor("x")[run.program.tensor("train_rows")]
    assert torch.equal(run.program.tensor("x_train"), x)


LATE = "(1.5 if {} > 30 else 1)"
"""Module that a counter changes long after the trials."""
CLOSURE = """def made():
    n = [0]

    def count():
        n[0] += 1
        return n[0]
    return count

"""
EVER = """class Ever:
    n = 0

    def __next__(self):
        self.n += 1
        return self.n

    def __iter__(self):
        return self

    def __repr__(self):
        raise KeyError

"""
CLOCK = """class Clock:
    __slots__ = ("n",)

"""


def late(counter, first="", made="", head=""):
    """A model whose answers change once what counts its calls has come far."""
    lines = [first] * bool(first) + ["return self.b(h) * " + LATE.format(counter)]
    return head + HEAD.format(made=made, done="\n        ".join(lines))


WARMED = {
    "list": late("COUNT[0]", "COUNT[0] += 1", head="COUNT = [0]\n"),
    "number": late("n", "global n; n += 1", head="n = 0\n"),
    "default": late("count()", head=COUNTING),
    "class": late("Net.n", "Net.n += 1", made="Net.n = 0"),
    "generator": late("next(self.n)", made="self.n = (i for i in range(10**9))"),
    "iterator": late("next(self.n)", made="self.n = itertools.count()", head="import itertools\n"),
    "object": late("self.a.c.n", "self.a.c.n += 1", "self.a.c = Clock(); self.a.c.n = 0", CLOCK),
    "own iterator": late("next(self.n)", made="self.n = Ever()", head=EVER),
    "closure": late("self.count()", made="self.count = made()", head=CLOSURE),
    "backward": BACKWARD.replace("(1 + 0.01 * Grow.n)", LATE.format("Grow.n"))
    + HEAD.format(made="", done="return self.b(Grow.apply(h))"),
    "hook": COUNTING
    + HEAD.format(
        made=f"self.b.weight.register_hook(lambda g: g * {LATE.format('count()')})",
        done="return self.b(h)",
    ),
    "random": late("31 * (random.random() < 0.05)", made="random.seed(1)", head="import random\n"),
}


@pytest.mark.parametrize("name", WARMED)
def test_what_counts_for_later_is_seen_before_it_changes_a_number(name):
    run, rows = trained(own(WARMED[name], mode="captured"), 60)
    assert run.mode == "reference"
    assert run.why
    straight, expected = trained(own(WARMED[name], mode="reference"), 60)
    assert rows == expected
    assert printed(script(straight, 60)) == expected


CONSTANT = {
    "cache": "import functools\n\n@functools.lru_cache\ndef scale(n):\n    return 1 / n\n"
    + HEAD.format(made="", done="return self.b(h) * scale(h.shape[1])"),
    "table": "TABLE = {}\n"
    + HEAD.format(made="", done="return self.b(h) * TABLE.setdefault('s', 0.5)"),
    "constants": "SCALE, NAMES = 0.5, ['a', 'b']\n"
    + HEAD.format(made="self.kind = NAMES[0]", done="return self.b(h) * SCALE + 0 * len(NAMES)"),
    "object": "class Half:\n    def __call__(self, x):\n        return x / 2\nhalf = Half\n"
    + HEAD.format(made="self.half = Half()", done="return self.half(self.b(h))"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTANT)
def test_what_is_made_once_and_stays_is_captured(name):
    run, rows = trained(own(CONSTANT[name], mode="captured"))
    assert (run.mode, run.why) == ("captured", "")
    assert rows == trained(own(CONSTANT[name], mode="reference"))[1]


WRITING = HEAD.format(made="", done="return self.b(h)").replace(
    "h = ", "x.mul_(0.99)\n        h = "
)


@pytest.mark.parametrize("mode", ["reference", "captured"])
@pytest.mark.parametrize("batch", [0, 16])
def test_going_back_brings_back_the_data_that_forward_wrote_into(mode, batch):
    given = own(WRITING, batch=batch, mode=mode, validate_every=5)
    _, straight = trained(given, 40)
    assert printed(script(TrainingRun(setup.parse(given)), 40)) == straight
    run = TrainingRun(setup.parse(given))
    run.checkpoints.stride = 8
    made = [run.program.tensor(name).clone() for name in ("x_train", "x_val")]
    run.advance(40)
    fork = run.fork(21, run.setup)
    after = losses_of(saved.resume(saved.save(run)), 40, 10)
    assert after == losses_of(run, 40, 10), "a session goes on as the run does"
    for back in (33, 21, 8, 3, 0):
        run.rewind(back)
        assert losses_of(run, back, 40 - back) == straight[back:]
        run.rewind(back)
    assert torch.equal(run.program.tensor("x_train"), made[0])
    assert losses_of(fork, 21, 19) == straight[21:]


def losses_of(run, start, steps):
    run.advance(steps)
    told, values, _ = run.history.take()
    return [(int(s), float(v)) for s, v in zip(told, values[:, 0], strict=True) if s > start]
