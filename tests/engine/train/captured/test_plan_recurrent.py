"""Recurrent nets in captured mode: the reference mode's steps to the bit, with every optimizer."""

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue

NOT_FOR_IT = {"lbfgs", "muon", "sparse_adam"}
OPTIMIZERS = [name for name in catalogue.zoo_entries("optimizer") if name not in NOT_FOR_IT]
CELLS = ("rnn", "gru", "lstm")


def same(steps, **given):
    """Make steps in both modes and compare losses, weights and the optimizer's memories."""
    runs = []
    for mode in ("reference", "captured"):
        whole = {"data": {"name": "sort_tokens", "n": 40}, "batch": 16, "mode": mode, **given}
        run = TrainingRun(setup.parse(whole))
        run.enter()
        run.advance(steps)
        assert run.problem is None
        runs.append(run)
    reference, captured = runs
    assert (captured.mode, captured.why) == ("captured", "")
    assert captured.history.recent == reference.history.recent
    assert state(captured) == state(reference)


def state(run):
    memories = run.program.optimizer.state_dict()["state"].values()
    flat = [t for memory in memories for t in memory.values() if torch.is_tensor(t)]
    return [t.detach().tolist() for t in [*run.program.model.state_dict().values(), *flat]]


@pytest.mark.parametrize("cell", CELLS)
def test_a_net_that_turns_its_outputs_in_place(cell, capfd):
    same(40, model={"name": "recurrent", "cell": cell, "width": 7})
    assert "resized" not in capfd.readouterr().err


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_cell_with_every_optimizer(cell, optimizer):
    same(25, model={"name": "recurrent", "cell": cell, "width": 5}, optimizer=optimizer)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    "more",
    [
        {"dtype": "float64"},
        {"batch": 0},
        {"batch": 1, "data": {"name": "copy_tokens", "n": 9}},
        {"clip_norm": 0.1, "schedule": {"name": "step", "step_size": 7}},
        {"frozen": ["cell"]},
        {"model": {"name": "recurrent", "width": 1}},
        {"model": {"name": "recurrent", "width": 64}},
    ],
    ids=str,
)
def test_every_cell_in_other_settings(cell, more):
    model = {"name": "recurrent", "width": 6, **more.get("model", {}), "cell": cell}
    same(25, **{**more, "model": model})


OWN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = {made}
        self.head = nn.Linear({width}, 1)

    def forward(self, x):
        x = x.reshape(len(x), 2, 1)
        {call}
        return self.head(made)
"""
WHOLE = "made = self.inside(x)[0][:, -1]"
BY_HAND = """h = c = x.new_zeros(len(x), 4)
        for at in range(2):
            h, c = self.inside(x[:, at], (h, c))
        made = h"""
LAYERS = [
    ("nn.LSTM(1, 4, 2, batch_first=True)", 4, WHOLE),
    ("nn.LSTM(1, 4, 2, dropout=0.5, batch_first=True)", 4, WHOLE),
    ("nn.LSTM(1, 4, bidirectional=True, batch_first=True)", 8, WHOLE),
    ("nn.LSTM(1, 4, bias=False, batch_first=True)", 4, WHOLE),
    ("nn.LSTM(1, 4, proj_size=3, batch_first=True)", 3, WHOLE),
    ("nn.LSTM(1, 4)", 4, "made = self.inside(x.transpose(0, 1))[1][1][0]"),
    ("nn.GRU(1, 4, 2, bidirectional=True, batch_first=True)", 8, WHOLE),
    ("nn.LSTMCell(1, 4)", 4, BY_HAND),
]


@pytest.mark.parametrize(("made", "width", "call"), LAYERS, ids=[one[0] for one in LAYERS])
def test_layers_of_ones_own(made, width, call):
    source = OWN.format(made=made, width=width, call=call)
    same(20, data={"name": "moons", "n": 40}, model={"name": "own", "source": source})
