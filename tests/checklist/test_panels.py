"""Inspector, ledger, output and gallery of the window, filled by programs that have run."""

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from gradscribe.app.document import examples
from gradscribe.app.ui.examples.gallery import Gallery
from gradscribe.widgets.inspector.panes.heatmap import HeatView
from gradscribe.widgets.inspector.panes.histogram import HistogramPane
from tests.checklist.desk import plain_output


@pytest.fixture(autouse=True)
def values_tab(desk):
    """Show the table of values first, as the window does."""
    desk.window.tables.setCurrentWidget(desk.window.values)


def ran(source):
    """Return the names that a program leaves behind in plain Python."""
    names = {}
    exec(source, names)
    return names


@pytest.mark.checklist(24)
def test_state_output_and_problems_are_in_view_after_a_run(desk):
    source = (
        "import torch\n"
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "sgd = torch.optim.SGD([w], lr=0.25)\n"
        "for step in range(6):\n"
        "    loss = (w * w).sum()\n"
        "    loss.backward()\n"
        "    sgd.step()\n"
        "    print(step, loss.item(), w.grad)\n"
    )
    window = desk.run(source).window
    # The state: values and gradients in the table, shown without a click.
    names = ran(source)
    assert window.values.isVisible()
    assert desk.value("loss") == pytest.approx(names["loss"].item(), abs=6e-5)
    shown = desk.rows()["w"][1].replace("−", "-").strip("[]").split(", ")
    assert [float(number) for number in shown] == pytest.approx(names["w"].grad.tolist(), abs=6e-4)
    # The logs: the output as in Python; its tab and that of the findings are always there.
    assert desk.output == plain_output(source)
    assert "missing-zero-grad" in desk.findings
    titles = [window.below.tabText(at) for at in range(window.below.count())]
    assert any(title.startswith("Output") for title in titles)
    assert any(title.startswith("Findings · ") for title in titles)
    assert window.below.isVisible()
    for at in range(window.below.count()):
        assert window.below.isTabVisible(at)
    # And an error.
    desk.run(source + "torch.ones(2) @ torch.ones(3)\n")
    assert "RuntimeError" in window.status.message.text()
    assert "RuntimeError" in desk.problem
    assert desk.output == plain_output(source)


@pytest.mark.checklist(32, 132)
def test_tensors_of_any_rank_are_seen_slice_by_slice(desk):
    sizes = {"scalar": (), "row": (4,), "table": (3, 4), "images": (2, 3, 4), "batch": (2, 2, 3, 4)}
    lines = [
        f"{name} = torch.arange({torch.Size(size).numel()}.0).reshape({size})"
        for name, size in sizes.items()
    ]
    source = "import torch\n" + "\n".join(lines) + "\n"
    inspector = desk.run(source).window.inspector
    names = ran(source)
    heat = inspector.findChild(HeatView)
    for name, size in sizes.items():
        desk.select(name)
        if not size:
            assert not heat.isVisibleTo(inspector)
            assert "0.0" in desk.words()
            continue
        chosen = [0] * max(0, len(size) - 2)
        for dim in range(len(chosen)):
            chosen[dim] = size[dim] - 1
            press(desk, f"Index {chosen[dim]} of dimension {dim}")
        expected = names[name][tuple(chosen)].numpy()
        np.testing.assert_array_equal(heat.numbers, np.atleast_2d(expected))


def press(desk, name):
    """Press the button of the inspector with an accessible name, once it is laid out."""
    inspector = desk.window.inspector

    def found():
        buttons = [one for one in inspector.findChildren(QPushButton) if one.isVisibleTo(inspector)]
        return [one for one in buttons if one.accessibleName() == name]

    desk.bot.waitUntil(lambda: len(found()) == 1)
    found()[0].click()


@pytest.mark.checklist(89)
def test_the_ledger_and_the_graph_follow_each_other(desk):
    window = desk.run(
        "import torch\n"
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "y = x * 4\n"
        "z = y.exp()\n"
        "z.backward()\n"
    ).window
    window.tables.setCurrentWidget(window.ledger)
    view, model = window.ledger.view, window.ledger._model
    # A leaf, two ops, the pass, its two nodes and the gradient that arrives.
    assert model.rowCount() == 7
    window.clock.reset()
    seen = []
    for row in range(model.rowCount()):
        window.clock.step()
        assert window.ledger.current() == row
        assert view.currentIndex().row() == row
        seen += [(row, key) for key, look in desk.look().cards.items() if look.active]
    # What is lit in the graph was recorded forward from x to z, and is walked backward in reverse.
    lit = [key for _, key in seen]
    keys = [desk.card(name).key for name in ("y", "z")]
    first = [lit.index(key) for key in keys]
    last = [len(lit) - 1 - lit[::-1].index(key) for key in keys]
    assert first == sorted(first)
    assert last == sorted(last, reverse=True)
    # A click on a row shows the graph as it was then.
    at = next(row for row, key in seen if key == desk.card("y").key)
    place = view.visualRect(model.index(at, 0)).center()
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
    )
    assert desk.session.view.position == at + 1
    assert desk.look().cards[desk.card("y").key].active


