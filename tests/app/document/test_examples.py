"""The examples: each is loaded, runs in plain PyTorch, and shows what its comment promises."""

import contextlib
import io
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn, optim
from torch.nn import functional as F

from gradscribe.app.document import examples
from gradscribe.engine.run.run import record

NAMES = (
    "sum_times",
    "two_paths",
    "polynomial",
    "one_neuron",
    "vector",
    "two_layers",
    "linear_regression",
    "training_loop",
)


def play(name: str) -> tuple[dict[str, object], str]:
    """Run an example in plain PyTorch; return its names and what it printed."""
    (example,) = (e for e in examples.load() if e.name == name)

    def param(value: object) -> torch.Tensor:
        return torch.tensor(value, dtype=torch.float32, requires_grad=True)

    names: dict[str, object] = {
        "torch": torch,
        "nn": nn,
        "F": F,
        "optim": optim,
        "math": math,
        "np": np,
        "tensor": torch.tensor,
        "param": param,
        "device": torch.device("cpu"),
    }
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example.source, example.name, "exec"), names)
    return names, printed.getvalue()


def test_the_first_examples_stand_in_order_of_difficulty():
    assert tuple(e.name for e in examples.load())[: len(NAMES)] == NAMES


@pytest.mark.parametrize("example", examples.load(), ids=lambda e: e.name)
def test_every_example_is_short_titled_and_runs_in_plain_torch(example):
    assert example.title
    assert not example.title.endswith(".")
    assert example.about.endswith(".")
    assert example.about.count(". ") == 0
    assert len(example.source.splitlines()) <= 40
    assert len(example.about) <= 60
    # What a program column of the usual width shows without scrolling.
    assert max(len(line) for line in example.source.splitlines()) <= 42
    names, _ = play(example.name)
    leaves = [v for v in names.values() if isinstance(v, torch.Tensor) and v.requires_grad]
    assert leaves, "nothing to see backward"


@pytest.mark.parametrize("example", examples.load(), ids=lambda e: e.name)
def test_every_example_gives_the_same_numbers_each_time(example):
    first, second = play(example.name), play(example.name)
    assert first[1] == second[1]
    for name, value in first[0].items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, second[0][name]), name


def test_what_to_look_for_may_take_several_lines():
    found = examples.parse("01_a_b.py", "# Title\n# One sentence\n# on two lines.\n\n# no more\n")
    assert (found.name, found.title) == ("a_b", "Title")
    assert found.about == "One sentence on two lines."
    with pytest.raises(ValueError, match="two comments"):
        examples.parse("01_a.py", "# Title\nx = 1\n")


def test_a_sum_hands_its_gradient_on_and_a_product_swaps():
    names, _ = play("sum_times")
    x, y, z, loss = (names[n] for n in ("x", "y", "z", "L"))
    assert loss.item() == -12
    assert (x.grad.item(), y.grad.item(), z.grad.item()) == (-4, -4, 3)


def test_two_paths_bring_48_and_16_to_x():
    names, _ = play("two_paths")
    assert names["loss"].item() == 64
    assert names["x"].grad.item() == 48 + 16
    assert names["y"].grad.item() == 32


def test_the_polynomial_has_the_slope_that_calculus_gives():
    names, _ = play("polynomial")
    assert names["y"].item() == 2**2 + 3 * 2 + 1
    assert names["x"].grad.item() == 2 * 2 + 3


def test_the_neuron_agrees_with_the_chain_rule_by_hand():
    names, _ = play("one_neuron")
    n = 2.0 * -3.0 + 0.0 * 1.0 + 6.8814
    o = math.tanh(n)
    slope = 2 * (o - 0.5) * (1 - o**2)
    assert names["L"].item() == pytest.approx((o - 0.5) ** 2, rel=1e-5)
    assert names["b"].grad.item() == pytest.approx(slope, rel=1e-5)
    assert names["w1"].grad.item() == pytest.approx(slope * 2.0, rel=1e-5)
    assert names["w2"].grad.item() == 0


