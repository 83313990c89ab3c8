"""A finding of a training step: the mended set-up has it no more, and trains beside the other."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.app.training.setup import apply_fix
from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.train.runs import record_step
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue

EVERYTHING = messages.Catalogue(1, catalogue.entries())
DEEP = {"name": "mlp", "layers": [8] * 10, "activation": "sigmoid"}
SICK = {
    "missing-zero-grad": {"data": "sine", "mistakes": ["no_zero_grad"]},
    "silent-broadcast": {"data": "sine", "mistakes": ["column_target"]},
    "softmax-before-cross-entropy": {
        "data": "moons",
        "loss": "cross_entropy",
        "mistakes": ["softmax_first"],
    },
    "device-mismatch": {"data": "sine", "mistakes": ["wrong_device"]},
    "vanishing-gradient": {"data": "moons", "model": DEEP},
}


def found(setup):
    """Return the ids of what the doctor finds in the fourth step of a run."""
    run = TrainingRun(setup)
    run.advance(3)
    return {one.id for one in record_step.record_step(run)[0].findings}


@pytest.mark.parametrize("finding", SICK)
def test_the_mended_setup_has_the_finding_no_more(finding):
    sick = setup.parse(SICK[finding])
    assert finding in found(sick)
    mended, words = apply_fix.fixed_setup(sick, finding, EVERYTHING)
    assert finding not in found(mended)
    assert words


@pytest.mark.parametrize(
    ("finding", "given", "key", "value"),
    [
        ("learning-rate-too-big", {"optimizer": {"name": "sgd", "lr": 2.0}}, "lr", 0.2),
        ("learning-rate-too-big", {"optimizer": "adam"}, "lr", 1e-4),
        ("learning-rate-too-small", {"optimizer": {"name": "sgd", "lr": 1e-3}}, "lr", 1e-2),
        ("first-nan", {"optimizer": {"name": "sgd", "lr": 50.0}}, "lr", 5.0),
    ],
    ids=str,
)
def test_another_learning_rate_is_tried(finding, given, key, value):
    made, words = apply_fix.fixed_setup(setup.parse({"data": "sine", **given}), finding, EVERYTHING)
    assert made.optimizer.options[key] == pytest.approx(value)
    assert f"{value:g}" in words


def test_a_rate_that_is_too_big_on_purpose_is_switched_off():
    sick = setup.parse({"data": "sine", "mistakes": ["huge_lr", "no_zero_grad"]})
    made, _ = apply_fix.fixed_setup(sick, "learning-rate-too-big", EVERYTHING)
    assert made.mistakes == ("no_zero_grad",)
    assert made.optimizer == sick.optimizer


def test_units_activations_and_gradients_are_mended():
    dead = setup.parse({"data": "moons", "model": {"name": "mlp", "activation": ["relu", "tanh"]}})
    made, words = apply_fix.fixed_setup(dead, "dead-relu", EVERYTHING)
    assert made.model.options["activation"] == ["leaky_relu", "tanh"]
    assert words == "activation leaky_relu instead of relu"
    made, _ = apply_fix.fixed_setup(dead, "exploding-gradient", EVERYTHING)
    assert made.clip_norm == 1.0


@pytest.mark.parametrize(
    ("finding", "given"),
    [
        ("missing-zero-grad", {"data": "sine"}),
        ("dead-relu", {"data": "sine", "model": "linear"}),
        ("exploding-gradient", {"data": "sine", "clip_norm": 0.5}),
        ("learning-rate-too-big", {"data": "sine", "optimizer": {"name": "sgd", "lr": 0.0}}),
        ("lost-leaf", {"data": "sine"}),
    ],
    ids=str,
)
def test_what_the_setup_does_not_cause_it_cannot_mend(finding, given):
    assert apply_fix.fixed_setup(setup.parse(given), finding, EVERYTHING) is None


# In the window


@pytest.fixture
def step(window, record):
    """A window with a step on the tape of a run that never clears its gradients."""
    window.show_workspace("training")
    link = window.train_link
    link.greet()
    sick = setup.parse(SICK["missing-zero-grad"])
    window.training.take_over(sick, (), 0, frozenset())
    window.training.begin()
    run = window.training.look.run_id
    link.begin(run, sick)
    link.grow(run, 0, 4)
    live = TrainingRun(sick)
    live.advance(3)
    tape, source, number = record_step.record_step(live)
    link.received.emit(messages.StepTape(run, number, tape, source))
    return window, run


def test_show_me_trains_the_mended_run_beside_the_one_that_is_sick(step, qtbot):
    window, sick = step
    (card,) = (c for c in window.findings.cards() if c.finding.id == "missing-zero-grad")
    assert card.apply is None
    window.train_link.sent.clear()
    window.show_findings()
    window.show()
    qtbot.mouseClick(card.show_me, Qt.MouseButton.LeftButton)
    assert window.room == "training"
    (begun,) = (m for m in window.train_link.sent if isinstance(m, messages.Train))
    assert begun.setup.mistakes == ()
    session = window.training
    seen = {one.run_id for one in session.runs} - session.look.hidden
    assert seen == {sick, begun.run_id}
    assert len(session.find(sick).curve("loss")) > 0
    assert "both runs are shown" in window.status.message.text()


def test_a_run_that_is_gone_is_said(step):
    window, sick = step
    session = window.training
    session.begin()
    session.drop(sick)
    assert (
        apply_fix.fixable_findings(session, sick, window.session.result.tape.findings)
        == frozenset()
    )
    assert apply_fix.train_fixed(session, sick, "missing-zero-grad") == ""


def test_without_the_catalogue_nothing_is_offered(session, train_link):
    session.open()
    assert apply_fix.train_fixed(session, 1, "missing-zero-grad") == ""
