"""The training page of the window with its real engine, against plain torch and mathematics."""

import itertools
import math

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from torch import nn

from gradscribe.app.commands import train
from gradscribe.app.training.setup import presets
from gradscribe.engine.protocol.setup import Part, Setup

PATIENCE_MS = 60_000
SINE = Setup(
    data=Part("sine", {"n": 50, "noise": 0.1}),
    model=Part("mlp", {"layers": [8]}),
    optimizer=Part("sgd", {"lr": 0.05}),
    shuffle=False,
    validate_every=10,
    mode="reference",
)
DEEP = Part("mlp", {"layers": [8] * 5})
LINE = Setup(
    data=Part("line", {"n": 40}),
    model=Part("linear"),
    optimizer=Part("sgd", {"lr": 0.05}),
    shuffle=False,
    mode="reference",
)


class Trainer:
    """The training page in the window, with hands."""

    def __init__(self, desk):
        self.window, self.bot = desk.window, desk.bot
        self.spaces = self.window.workspaces
        self.session = self.spaces.session

    @property
    def page(self):
        return self.spaces.widgets

    @property
    def run(self):
        return self.session.run

    def wait(self, holds):
        self.bot.waitUntil(holds, timeout=PATIENCE_MS)

    def begin(self, setup):
        """Start a run of a set-up and wait for its first view of the data."""
        self.session.store.set_setup(setup)
        self.session.controller.begin()
        self.ready(setup)

    def ready(self, setup):
        self.wait(lambda: self.run.setup == setup and self.run.begun is not None)
        self.wait(lambda: self.run.state is not None and self.run.data is not None)
        self.settle()

    def settle(self):
        """Wait until the form shows the set-up: it is filled in turns of the event loop."""
        shown = self.spaces.presenter
        self.wait(lambda: not shown.offering.busy and not shown.following.busy)

    def advance(self, steps):
        # A run that has just been asked for counts from a step that is not known yet.
        self.wait(lambda: self.run.begun is not None)
        step = self.run.step + steps
        self.session.controller.advance(steps)
        self.wait(lambda: self.run.step >= step and len(self.run.curve("loss")) >= step)

    def curve(self, name):
        """Return name -> (steps, numbers) of the curves in the plot of the losses with a name."""
        page = self.page
        self.wait(
            lambda: any(curve.name == name and len(curve.series) for curve in page.loss.curves)
        )
        return next(curve for curve in page.loss.curves if curve.name == name)

    def open(self, title):
        """Open the tab of a view and return its widget."""
        page = self.page
        widget = next(one for _, one in page.views if one.accessibleName() == title)
        for tabs in (page.says, page.below, page.numbers):
            if tabs.indexOf(widget) >= 0:
                tabs.setCurrentWidget(widget)
        return widget

    def choose(self, section, name):
        """Choose an entry of a part of the set-up, as a click on the drop-down does."""
        choice = self.page.form.parts[section].choice
        self.wait(lambda: choice.findData(name) >= 0)
        choice.setCurrentIndex(choice.findData(name))
        choice.activated.emit(choice.currentIndex())

    def data(self):
        """Return x, y and the rows that are trained on, as the page got them."""
        sample = self.run.data
        x, y, rows = (torch.tensor(a.array()) for a in (sample.x, sample.y, sample.train))
        return x, y, rows


@pytest.fixture(scope="module")
def shared_trainer(shared_desk):
    """The page with a run, shown once: no test makes parts of it."""
    made = Trainer(shared_desk)
    made.spaces.show_workspace("training")
    made.wait(lambda: made.spaces.is_whole and made.run is not None)
    made.wait(lambda: made.run.state is not None)
    made.session.controller.pause()
    made.begin(SINE)
    for title in ("Loss surface", "Histograms", "Optimizer state", "Update of a weight"):
        made.open(title)
    made.advance(10)
    made.settle()
    made.page.grab()
    return made


@pytest.fixture
def trainer(shared_trainer, qapp):
    yield shared_trainer
    shared_trainer.session.controller.pause()


