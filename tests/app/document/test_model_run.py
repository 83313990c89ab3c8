"""Modules of a program exported by the real engine, in its sandbox, and read by plain PyTorch."""

import io
import pickle
import sys

import pytest
import torch

from gradscribe.app.document.model_run import SPENT, ModelRun, modules_of, weights
from gradscribe.app.document.state import Doc, Limits
from gradscribe.app.link.client import Link
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.messages import ModelRequest
from gradscribe.engine.protocol.tape import Problem, Tape
from tests.app.fakes import FakeLink

pytestmark = pytest.mark.e2e

SOURCE = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.drop = nn.Dropout(0.5)
    def forward(self, x, *, scale=1.0):
        return self.drop(torch.relu(self.fc(x))) * scale

model = Net()
opt = optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = model(torch.ones(4, 2), scale=2.0).pow(2).mean()
    loss.backward()
    opt.step()
"""


class PlainNet(torch.nn.Module):
    """The same written here, to compute what the files have to."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 3)

    def forward(self, x):
        return torch.relu(self.fc(x)) * 2.0


@pytest.fixture(scope="module")
def plain():
    """The model trained by plain PyTorch as the program trains it."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Dropout(0.5))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        (model(torch.ones(4, 2)) * 2.0).pow(2).mean().backward()
        opt.step()
    made = PlainNet()
    made.fc = model[0]
    return made


@pytest.fixture
def run(qapp):
    made = ModelRun(Link)
    yield made
    made.close()


def asked(run, qtbot, record, request, source=SOURCE, doc=None):
    run.start(source, doc or Doc(source), Limits(), request, record(source))
    qtbot.waitUntil(lambda: run.answer is not None, timeout=120_000)
    return run.answer


def test_68_weights_and_programs_come_out_of_the_sandbox(run, qtbot, record, plain):
    answer = asked(run, qtbot, record, ModelRequest(0, "model", "pt"))
    assert answer.problem == ""
    assert run.is_same
    state = torch.load(io.BytesIO(answer.data), weights_only=True)
    assert torch.equal(state["fc.weight"], plain.fc.weight)
    foreign = Doc(SOURCE, foreign=True, seen=True)
    answer = asked(run, qtbot, record, ModelRequest(0, "model", "pt2"), doc=foreign)
    assert answer.problem == ""
    loaded = torch.export.load(io.BytesIO(answer.data)).module()
    x = torch.randn(4, 2)
    torch.testing.assert_close(loaded(x, scale=2.0), plain(x))


@pytest.mark.skipif(sys.platform != "linux", reason="the confinement is Linux's")
def test_68_a_file_with_code_in_it_is_refused_and_nothing_runs(run, qtbot, record, tmp_path):
    mark = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (open, (str(mark), "w"))

    file = io.BytesIO()
    torch.save({"fc.weight": Evil()}, file)
    for data in (file.getvalue(), pickle.dumps(Evil())):
        answer = asked(run, qtbot, record, ModelRequest(0, "model", "check", data))
        assert "could run code" in answer.problem
        assert not mark.exists()


def test_another_run_with_other_weights_is_noticed(qapp, record):
    links = []

    def fake(_parent):
        links.append(FakeLink())
        return links[-1]

    run = ModelRun(fake)
    run.start(SOURCE, Doc(SOURCE), Limits(), ModelRequest(0, "model", "pt"), record(SOURCE))
    other = record(SOURCE, seed=1)
    links[0].answer(other)
    assert not run.is_same
    request = links[0].asked[0]
    assert (request.run_id, request.module) == (1, "model")
    links[0].received.emit(messages.ModelFile(1, "model", "pt", b"x"))
    assert run.answer.data == b"x"
    assert links[0].closed


@pytest.mark.parametrize("fault", ["error", "spent"])
def test_a_program_that_fails_this_time_says_so(qapp, fault):
    link = FakeLink()
    run = ModelRun(lambda _: link)
    run.start(SOURCE, Doc(SOURCE), Limits(), ModelRequest(0, "model", "pt"), Tape())
    if fault == "error":
        link.answer(Tape(status="error", error=Problem("ValueError", "no luck")))
        assert run.answer.problem.endswith("no luck")
    else:
        link.received.emit(messages.Recorded(1, Tape(), 0.0, spent=True))
        assert run.answer.problem == SPENT
    assert link.closed


def test_a_request_that_is_given_up_gets_no_answer(qapp):
    link = FakeLink()
    run = ModelRun(lambda _: link)
    run.start(SOURCE, Doc(SOURCE), Limits(), ModelRequest(0, "model", "pt"), Tape())
    run.close()
    assert link.closed
    link.answer(Tape())
    assert run.answer is None


def test_the_modules_of_a_tape(record):
    tape = record(SOURCE + "nn.Linear(1, 1)(torch.ones(1))\nnn.ReLU()(torch.ones(1))\n")
    assert modules_of(tape) == [("model", "Net")]
    assert set(weights(tape, "model")) == {"model.fc.weight", "model.fc.bias"}