@pytest.mark.checklist(135)
def test_made_tensors_have_a_histogram(desk):
    source = (
        "import torch\n"
        "torch.manual_seed(2)\n"
        "zeros, ones = torch.zeros(30, 20), torch.ones(30, 20)\n"
        "even = torch.rand(30, 20)\n"
        "bell = torch.randn(30, 20)\n"
    )
    inspector = desk.run(source).window.inspector
    names = ran(source)
    pane = inspector.findChild(HistogramPane)
    for name in ("zeros", "ones", "even", "bell"):
        desk.select(name)
        assert pane.isVisibleTo(inspector)
        bars, numbers = pane.bars["value"], names[name].double().numpy()
        assert (bars.low, bars.high) == pytest.approx((numbers.min(), numbers.max()))
        filled = bars.counts[bars.counts > 0]
        if name in ("zeros", "ones"):
            assert filled.tolist() == [600]
        else:
            expected, _ = np.histogram(numbers, len(bars.counts))
            assert np.abs(bars.counts - expected).sum() <= 2
    # Uniform numbers fill all bins alike, normal ones the middle.
    assert 0 <= names["even"].min() < names["even"].max() < 1
    assert bars.counts[len(bars.counts) // 3 : -len(bars.counts) // 3].sum() > 300


@pytest.mark.checklist(177)
def test_a_figure_of_matplotlib_stands_in_the_output(desk):
    source = (
        "import matplotlib.pyplot as plt\n"
        "import torch\n"
        "x = torch.linspace(0, 1, 20)\n"
        "w = torch.zeros(1, requires_grad=True)\n"
        "losses = []\n"
        "for step in range(20):\n"
        "    loss = ((w * x - 3 * x) ** 2).mean()\n"
        "    loss.backward()\n"
        "    with torch.no_grad():\n"
        "        w -= 0.5 * w.grad\n"
        "    w.grad.zero_()\n"
        "    losses.append(loss.item())\n"
        "print('trained')\n"
        "plt.plot(losses)\n"
        "plt.show()\n"
        "plt.scatter(x, 3 * x)\n"
        "plt.plot(x, (w * x).detach())\n"
        "plt.show()\n"
        "print('drawn')\n"
    )
    window = desk.run(source).window
    assert desk.problem == ""
    curve, scatter = window.console.figures.figures()
    assert desk.output == "trained\ndrawn\n"
    losses = ran_losses()
    (line,) = curve.axes[0].lines
    np.testing.assert_allclose(np.frombuffer(line.y), losses, rtol=1e-6)
    assert [one.is_scatter for one in scatter.axes[0].lines].count(True) == 1
    # The curve of the loss is drawn by the window itself, too.
    (series,) = (one for one in window.loop_curves.series if one.name == "loss")
    assert list(series.numbers) == pytest.approx(losses, rel=1e-6)


def ran_losses():
    """Return the losses of that program in plain torch, without its figures."""
    x, w, losses = torch.linspace(0, 1, 20), torch.zeros(1, requires_grad=True), []
    for _ in range(20):
        loss = ((w * x - 3 * x) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.5 * w.grad
        w.grad.zero_()
        losses.append(loss.item())
    return losses


BROKEN = [pytest.param(one, id=one.name) for one in examples.load()]


@pytest.mark.parametrize("example", BROKEN)
@pytest.mark.checklist(23, 28, 244)
def test_each_example_is_broken_by_its_button_and_the_mistake_is_explained(desk, example):
    window = desk.window
    window.context.show_examples("program")
    (gallery,) = window.findChildren(Gallery)
    desk.bot.waitUntil(lambda: len(gallery.tiles) >= len(examples.load()), timeout=60_000)
    tile = next(one for one in gallery.tiles if one.accessibleName() == example.title)
    (button,) = (one for one in tile.findChildren(QPushButton) if one.text() == "Break it")
    button.click()
    session = desk.session
    desk.bot.waitUntil(
        lambda: (
            session.result.latest_source == session.doc.source == example.broken.source
            and not session.result.run_id
        ),
        timeout=60_000,
    )
    error = session.result.latest.error
    explained = desk.findings or (error is not None and error.hint)
    assert explained, (desk.problem, desk.findings)
    if error is not None:
        assert error.type in desk.problem
    desk.bot.waitUntil(lambda: not window.findChildren(Gallery))