def test_the_vector_weights_each_element_by_the_gradient_it_is_given():
    names, _ = play("vector")
    wanted = torch.tensor([2.0 * 1, 4 * 0.1, 6 * 0.01])
    torch.testing.assert_close(names["x"].grad, wanted)


def test_the_two_layers_agree_with_the_matrix_form():
    names, _ = play("two_layers")
    first, _, second = names["model"]
    hidden = torch.tanh(names["x"] @ first.weight.T + first.bias).detach()
    out = hidden @ second.weight.T.detach() + second.bias.detach()
    sent = 2 * (out - names["y"]) / len(out)
    torch.testing.assert_close(second.weight.grad, sent.T @ hidden)
    torch.testing.assert_close(second.bias.grad, sent.sum(0))
    inner = (sent @ second.weight.detach()) * (1 - hidden**2)
    torch.testing.assert_close(first.weight.grad, inner.T @ names["x"])


def test_linear_regression_follows_the_recurrence_of_gradient_descent():
    names, _ = play("linear_regression")
    x = np.linspace(-1, 1, 20)
    w = b = 0.0
    for _ in range(20):
        error = w * x + b - (2 * x + 1)
        w, b = w - 0.3 * 2 * (error * x).mean(), b - 0.3 * 2 * error.mean()
    assert names["w"].item() == pytest.approx(w, rel=1e-4)
    assert names["b"].item() == pytest.approx(b, rel=1e-4)
    assert (round(w, 1), round(b, 1)) == (2.0, 1.0)
    assert names["w"].grad is None


def test_the_training_loop_prints_a_loss_that_falls_every_time():
    _, printed = play("training_loop")
    losses = [float(line.rsplit(" ", 1)[1]) for line in printed.splitlines()]
    assert len(losses) == 10
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))


@pytest.mark.parametrize("source", ["", "x = 1", "# a title only\nx = 1"])
def test_a_file_without_its_two_comments_is_refused(source):
    with pytest.raises(ValueError, match="two comments"):
        examples.parse("09_wrong.py", source)


def test_a_new_file_is_enough_to_add_an_example():
    added = examples.parse("09_mine.py", "# Mine\n# Look here.\nx = 1\n")
    assert (added.name, added.title, added.about) == ("mine", "Mine", "Look here.")
    assert added.source.endswith("x = 1\n")


VARIANTS = [(e, kind) for e in examples.load() for kind in ("edge", "broken")]


@pytest.mark.parametrize(("example", "kind"), VARIANTS, ids=lambda one: getattr(one, "name", one))
@pytest.mark.checklist(23, 28, 244)
def test_every_example_has_an_edge_that_runs_and_a_mistake_that_is_told(example, kind):
    variant = getattr(example, kind)
    assert variant is not None
    assert variant.name == example.name
    assert variant.source.splitlines()[3:] != example.source.splitlines()[3:]
    assert len(variant.about) <= 80
    assert max(len(line) for line in variant.source.splitlines()) <= 42
    tape = record(variant.source)
    if kind == "edge":
        assert (tape.status, tape.findings) == ("ok", ())
    else:
        assert tape.findings or (tape.error is not None and tape.error.hint)


def test_there_are_examples_of_what_tutorials_teach_each_with_tags():
    found = examples.load()
    assert len(found) >= 25
    tags = {tag for example in found for tag in example.tags}
    assert all(len(example.tags) >= 2 for example in found)
    assert tags >= {
        "attention", "convolution", "rnn", "embedding", "layer norm", "dropout", "batch norm",
        "autograd.Function", "checkpoint", "gan", "weight tying", "double backward", "jacobian",
        "vmap", "mixed precision", "in-place", "gradient accumulation", "optimizer",
    }  # fmt: skip


@pytest.mark.parametrize("example", examples.load(), ids=lambda e: e.name)
def test_every_example_is_healthy(example):
    tape = record(example.source)
    assert (tape.status, tape.findings) == ("ok", ())


