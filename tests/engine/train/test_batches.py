"""Batches are what the script's indexing gives, however many are gathered at once."""

import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train import batches as drawing
from gradscribe.engine.train.batches import ALIGNED, Batches
from gradscribe.engine.train.source.program import TrainingProgram


def setup(**more):
    more.setdefault("data", Part("circle", {"n": 103}))
    return Setup(model=Part("mlp", {"layers": [3]}), train=1.0, **more)


def expected(program, size, count, drop=False):
    """Yield what a loop over the rows of each epoch gives."""
    rng = torch.Generator().manual_seed(program.setup.seed)
    x, y = program.tensor("x_train"), program.tensor("y_train")
    while True:
        for rows in torch.randperm(len(x), generator=rng).split(size):
            if drop and len(rows) < size:
                continue
            if count == 0:
                return
            count -= 1
            yield x[rows], y[rows]


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 7, 10, 16, 51, 102])
def test_each_batch_is_the_rows_in_their_order(size, drop):
    program = TrainingProgram(setup(batch=size, drop_last=drop))
    batches = Batches(program)
    seen = 0
    for x, y in expected(program, size, 3 * 103 // size, drop):
        found = batches.draw()
        assert torch.equal(found[0], x)
        assert torch.equal(found[1], y)
        assert found[0].is_contiguous()
        seen += len(x)
        assert batches.seen == seen


def test_each_batch_begins_where_a_tensor_of_its_own_would():
    batches = Batches(TrainingProgram(setup(batch=7)))
    for _ in range(40):
        assert all(part.data_ptr() % ALIGNED == 0 for part in batches.draw())


def test_a_moment_in_the_middle_of_what_was_gathered_can_be_put_back():
    batches = Batches(TrainingProgram(setup(batch=10)))
    for _ in range(14):
        batches.draw()
    moment = batches.state()
    later = [batches.draw()[0] for _ in range(9)]
    batches.restore(moment)
    assert all(torch.equal(batches.draw()[0], x) for x in later)


def test_a_batch_size_that_changes_goes_on_where_the_epoch_was():
    program = TrainingProgram(setup(batch=10))
    batches = Batches(program)
    for _ in range(3):
        batches.draw()
    batches.change(setup(batch=4))
    rows = torch.randperm(103, generator=torch.Generator().manual_seed(program.setup.seed))
    assert torch.equal(batches.draw()[0], program.tensor("x_train")[rows[30:34]])


def test_many_rows_are_gathered_bit_by_bit(monkeypatch):
    monkeypatch.setattr(drawing, "AT_ONCE", 12 * 20)
    program = TrainingProgram(setup(batch=10))
    batches = Batches(program)
    for x, y in expected(program, 10, 30):
        found = batches.draw()
        assert torch.equal(found[0], x)
        assert torch.equal(found[1], y)


def test_a_module_of_ones_own_that_writes_into_its_batch_changes_no_other():
    source = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.out = nn.Linear(2, 1)\n\n    def forward(self, x):\n"
        "        return self.out(x.clamp_(-1, 1)).squeeze(-1)\n"
    )
    own = Setup(
        Part("circle", {"n": 40}), Part("own", {"source": source}), batch=10, train=1.0, loss=None
    )
    batches = Batches(TrainingProgram(own))
    first = batches.draw()[0]
    second = batches.draw()[0]
    assert first.untyped_storage().data_ptr() != second.untyped_storage().data_ptr()
    assert first._version == second._version == 0
    first.clamp_(-1, 1)
    assert second._version == 0
