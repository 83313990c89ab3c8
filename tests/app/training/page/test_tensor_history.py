"""A card of the step's graph leads to what is collected of its tensor over the steps."""

import pytest

from gradscribe.app.training.page.tensor_history import ACTIVATIONS, GRADIENTS, WEIGHTS, history_of
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.training import StepTape, requests
from gradscribe.engine.train.runs import record_step
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.playback.graph import build
from gradscribe.playback.tape import scenes

SETUP = Setup(data=Part("moons", {"n": 40}), model=Part("mlp", {"layers": [3, 2]}), batch=8)


@pytest.fixture(scope="module")
def made():
    sent = []
    TrainingHost(sent.append).take(requests.Train(1, SETUP))
    begun = next(message for message in sent if hasattr(message, "units"))
    tape = record_step.record_step(TrainingRun(SETUP))[0]
    return tape, begun


def cards(tape, opened=None):
    picture = build.build_picture(tape, scenes.scenes(tape)[0], opened)
    return {card.key: card for card in picture.cards}


def test_a_parameter_has_its_weights_or_gradients(made):
    tape, begun = made
    card = cards(tape)["leaf:model.2.weight"]
    assert history_of(card, tape, begun)[:2] == (WEIGHTS, "2.weight")
    assert history_of(card, tape, begun, GRADIENTS)[:2] == (GRADIENTS, "2.weight")
    assert history_of(card, tape, begun, ACTIVATIONS)[:2] == (WEIGHTS, "2.weight")


def test_an_activation_is_that_of_its_layer(made):
    tape, begun = made
    found = [
        history_of(card, tape, begun)[:2]
        for card in cards(tape).values()
        if card.kind == "op" and card.title == "tanh"
    ]
    assert found == [(ACTIVATIONS, "1: Tanh"), (ACTIVATIONS, "3: Tanh")]


def test_a_layer_before_its_activation_leads_to_its_parameter(made):
    tape, begun = made
    folded = cards(tape, frozenset({"call:model#0"}))["call:model.0#0"]
    assert history_of(folded, tape, begun)[:2] == (WEIGHTS, "0.weight")
    last = cards(tape, frozenset({"call:model#0"}))["call:model.4#0"]
    assert history_of(last, tape, begun)[:2] == (ACTIVATIONS, "4: Linear")


def test_data_and_loss_say_why_they_have_none(made):
    tape, begun = made
    found = cards(tape)
    assert "batch" in history_of(found["leaf:targets"], tape, begun).reason
    loss = next(card for card in found.values() if card.kind == "loss")
    assert "Loss" in history_of(loss, tape, begun).reason


def test_a_click_opens_the_history(room, train_link, made):
    tape, _ = made
    train_link.state(1, 2)
    room.says.setCurrentWidget(room.graph)
    lines = "\n".join(text for text in ("optimizer.zero_grad()", "output = model(inputs)"))
    train_link.received.emit(StepTape(1, 2, tape, lines, live=True))
    live = room.presenter.live
    live._open_calls = frozenset({"call:model#0", "call:model.0#0"})
    live._show()
    said = []
    room.presenter._session.said.connect(said.append)
    room.graph.graph.picked.emit("leaf:model.0.weight")
    assert room.numbers.currentWidget() is room.over_time
    assert room.spread.chart.isVisible()
    assert room.spread.layer.currentText() == "0.weight"
    room.graph.graph.picked.emit("leaf:targets")
    assert "batch" in said[-1]
    live.close()
