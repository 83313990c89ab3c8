"""A model of the user's whose answers do not fit the loss is told of before it trains."""

import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import ProgramError

HEAD = "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n"
HEAD += "        super().__init__()\n        self.a = nn.Linear({inputs}, {outputs})\n"
HEAD += "    def forward(self, x):\n        return {answer}\n"


def own(inputs=2, outputs=1, answer="self.a(x)"):
    source = HEAD.format(inputs=inputs, outputs=outputs, answer=answer)
    return Part("own", {"source": source})


BAD = [
    ("moons", own(outputs=3), None, r"\(3, 3\) of 3 examples.*bce needs \(3, 1\)"),
    (
        "sine",
        own(inputs=1, answer="self.a(x).squeeze(-1)"),
        None,
        r"\(3,\) of 3.*mse needs \(3, 1\)",
    ),
    ("spirals", own(outputs=1), None, r"\(3, 1\) of 3.*cross_entropy needs \(3, \d\)"),
    ("moons", own(answer="(self.a(x), x)"), None, "returns a tuple"),
    ("moons", own(answer="self.a(x).mean()"), None, r"\(\) of 3"),
]


@pytest.mark.parametrize(("data", "model", "loss", "words"), BAD)
def test_answers_of_another_shape_are_refused_at_the_program(data, model, loss, words):
    with pytest.raises(SetupError, match=words) as caught:
        TrainingRun(Setup(Part(data), model, loss))
    assert caught.value.place == "model.source"


def test_a_model_that_raises_is_told_with_its_line():
    with pytest.raises(ProgramError) as caught:
        TrainingRun(Setup(Part("moons"), own(inputs=5)))
    assert caught.value.place == "model.source"
    assert caught.value.problem.place.line == 9
    assert "mat1 and mat2" in caught.value.problem.message


def test_a_model_of_two_inputs_is_told_what_it_is_given():
    source = own().options["source"].replace("forward(self, x)", "forward(self, x, y)")
    with pytest.raises(ProgramError) as caught:
        TrainingRun(Setup(Part("moons"), Part("own", {"source": source})))
    assert "missing 1 required positional argument: 'y'" in caught.value.problem.message
    assert "model(inputs)" in caught.value.problem.hint
    source = own().options["source"].replace("forward(self, x)", "forward(self, x, y=0)")
    assert TrainingRun(Setup(Part("moons"), Part("own", {"source": source}))).advance(2) == 2


@pytest.mark.parametrize(("data", "outputs"), [("moons", 1), ("spirals", 5), ("plane", 1)])
def test_what_fits_trains(data, outputs):
    run = TrainingRun(Setup(Part(data), own(outputs=outputs)))
    assert run.advance(3) == 3


def test_asking_changes_nothing():
    source = own(answer="nn.functional.dropout(self.a(x), 0.5, True)")
    setup = Setup(Part("moons"), source, validate_every=0)
    run = TrainingRun(setup)
    state = torch.get_rng_state()
    torch.manual_seed(0)
    torch.nn.Linear(2, 1)
    assert torch.equal(state, torch.get_rng_state())
    assert run.program.model.training


def test_classes_can_be_more_than_the_data_has():
    run = TrainingRun(Setup(Part("moons"), own(outputs=4), Part("cross_entropy")))
    assert run.advance(2) == 2