def model_of(seed, widths=(1, 8, 1)):
    """Return the network of plain torch with the page's first weights."""
    torch.manual_seed(seed)
    layers = []
    for wide, high in itertools.pairwise(widths):
        layers += [nn.Linear(wide, high), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def plain(trainer, make_optimizer, steps, clear=True):
    """Train in plain torch on the page's data; return losses, validation losses and the model."""
    x, y, rows = trainer.data()
    model = model_of(0)
    optimizer = make_optimizer(model.parameters())
    losses, validation = [], {}
    for step in range(1, steps + 1):
        if clear:
            optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 10 == 0:
            with torch.no_grad():
                validation[step] = nn.functional.mse_loss(model(x[~rows]), y[~rows]).item()
    return losses, validation, model, optimizer


def sgd(lr):
    return lambda parameters: torch.optim.SGD(parameters, lr=lr)


def adam(lr):
    return lambda parameters: torch.optim.Adam(parameters, lr=lr)


@pytest.mark.checklist(55, 62)
def test_the_validation_has_a_curve_of_its_own_every_ten_steps(trainer):
    trainer.begin(SINE)
    trainer.advance(40)
    validation, batch = trainer.curve("validation"), trainer.curve("batch")
    assert validation.color != batch.color
    assert validation.dashes
    _, expected, _, _ = plain(trainer, sgd(0.05), 40)
    trainer.wait(lambda: validation.series.last == 40)
    steps = validation.series.steps(0, len(validation.series))
    found = dict(zip(steps.tolist(), validation.series.numbers().tolist(), strict=True))
    for step, loss in expected.items():
        assert found[step] == pytest.approx(loss, rel=1e-4), step
    assert set(found) - {0, 1} == set(expected)


@pytest.mark.checklist(58)
def test_the_share_of_the_training_data_is_chosen_in_the_form(trainer):
    trainer.begin(SINE)
    _, _, rows = trainer.data()
    assert (int(rows.sum()), len(rows)) == (40, 50)
    sections = [s for s in trainer.page.form.sections() if "train" in getattr(s, "names", ())]
    (section,) = sections
    section.head.setChecked(True)
    before = trainer.run.data
    slider = section.by_name["train"].editor.slider
    slider.setValue(slider.minimum() + (slider.maximum() - slider.minimum()) // 3)
    share = trainer.session.setup.train
    assert 0.1 < share < 0.6
    trainer.wait(lambda: trainer.run.setup.train == share)
    trainer.wait(lambda: trainer.run.data not in (None, before))
    _, _, rows = trainer.data()
    assert (int(rows.sum()), len(rows)) == (round(50 * share), 50)


@pytest.mark.checklist(108)
def test_the_optimizers_view_shows_what_it_remembers(trainer):
    view = trainer.open("Optimizer state")
    trainer.begin(replace(SINE, optimizer=Part("adam", {"lr": 0.05})))
    trainer.advance(3)
    _, _, model, optimizer = plain(trainer, adam(0.05), 3)
    names = dict(model.named_parameters())
    trainer.wait(lambda: trainer.run.views["optimizer"].step == 3 and len(view._spreads) > 0)
    shown = {spread.name: spread for spread in view._spreads}
    for kind in ("exp_avg", "exp_avg_sq"):
        for name, parameter in names.items():
            state, spread = optimizer.state[parameter][kind], shown[f"{kind} {name}"]
            ends = (state.min().item(), state.max().item())
            assert (spread.low, spread.high) == pytest.approx(ends, rel=1e-3, abs=1e-9)
            assert spread.counts.sum() == state.numel()
    trainer.begin(SINE)
    trainer.advance(3)
    trainer.wait(lambda: trainer.run.views["optimizer"].step == 3)
    assert not view._spreads
    assert view.nothing == "This optimizer has no state"


@pytest.mark.checklist(110)
def test_data_model_loss_and_optimizer_vary_and_the_loop_stays(trainer):
    trainer.begin(SINE)

    def loop():
        return tuple(line for _, line in trainer.run.begun.lines)

    first = loop()
    assert [word in " ".join(first) for word in ("zero_grad", "backward", "step")] == [True] * 3
    for section, name in (
        ("optimizer", "adam"),
        ("loss", "l1"),
        ("model", "linear"),
        ("data", "line"),
    ):
        trainer.choose(section, name)
        trainer.wait(
            lambda s=section, n=name: (
                getattr(trainer.run.setup, s) is not None
                and getattr(trainer.run.setup, s).name == n
                and trainer.run.begun is not None
            )
        )
        assert loop() == first, section
        shown = [code.text() for _mark, code, _what in trainer.page.lines._rows]
        assert len(shown) == len(first)


@pytest.mark.checklist(67)
def test_other_layers_while_it_trains_begin_with_new_weights(trainer):
    trainer.begin(SINE)
    trainer.session.controller.play()
    trainer.wait(lambda: len(trainer.run.curve("loss")) >= 60)
    before = trainer.run.curve("loss").numbers()[:50].copy()
    trainer.page.form.parts["model"].by_name["layers"].editor.more.click()
    trainer.wait(lambda: "4.weight" in {one.name for one in trainer.run.begun.parameters})
    trainer.wait(lambda: len(trainer.run.curve("loss")) > 0)
    trainer.session.controller.pause()
    widths = trainer.run.setup.model.options["layers"]
    fresh = model_of(0, (1, *widths, 1))
    shapes = {one.name: tuple(one.shape) for one in trainer.run.begun.parameters}
    assert shapes == {name: tuple(p.shape) for name, p in fresh.named_parameters()}
    # The loss of its first step is that of fresh weights: nothing is left of the old ones.
    x, y, rows = trainer.data()
    with torch.no_grad():
        expected = nn.functional.mse_loss(fresh(x[rows]), y[rows]).item()
    assert trainer.run.curve("loss").numbers()[0] == pytest.approx(expected, rel=1e-4)

    def shown():
        numbers = [one.series.numbers() for one in trainer.page.loss.curves]
        return any(np.array_equal(one[:50], before) for one in numbers)

    trainer.wait(shown)


@pytest.mark.checklist(122)
def test_a_small_network_fits_a_sine_and_the_plot_follows(trainer):
    start = next(one for one in presets.load() if one.setup.data.name == "sine")
    assert start.setup.model.options["layers"] == [16]
    train.start_from(trainer.window.context, start)
    trainer.session.controller.pause()
    trainer.wait(lambda: trainer.run.setup.data.name == "sine" and trainer.run.begun is not None)
    trainer.wait(lambda: trainer.run.state is not None and trainer.run.data is not None)
    fit = trainer.page.fit
    trainer.page.says.setCurrentWidget(trainer.page.picture)
    trainer.wait(lambda: trainer.page.picture.currentWidget() is fit)

    def miss():
        x, y = fit._curve
        inside = np.abs(x) <= math.pi
        return float(np.abs(y[inside] - np.sin(x[inside])).mean()) if x.size else math.inf

    trainer.wait(lambda: math.isfinite(miss()))
    misses = [miss()]
    steps = trainer.run.step
    for aim in (100, 1000):
        trainer.session.controller.advance(aim - steps)
        trainer.wait(lambda aim=aim: trainer.run.step == aim)
        trainer.wait(lambda last=misses[-1]: miss() != last)
        trainer.wait(lambda aim=aim: trainer.run.views["fit"].step == aim)
        steps = aim
        misses.append(miss())
    assert misses[-1] < 0.1 < misses[0]


@pytest.mark.checklist(123)
def test_two_optimizers_race_in_the_same_plot(trainer):
    trainer.begin(replace(SINE, optimizer=Part("sgd", {"lr": 0.01})))
    trainer.session.controller.fork()
    slow = trainer.session.runs[-2]
    trainer.wait(lambda: trainer.run is not slow and trainer.run.state is not None)
    trainer.choose("optimizer", "adam")
    trainer.wait(lambda: trainer.run.setup.optimizer.name == "adam")
    trainer.advance(150)
    fast = trainer.run
    trainer.session.controller.select(slow.run_id)
    trainer.wait(lambda: trainer.run is slow)
    trainer.advance(150)
    shown = [curve.series for curve in trainer.page.loss.curves]
    assert len([curve for curve in trainer.page.loss.curves if len(curve.series) >= 150]) >= 2
    assert slow.curve("loss") in shown
    lr = fast.setup.optimizer.options.get("lr", 1e-3)
    for run, make in ((slow, sgd(0.01)), (fast, adam(lr))):
        expected, _, _, _ = plain(trainer, make, 150)
        np.testing.assert_allclose(run.curve("loss").numbers()[-150:], expected, rtol=2e-3)


@pytest.mark.checklist(126)
def test_activations_over_depth_are_named_after_their_layers(trainer):
    view = trainer.open("Histograms")
    view.choice.setCurrentText("activation")
    trainer.begin(replace(SINE, model=DEEP))
    x, _, _ = trainer.data()
    model = model_of(0, (1, *[8] * 5, 1))
    outputs, names = [], []
    for number, layer in enumerate(model):
        x = layer(x)
        if isinstance(layer, nn.Tanh) or number == len(model) - 1:
            outputs.append(x.detach())
            names.append(f"{number}: {type(layer).__name__}")
    trainer.wait(lambda: [spread.name for spread in view._spreads] == names)
    for spread, output in zip(view._spreads, outputs, strict=True):
        assert (spread.low, spread.high) == pytest.approx(
            (output.min().item(), output.max().item()), abs=1e-5
        )
        expected = torch.histc(output, 32, spread.low, spread.high).numpy()
        assert np.abs(spread.counts - expected).sum() <= 2


@pytest.mark.checklist(181)
def test_the_arrow_on_the_surface_is_a_step_against_the_gradient(trainer):
    view = trainer.open("Loss surface")
    trainer.begin(LINE)
    trainer.advance(3)
    x, y, rows = trainer.data()
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(4):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
        if step < 3:
            optimizer.step()
    expected = (-0.05 * model.weight.grad.item(), -0.05 * model.bias.grad.item())
    trainer.wait(lambda: view._step is not None and trainer.run.views["surface"].step == 3)
    assert view._step == pytest.approx(expected, rel=1e-3)
    view.grab()
    line, _ = view.step_arrow()
    # Pixels: to the right is more of the weight, upwards more of the bias.
    assert (line.dx() > 0, line.dy() < 0) == (expected[0] > 0, expected[1] > 0)


@pytest.mark.checklist(222)
def test_without_zero_grad_the_training_gets_worse_beside_the_right_run(trainer):
    trainer.begin(SINE)
    boxes = trainer.page.form.mistakes
    boxes.head.setChecked(True)
    boxes.boxes["no_zero_grad"].click()
    trainer.wait(lambda: trainer.run.setup.mistakes == ("no_zero_grad",))
    trainer.wait(lambda: trainer.run.state is not None and trainer.run.data is not None)
    wrong = trainer.run
    trainer.advance(60)
    right = trainer.session.store.find(trainer.session.store.right_id)
    trainer.wait(lambda: right.curve("loss").last >= 60)
    for run, clear in ((wrong, False), (right, True)):
        expected, _, _, _ = plain(trainer, sgd(0.05), 60, clear)
        np.testing.assert_allclose(run.curve("loss").numbers()[:60], expected, rtol=2e-3)
    assert wrong.curve("loss").latest > right.curve("loss").latest
    trainer.curve("right run")
    boxes.boxes["no_zero_grad"].click()


@pytest.mark.checklist(51)
def test_the_true_line_is_next_to_the_fit(trainer):
    trainer.page.says.setCurrentWidget(trainer.page.picture)
    trainer.begin(SINE)
    fit = trainer.page.fit
    trainer.wait(lambda: fit._true[0].size > 0 and fit._curve[0].size > 0)
    x, y = fit._true
    np.testing.assert_allclose(y, np.sin(x), atol=1e-5)


@pytest.mark.checklist(117)
def test_the_update_of_a_weight_is_checked_to_the_bit(trainer):
    check = trainer.open("Update of a weight")
    for optimizer, make in (
        (Part("sgd", {"lr": 0.05}), sgd(0.05)),
        (Part("adam", {"lr": 0.05}), adam(0.05)),
    ):
        trainer.begin(replace(SINE, optimizer=optimizer))
        trainer.advance(3)
        trainer.wait(
            lambda: "update" in trainer.run.views and trainer.run.views["update"].step == 3
        )
        _, _, before, _ = plain(trainer, make, 3)
        _, _, after, _ = plain(trainer, make, 4)
        check.element.setValue(2)
        shown = check.numbers()
        assert shown["before"] == pytest.approx(before[0].weight[2, 0].item(), rel=1e-5)
        assert shown["after"] == pytest.approx(after[0].weight[2, 0].item(), rel=1e-5)
        assert "equal to the bit" in check.made.said()
        count = sum(p.numel() for p in before.parameters())
        assert check.all.said() == f"All {count} weights equal to the bit"
