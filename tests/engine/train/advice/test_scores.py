"""An activation before a loss on raw scores is named at its line; elsewhere it is left alone."""

import pytest
import torch

from gradscribe.engine.train import advice
from tests.engine.train.advice.asked import at_start, made, words

NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, {outputs}))
        self.end = {layer}

    def forward(self, x):
        z = self.body(x)
        return {end}
"""


def about(end, layer="nn.Identity()", loss="cross_entropy", data="spirals", outputs=3):
    source = NET.format(end=end, layer=layer, outputs=outputs)
    model = {"name": "own", "source": source}
    return at_start("scores", data=data, loss=loss, model=model)


@pytest.mark.parametrize(
    ("end", "layer", "line"),
    [
        ("torch.softmax(z, 1)", "nn.Identity()", 9),
        ("F.softmax(z, dim=-1)", "nn.Identity()", 9),
        ("z.softmax(1)", "nn.Identity()", 9),
        ("self.end(z)", "nn.Softmax(dim=1)", 5),
        ("self.end(z).clone().view(-1, 3)", "nn.Softmax(dim=1)", 5),
    ],
)
def test_a_softmax_before_cross_entropy_is_named_at_its_line(end, layer, line):
    (one,) = about(end, layer)
    assert one.place == "model.source"
    assert one.words.startswith(f"The model ends in softmax, line {line}, and cross-entropy appl")


def test_a_sigmoid_before_binary_cross_entropy_is_named():
    found = words(about("torch.sigmoid(z)", loss="bce", data="moons", outputs=1))
    assert found.startswith("The model ends in sigmoid, line 9, and binary cross-entropy applies")


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("torch.relu(z)", "scores cannot be negative"),
        ("torch.tanh(z)", "scores stay between −1 and 1"),
        ("torch.sigmoid(z)", "scores stay between 0 and 1"),
    ],
)
def test_an_activation_that_limits_scores_is_named(end, why):
    assert why in words(about(end))


def test_a_softmax_over_the_batch_is_named():
    assert "over the examples of a batch" in words(about("torch.softmax(z, 0)"))


@pytest.mark.parametrize(
    "end",
    ["z", "torch.log_softmax(z, 1)", "torch.relu(z) - 1", "z * torch.sigmoid(z)",
     "torch.softmax(z, 1) * 9", "(torch.softmax(z, 1) + 1e-6).log()"],
)  # fmt: skip
def test_raw_scores_and_logarithms_are_left_alone(end):
    assert about(end) == []


@pytest.mark.parametrize("loss", ["mse", "half", "l1"])
def test_probabilities_for_another_loss_are_left_alone(loss):
    with_loss = {"data": "moons", "loss": loss, "outputs": 1}
    if loss in ("mse", "l1"):
        with_loss["data"] = "line"
        source = NET.format(end="torch.sigmoid(z)", layer="nn.Identity()", outputs=1)
        model = {"name": "own", "source": source.replace("Linear(2", "Linear(1")}
        assert at_start("scores", data="line", loss=loss, model=model) == []
    else:
        assert about("torch.tanh(z)", **with_loss) == []


def test_scores_that_happen_to_lie_between_0_and_1_are_left_alone():
    assert about("z * 1e-3 + 0.5", loss="bce", data="moons", outputs=1) == []


def test_a_tanh_that_was_chosen_for_the_output_is_offered_to_be_taken_off():
    model = {"name": "mlp", "output": "tanh"}
    (one,) = at_start("scores", data="moons", model=model)
    assert one.change == {"model.output": "linear"}
    assert at_start("scores", data="moons", model=model, loss="half") == []
    assert at_start("scores", data="moons") == []


COUNTS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line, self.calls = nn.Linear(2, 3), 0

    def forward(self, x):
        self.calls += 1
        return torch.softmax(self.line(x) + torch.rand(()) + self.calls, 1)
"""


def test_looking_leaves_the_run_as_it_was():
    model = {"name": "own", "source": COUNTS}
    looked, plain = (made(data="spirals", model=model) for _ in range(2))
    with looked.entered():
        assert advice.on_setup(looked)
        looked.advance(60)
        advice.on_progress(looked)
        looked.advance(20)
    with plain.entered():
        plain.advance(80)
    pair = looked.program.model.parameters(), plain.program.model.parameters()
    for one, other in zip(*pair, strict=True):
        assert torch.equal(one, other)
        assert torch.equal(one.grad, other.grad)
    assert looked.program.model.calls == plain.program.model.calls


LAZY = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.LazyLinear(3)

    def forward(self, x):
        return torch.softmax(self.line(x), 1)
"""


def test_a_lazy_module_has_the_weights_that_it_would_have_had():
    setup = {"data": "spirals", "model": {"name": "own", "source": LAZY}}
    looked, plain = made(**setup), made(**setup)
    with looked.entered():
        assert words(advice.on_setup(looked)).startswith("The model ends in softmax")
        looked.advance(5)
    with plain.entered():
        plain.advance(5)
    assert looked.history.recent == plain.history.recent
