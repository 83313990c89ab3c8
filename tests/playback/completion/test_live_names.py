"""Names of a recorded run, with torch's own shapes."""

import pytest
import torch

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.completion.live_names import MAX_LIVE, LiveName, live_names

PROGRAM = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 3)
        self.blocks = nn.ModuleList([nn.Linear(3, 3)])
    def forward(self, x):
        return self.blocks[0](self.fc1(x))
net = Net()
x = torch.randn(16, 8)
loss = net(x).sum()
labels = torch.arange(4) + 1
"""


@pytest.fixture(scope="module")
def names():
    from gradscribe.engine.run import run

    return live_names(run.record(PROGRAM))


def test_tensors_have_their_shapes(names):
    x = torch.randn(16, 8)
    assert names["x"] == LiveName("tensor", " × ".join(map(str, x.shape)))
    assert names["loss"] == LiveName("tensor", "scalar")
    assert names["labels"] == LiveName("tensor", "4 int64")
    assert names["net.fc1.weight"].text == "3 × 8"


def test_modules_have_their_kinds_and_sizes(names):
    assert names["net"] == LiveName("module", "Net")
    assert names["net.fc1"] == LiveName("module", "Linear 8 → 3")
    assert names["net.blocks.0"].kind == "module"


def test_a_path_that_was_never_called_is_a_part(names):
    assert names["net.blocks"] == LiveName("part")


def test_no_run_has_no_names():
    assert live_names(Tape()) == {}


def test_a_huge_run_is_read_in_part():
    from tests.app.fakes import leaves

    assert len(live_names(leaves(MAX_LIVE + 50))) == MAX_LIVE
