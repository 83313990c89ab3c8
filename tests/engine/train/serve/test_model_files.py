"""A run's model as files, read back by plain PyTorch."""

import importlib.util
import io

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.model_files import model_file

MODELS = [
    {"name": "mlp", "norm": "batch"},
    {"name": "mlp", "dropout": 0.5},
    {"name": "linear"},
]


def run_of(model, steps=3):
    run = TrainingRun(setup.parse({"data": "moons", "model": model}))
    with run.entered():
        run.advance(steps)
    return run


@pytest.fixture(params=MODELS, ids=str)
def run(request):
    return run_of(request.param)


def test_68_a_state_dict_is_read_with_weights_only(run):
    read = torch.load(io.BytesIO(model_file(run, "pt")), weights_only=True)
    state = run.program.model.state_dict()
    assert read.keys() == state.keys()
    assert all(torch.equal(read[name], state[name]) for name in state)


def test_68_an_exported_program_gives_the_models_outputs(run):
    was_training, before = run.program.model.training, torch.get_rng_state()
    data = model_file(run, "pt2")
    assert run.program.model.training == was_training
    assert torch.equal(torch.get_rng_state(), before)
    loaded = torch.export.load(io.BytesIO(data)).module()
    inputs = run.program.tensor("inputs")
    run.program.model.eval()
    for rows in (2, 7):
        expected = run.program.model(inputs[:rows])
        torch.testing.assert_close(loaded(inputs[:rows]), expected)


def test_68_onnx_says_which_package_is_missing(run, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match="onnx and onnxscript"):
        model_file(run, "onnx")


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxscript")),
    reason="needs onnx and onnxscript",
)
def test_68_an_onnx_file_is_a_valid_model(run):
    import onnx

    onnx.checker.check_model(onnx.load_from_string(model_file(run, "onnx")))


def test_a_model_that_cannot_be_traced_is_said(run):
    class Branch(torch.nn.Module):
        def forward(self, x):
            return x if x.sum().item() > 0 else -x

    run.program.names["model"] = Branch()
    with pytest.raises(SetupError, match="cannot follow"):
        model_file(run, "pt2")