def test_softmax_and_broadcasting_have_the_gradients_of_mathematics():
    names, _ = play("softmax")
    powers = np.exp([2.0, 1.0, 0.1])
    wanted = powers / powers.sum() - [1, 0, 0]
    np.testing.assert_allclose(names["scores"].grad.numpy(), wanted, rtol=1e-5)
    names, _ = play("broadcasting")
    assert names["column"].grad.tolist() == [[30.0]] * 3
    assert names["row"].grad.tolist() == [6.0, 6.0]


def test_only_rows_that_were_looked_up_get_a_gradient():
    names, _ = play("embedding")
    table = names["table"].weight
    assert [bool(row.any()) for row in table.grad] == [False, True, False, False, True, False]
    torch.testing.assert_close(table.grad[1], 4 * table.detach()[1])
    torch.testing.assert_close(table.grad[4], 2 * table.detach()[4])


def test_attention_takes_shares_and_a_mask_takes_them_away():
    names, _ = play("attention")
    torch.testing.assert_close(names["looks_at"].sum(-1), torch.ones(4))
    names, _ = play("causal_mask")
    assert torch.equal(names["looks_at"].detach().triu(1), torch.zeros(4, 4))
    assert torch.equal(names["scores"].grad.triu(1), torch.zeros(4, 4))


def test_norms_are_those_of_torch():
    names, _ = play("layer_norm")
    torch.testing.assert_close(names["y"], F.layer_norm(names["x"], (4,)))
    torch.testing.assert_close(names["x"].grad.sum(-1), torch.zeros(2), atol=1e-5, rtol=0)
    names, _ = play("batch_norm")
    torch.testing.assert_close(names["norm"].running_mean, 0.1 * names["x"].mean(0))
    torch.testing.assert_close(names["y"].mean(0), torch.zeros(2), atol=1e-5, rtol=0)


def test_what_is_dropped_gets_no_gradient_and_the_rest_double():
    names, _ = play("dropout")
    dropped = names["y"].detach() == 0
    assert 0 < int(dropped.sum()) < 6
    assert torch.equal(names["x"].grad, torch.where(dropped, 0.0, 2.0))


def test_derivatives_of_derivatives_and_jacobians():
    names, _ = play("double_backward")
    assert (names["first"].item(), names["second"].item()) == (3 * 2.0**2, 6 * 2.0)
    names, _ = play("jacobian")
    assert torch.stack(names["rows"]).tolist() == [[2, 1, 0], [0, 0, 6]]


def test_gradients_of_parts_add_up_to_the_whole():
    names, _ = play("accumulation")
    torch.testing.assert_close(names["small"], names["net"].weight.grad)
    names, _ = play("per_sample")
    torch.testing.assert_close(names["each"].mean(0), names["w"].grad)


def test_ten_sigmoids_multiply_their_slopes():
    names, _ = play("vanishing")
    slope, h = 1.0, 0.5
    for _ in range(10):
        h = 1 / (1 + math.exp(-h))
        slope *= h * (1 - h)
    assert names["x"].grad.item() == pytest.approx(slope, rel=1e-4)


def test_momentum_follows_its_recurrence():
    names, _ = play("momentum")
    w, speed, scale = np.array([3.0, -2.0]), np.zeros(2), np.array([1.0, 10.0])
    for _ in range(15):
        speed = 0.8 * speed - 0.03 * 2 * scale * w
        w = w + speed
    np.testing.assert_allclose(names["w"].detach().numpy(), w, rtol=1e-3)


def test_own_function_in_place_and_precision():
    names, _ = play("own_function")
    np.testing.assert_allclose(names["x"].grad.numpy(), [0.1, 0.1, 1, 1], rtol=1e-6)
    names, _ = play("in_place")
    np.testing.assert_allclose(names["x"].grad.numpy(), 2 * np.exp([1, 2, 3]), rtol=1e-5)
    names, _ = play("mixed_precision")
    assert (names["y"].dtype, names["w"].grad.dtype) == (torch.bfloat16, torch.float32)
