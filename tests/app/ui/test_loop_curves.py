"""The curves of a program's loop in the window: offered, shown, played, and replaced."""

import subprocess
import sys

import pytest

from gradscribe.app.ui import loop_curves
from tests.widgets.charts.conftest import Hand

SOURCE = """\
w = torch.tensor(5.0, requires_grad=True)
for i in range(300):
    loss = (w - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
"""


@pytest.fixture
def run(settled, link, record, qtbot):
    """Edit the program of the shown window, answer with its tape, and wait for its series."""
    settled.resize(1440, 900)
    settled.show()

    def edit(source):
        settled.session.apply_fix(source)
        link.answer(record(source))
        qtbot.waitUntil(lambda: settled.session.result.source == source)
        qtbot.waitUntil(lambda: not settled.loop_curves.is_busy)
        return settled.loop_curves

    return edit


@pytest.fixture
def shown(run, settled, qtbot):
    curves = run(SOURCE)
    curves.offer.click()
    qtbot.waitUntil(lambda: curves.chart is not None)
    curves.chart.grab()
    return curves


def tabs(window):
    return [window.below.tabText(place) for place in range(window.below.count())]


def plain():
    import torch

    w, found = torch.tensor(5.0, requires_grad=True), []
    for _ in range(300):
        loss = (w - 3) ** 2
        loss.backward()
        found.append(loss.item())
        with torch.no_grad():
            w -= 0.01 * w.grad
        w.grad = None
    return found


def test_a_program_without_a_loop_offers_nothing(settled):
    assert not settled.loop_curves.offer.isVisibleTo(settled)
    assert loop_curves.TITLE not in tabs(settled)


def test_asked_anyway_it_says_in_words_that_there_is_none(settled):
    settled.menus.perform_by("view.curves")
    assert settled.below.currentWidget() is settled.loop_curves.page
    assert settled.loop_curves.words.said() == loop_curves.NONE


def test_a_loop_is_offered_beside_the_program(run, settled):
    curves = run(SOURCE)
    assert curves.offer.text() == "Plot loss"
    assert curves.offer.isVisible()
    assert curves.chart is None


def test_a_click_on_round_250_plays_its_line_and_number(shown, settled):
    chart, expected = shown.chart.chart, plain()
    hand = Hand(chart)
    chart.zoom(245, 255)
    chart.grab()
    hand.click(0.5, 0.5)
    tape, position = settled.session.result.tape, settled.session.view.position
    event = tape.events[position - 1]
    value = next(v for v in tape.values if v.id == tape.ops[event.ref].outputs[0])
    assert (event.line, value.name) == (3, "loss")
    assert tape.snapshots[value.snapshot].item() == expected[249]
    assert chart.position == 250
    assert "in round 250" in shown.chart.words.said()


def test_the_line_follows_the_playback(shown, settled):
    settled.clock.reset()
    assert shown.chart.chart.position is None
    settled.clock.to_end()
    assert shown.chart.chart.position == 300


def test_the_next_run_replaces_the_curve_and_leaves_a_pale_one(shown, run):
    run(SOURCE.replace("0.01", "0.02"))
    assert [c.name for c in shown.chart.chart.curves] == ["loss, run before", "loss"]
    before = shown.chart.chart.curves[0].series
    assert before.numbers().tolist() == plain()


def test_a_run_without_a_loop_says_so_in_the_open_tab(shown, run, settled):
    run("x = torch.tensor(1.0)\ny = x * 2\n")
    assert settled.below.currentWidget() is shown.page
    assert not shown.chart.isVisible()
    assert shown.words.isVisible()
    run(SOURCE)
    assert shown.chart.isVisible()
    assert not shown.words.isVisible()


def test_the_command_opens_the_hidden_pane(run, settled, qtbot):
    curves = run(SOURCE)
    settled.settings.put("below", False)
    settled.menus.perform_by("view.curves")
    qtbot.waitUntil(lambda: curves.chart is not None)
    assert curves.page.isVisible()


def test_importing_the_window_imports_no_pyqtgraph():
    code = "import sys, gradscribe.app.window.window; sys.exit('pyqtgraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_another_document_does_not_leave_a_pale_curve(shown, settled, link, record, qtbot):
    from gradscribe.app.document.state import Doc

    source = SOURCE.replace("300", "20")
    settled.session.load(Doc(source=source))
    link.answer(record(source))
    qtbot.waitUntil(lambda: settled.session.result.source == source)
    qtbot.waitUntil(lambda: not shown.is_busy)
    assert [(c.name, len(c.series)) for c in shown.chart.chart.curves] == [("loss", 20)]
