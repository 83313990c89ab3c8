"""Looking at a run leaves it as it was: the random numbers to come, and each module's own mode."""

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import paired_run, replies

NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)
        self.norm = nn.BatchNorm1d(2)
        self.norm.eval()

    def forward(self, x):
        return self.line(self.norm(x + 0.1 * torch.randn_like(x)))
"""
LOOKS = {
    "layers": replies.layers_by_depth,
    "what a validation saves": lambda run: paired_run._saved_bytes(run),
}


def own(**more):
    return setup.parse({"data": "moons", "model": {"name": "own", "source": NET}, **more})


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_changes_nothing_of_what_comes(look):
    looked_at = TrainingRun(own(validate_every=0))
    looked_at.advance(3)
    random = torch.get_rng_state()
    LOOKS[look](looked_at)
    assert torch.equal(torch.get_rng_state(), random)
    assert looked_at.program.model.line.training
    assert not looked_at.program.model.norm.training
    assert len(replies.layers_by_depth(looked_at)) > 0
