"""Optimizers that are not for every model: Muon wants matrices, SparseAdam sparse gradients."""

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.runs import saved
from gradscribe.engine.train.runs.export import script
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.saved import from_lists, to_lists
from tests.engine.train.runs.test_export import printed

MATRICES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(1, 16, bias=False)
        self.b = nn.Linear(16, 1, bias=False)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
"""
TABLE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 8, sparse=True)

    def forward(self, x):
        return self.table(x)
"""
WITH_LINE = TABLE.replace(
    "    def forward(self, x):\n        return self.table(x)",
    "        self.line = nn.Linear(8, 8)\n\n"
    "    def forward(self, x):\n        return self.line(self.table(x))",
)
TOKENS = {"name": "copy_tokens", "n": 60}
FITTING = {
    "muon": {"data": "sine", "source": MATRICES, "optimizer": {"name": "muon", "lr": 0.02}},
    "muon of other options": {
        "data": "sine",
        "source": MATRICES,
        "optimizer": {
            "name": "muon",
            "lr": 0.02,
            "ns_steps": 3,
            "nesterov": False,
            "adjust_lr_fn": "match_rms_adamw",
        },
    },
    "sparse_adam": {
        "data": TOKENS,
        "source": TABLE,
        "optimizer": {"name": "sparse_adam", "lr": 0.01},
    },
    "sparse sgd": {"data": TOKENS, "source": WITH_LINE, "optimizer": {"name": "sgd", "lr": 1.0}},
}


@pytest.fixture(autouse=True)
def close_checkpoints(monkeypatch):
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 16)


def begun(name, **more):
    given = dict(FITTING[name])
    model = {"name": "own", "source": given.pop("source")}
    run = TrainingRun(setup.parse({**given, "model": model, "batch": 16, **more}))
    run.enter()
    return run


def state(run):
    memories = run.program.optimizer.state_dict()["state"].values()
    flat = [t for memory in memories for t in memory.values() if torch.is_tensor(t)]
    return [t.detach().tolist() for t in [*run.program.model.state_dict().values(), *flat]]


@pytest.mark.parametrize("name", FITTING)
def test_such_a_run_is_its_script(name):
    run = begun(name)
    assert run.advance(40) == 40
    rows = list(enumerate(run.history.recent, 1))
    assert max(loss for _, loss in rows[-5:]) < min(loss for _, loss in rows[:5])
    assert printed(script(run, 40)) == rows


@pytest.mark.parametrize("mode", ["reference", "captured"])
@pytest.mark.parametrize("name", FITTING)
def test_such_a_run_is_brought_back_forked_and_saved_bit_for_bit(name, mode):
    run = begun(name, mode=mode)
    run.advance(41)
    there = state(run)
    run.advance(20)
    end = state(run), run.history.recent[-20:]
    run.rewind(41)
    assert state(run) == there
    fork = run.fork(41, run.setup)
    again = saved.resume(saved.save(run))
    for one in (fork, again, run):
        one.enter()
        one.advance(20)
        assert (state(one), one.history.recent[-20:]) == end


@pytest.mark.parametrize("name", FITTING)
def test_both_modes_make_the_same_of_it(name):
    runs = [begun(name, mode=mode) for mode in ("reference", "captured")]
    for run in runs:
        run.advance(50)
    reference, captured = runs
    assert captured.history.recent == reference.history.recent
    assert state(captured) == state(reference)
    why = "" if name.startswith("muon") else "sparse gradients run in reference mode"
    assert captured.why == why


def test_a_dense_gradient_under_sparse_adam_is_one_line():
    run = TrainingRun(setup.parse({"data": "sine", "model": "linear", "optimizer": "sparse_adam"}))
    run.enter()
    run.advance(3)
    assert run.step == 0
    assert run.problem.message.startswith("SparseAdam does not support dense gradients")


def test_what_torch_cannot_do_with_a_sparse_gradient_is_one_line():
    run = begun("sparse sgd", clip_norm=0.1)
    run.advance(3)
    assert run.step == 0
    message = run.problem.message
    assert message.startswith("Could not run 'aten::")
    assert "SparseCPU" in message
    assert "\n" not in message
    assert len(message) < 120


@pytest.mark.parametrize("coalesced", [False, True])
def test_a_sparse_tensor_is_kept_as_it_lies(coalesced):
    rows = torch.tensor([[2, 0, 2]])
    tensor = torch.sparse_coo_tensor(rows, torch.randn(3, 4), (5, 4), check_invariants=True)
    if coalesced:
        tensor = tensor.coalesce()
    back = from_lists(to_lists(tensor))
    assert back.is_coalesced() is coalesced
    assert torch.equal(back._indices(), tensor._indices())
    assert torch.equal(back._values(), tensor._values())
    assert torch.equal(back.to_dense(), tensor.to_dense())


@pytest.mark.parametrize(
    ("rows", "shape"), [([[7]], (5, 4)), ([[-1]], (5, 4)), ([[0]], (5, 3)), ([[0], [0]], (5, 4))]
)
def test_a_forged_sparse_tensor_is_refused(rows, shape):
    forged = [
        "sparse",
        to_lists(torch.tensor(rows)),
        to_lists(torch.ones(1, 4)),
        list(shape),
        False,
    ]
    with pytest.raises((ValueError, RuntimeError)):
        from_lists(forged)
