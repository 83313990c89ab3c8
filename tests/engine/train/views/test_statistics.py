"""Numbers of a run: what has no gradient is told apart from a gradient that is NaN."""

import math

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun


def test_a_frozen_layer_has_no_gradient_and_a_broken_one_is_nan():
    frozen = {"data": {"name": "moons", "n": 60}, "model": "mlp", "mistakes": ["freeze_first"]}
    run = TrainingRun(setup.parse(frozen))
    run.advance(1)
    parameters = list(run.program.model.parameters())
    parameters[2].grad = torch.full_like(parameters[2], math.nan)
    shown = views.compute(run, "gradients", {}).arrays
    held, norms = shown["held"].array().tolist(), shown["norms"].array().tolist()
    assert held[:3] == [0.0, 0.0, 1.0]
    assert math.isnan(norms[2])
    assert held[3] == 1.0
    assert norms[3] == parameters[3].grad.double().norm().item()


@pytest.mark.parametrize(
    ("data", "model"),
    [("sort_tokens", "transformer"), ("gaussians", "mlp"), ("moons", "linear"), ("digits", "cnn")],
)
def test_every_answer_is_counted_beside_its_truth(data, model):
    run = TrainingRun(setup.parse({"data": {"name": data, "n": 60}, "model": model}))
    run.advance(3)
    program = run.program
    shown = views.compute(run, "confusion", {}).arrays
    for part in ("train", "val"):
        rows = program.tensor(f"{part}_rows")
        with torch.no_grad():
            said = program.model.eval()(program.tensor("inputs")[rows])
        top = (said[:, 0] > 0).long() if said.shape[-1] == 1 else said.argmax(said.dim() - 1)
        truth = program.y[rows]
        counts = shown[part].array()
        assert counts.sum() == truth.numel()
        for i in range(len(counts)):
            for j in range(len(counts)):
                assert counts[i, j] == ((truth == i) & (top == j)).sum()


@pytest.mark.parametrize(
    ("data", "model"),
    [("sort_tokens", "transformer"), ("gaussians", "mlp"), ("moons", "linear"), ("digits", "cnn")],
)
def test_the_examples_of_every_cell_are_those_it_counts(data, model):
    run = TrainingRun(setup.parse({"data": {"name": data, "n": 60}, "model": model}))
    run.advance(3)
    program = run.program
    kinds = len(views.compute(run, "confusion", {}).arrays["train"].array())
    seen = 0
    for part in ("train", "val"):
        rows = program.tensor(f"{part}_rows")
        with torch.no_grad():
            said = program.model.eval()(program.tensor("inputs")[rows])
        top = (said[:, 0] > 0).long() if said.shape[-1] == 1 else said.argmax(said.dim() - 1)
        truth = program.y[rows]
        for i in range(kinds):
            for j in range(kinds):
                options = {"part": part, "true": i, "answer": j}
                found = views.compute(run, "confusion", options).arrays
                hits = ((truth == i) & (top == j)).reshape(len(rows), -1).any(dim=1)
                wanted = rows[hits][:24]
                assert found["rows"].array().tolist() == wanted.tolist()
                assert found["x"].array().tolist() == program.x[wanted].tolist()
                if data == "sort_tokens":
                    assert found["given"].array().tolist() == top[hits][:24].tolist()
                    assert found["wanted"].array().tolist() == truth[hits][:24].tolist()
                elif len(wanted):
                    logits = said[hits][:24]
                    if logits.shape[1] > 1:
                        sure = logits.softmax(1)[:, j]
                    else:
                        sure = logits[:, 0].sigmoid() if j else 1 - logits[:, 0].sigmoid()
                    assert found["sure"].array().tolist() == pytest.approx(sure.tolist(), abs=1e-6)
                seen += len(wanted)
    assert seen >= 40


def test_a_loss_without_probabilities_has_none():
    run = TrainingRun(setup.parse({"data": "moons", "model": "linear", "loss": "hinge"}))
    found = views.compute(run, "confusion", {"part": "both", "true": 0, "answer": 0}).arrays
    assert "sure" not in found
    assert "rows" in found


@pytest.mark.parametrize(
    "options",
    [{"part": "x"}, {"part": 3}, {"part": "val", "true": -4, "answer": "a"}, {"true": 99}],
)
def test_a_cell_that_is_none_is_no_reason_to_fail(options):
    run = TrainingRun(setup.parse({"data": "moons", "model": "linear"}))
    assert {"train", "val"} <= views.compute(run, "confusion", options).arrays.keys()


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_weights_travel_with_all_their_digits(dtype):
    run = TrainingRun(setup.parse({"data": "line", "model": "linear", "dtype": dtype}))
    run.advance(3)
    found = views.compute(run, "weights", {}).arrays
    pairs = zip(("flat", "grads"), (lambda p: p, lambda p: p.grad), strict=True)
    for name, part in pairs:
        whole = torch.cat([part(p).detach().reshape(-1) for p in run.program.model.parameters()])
        assert found[name].array().tolist() == whole.tolist()
