"""A run that fills the memory is made to pause, and what it has reached is kept."""

import sys

import pytest

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train import memory
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import hosted_run
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.engine.train.source.program import TrainingProgram

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much there is")
DEEP = {"name": "mlp", "layers": [4] * 24}
KEEPS = {"data": {"name": "sine", "n": 20}, "model": DEEP, "batch": 10, "mistakes": ["keep_graphs"]}
"""Backward frees what a graph has saved, its nodes stay: many layers, lest they find room in what
earlier tests have freed."""


def played(given, until=10_000):
    """Return the replies of a host while a run played, up to so many steps."""
    said = []
    memory.trim_heap()
    host = TrainingHost(said.append)
    host.take(requests.Train(1, setup.parse(given), play=True))
    held = host._runs[1]
    while held.playing and held.run.step < until:
        host.work()
    return host, held, said


def state(said):
    return [one for one in said if isinstance(one, replies.TrainState)][-1]


@linux
def test_a_process_knows_what_it_holds():
    before = memory.resident_bytes()
    block = bytearray(64 << 20)
    assert memory.resident_bytes() - before > len(block) // 2
    assert memory.allocated_bytes() > len(block)


@linux
def test_kept_graphs_pause_the_run_with_one_message(monkeypatch):
    monkeypatch.setattr(hosted_run, "MEMORY_GROWTH", 8 << 20)
    monkeypatch.setattr(hosted_run, "MEMORY_EVERY_S", 0.0)
    host, held, said = played(KEEPS)
    told = state(said)
    kept = held.run.program.names["kept"]
    assert told.status == "paused"
    assert told.reached == "memory"
    assert 0 < told.step == held.run.step == len(kept) < 10_000
    assert f"{len(kept):,} losses" in told.problem.message
    assert "item()" in told.problem.hint
    # The run goes on from there if it is told to, and going back lets go of what was kept.
    step = held.run.step
    host.take(requests.Advance(1, 1))
    host.work()
    assert held.run.step == step + 1
    host.take(requests.Rewind(1, 0))
    assert kept == []
    assert state(said).problem is None


@linux
def test_a_run_that_fills_what_there_may_be_is_paused(monkeypatch):
    monkeypatch.setattr(hosted_run, "MEMORY_EVERY_S", 0.0)
    monkeypatch.setattr(hosted_run, "data_limit", memory.allocated_bytes)
    _, held, said = played({"data": "moons"})
    assert state(said).reached == "memory"
    assert held.run.step > 0
    assert "GB of memory are in use" in state(said).problem.message


@linux
def test_nothing_is_said_while_there_is_room():
    _, held, _ = played(KEEPS, until=200)
    assert held.playing
    assert held.problem is None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    assert memory.data_limit() in (0, soft)


def test_taking_the_mistake_away_lets_go_of_the_graphs():
    run = TrainingRun(setup.parse(KEEPS))
    run.advance(5)
    kept = run.program.names["kept"]
    assert len(kept) == 5
    run.change_setup(setup.parse({**KEEPS, "mistakes": []}))
    assert kept == []
    run.advance(5)
    assert kept == []


HUGE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 1)

    def forward(self, x):
        return self.a(x) + torch.zeros(10**6, 10**6)[0, 0]
"""
LAYER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10**6, 10**6)
"""


@pytest.mark.parametrize(("source", "line"), [(HUGE, 8), (LAYER, 5)])
def test_memory_that_is_not_there_is_one_message_at_its_line(source, line):
    said = []
    host = TrainingHost(said.append)
    model = {"name": "own", "source": source.strip("\n") + "\n"}
    host.take(requests.Train(1, setup.parse({"data": "moons", "model": model})))
    (told,) = said
    assert isinstance(told, replies.TrainProblem)
    assert (told.place, told.problem.message) == ("model.source", "Not enough memory for this")
    assert told.problem.place.line == line - 1
    assert "4 TB" in told.problem.hint


def test_a_problem_of_another_kind_keeps_torchs_words():
    made = TrainingProgram(setup.parse({"data": "moons"}))
    assert made.failure(ValueError("shapes")).message == "shapes"
