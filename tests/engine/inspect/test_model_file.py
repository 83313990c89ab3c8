"""Modules of a run's end as files."""

import io

import pytest
import torch

from gradscribe.engine.inspect.model_file import model_file
from gradscribe.engine.protocol.messages import ModelRequest, Run
from gradscribe.engine.run import run

SOURCE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
    def forward(self, x, *, scale=1.0):
        return torch.relu(self.fc(x)) * scale

net = Net()
out = net(torch.ones(3, 2), scale=2.0)
x = 3
"""


def execute(source=SOURCE, run_id=7, watched=""):
    tape = run.execute(Run(run_id, source, watched_module=watched))
    assert tape.status == "ok", tape.error
    return run.last_run.names


def asked(kind, data=b"", module="net", run_id=7, **more):
    return model_file(ModelRequest(run_id, module, kind, data, **more))


def test_68_the_weights_of_a_module_are_written():
    net = execute()["net"]
    answer = asked("pt")
    assert answer.problem == ""
    state = torch.load(io.BytesIO(answer.data), weights_only=True)
    assert torch.equal(state["fc.weight"], net.fc.weight)


def test_68_a_module_is_exported_with_the_arguments_of_its_call():
    net = execute(watched="net")["net"]
    answer = asked("pt2")
    assert answer.problem == ""
    loaded = torch.export.load(io.BytesIO(answer.data)).module()
    x = torch.randn(3, 2)
    torch.testing.assert_close(loaded(x, scale=2.0), net(x, scale=2.0))


def test_the_weights_of_another_run_are_exported():
    execute(watched="net")
    other = {"fc.weight": torch.ones(1, 2), "fc.bias": torch.zeros(1)}
    file = io.BytesIO()
    torch.save(other, file)
    loaded = torch.export.load(io.BytesIO(asked("pt2", file.getvalue()).data)).module()
    # relu(1 + 2) * 2
    assert loaded(torch.tensor([[1.0, 2.0]] * 3), scale=2.0).tolist() == [[6.0]] * 3


def test_weights_are_checked_against_the_module():
    net = execute()["net"]
    answer = asked("check", asked("safetensors").data, is_safetensors=True)
    assert answer.problem == ""
    state = torch.load(io.BytesIO(answer.data), weights_only=True)
    assert torch.equal(state["fc.bias"], net.fc.bias)
    file = io.BytesIO()
    torch.save({"fc.weight": torch.ones(1, 2)}, file)
    assert asked("check", file.getvalue()).problem == "it lacks fc.bias"


@pytest.mark.parametrize(
    ("request_of", "reason"),
    [
        ({"kind": "pt", "module": "x"}, "no module"),
        ({"kind": "pt", "module": "gone"}, "no module"),
        ({"kind": "pt", "run_id": 8}, "ran again"),
        ({"kind": "pt2"}, "was not called"),
        ({"kind": "check", "data": b"nothing"}, ""),
    ],
)
def test_what_is_not_possible_is_said_in_a_line(request_of, reason):
    execute()
    answer = asked(**request_of)
    assert reason in answer.problem
    assert answer.problem
    assert answer.data == b""


@pytest.mark.parametrize("fault", ["raise ValueError('no')", "raise SystemExit", "1 / 0"])
def test_a_module_that_raises_says_so(fault):
    method = f"    def state_dict(self, *a, **k):\n        {fault}\n"
    execute(SOURCE.replace("(nn.Module):\n", f"(nn.Module):\n{method}"))
    assert asked("pt").problem
