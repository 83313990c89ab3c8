"""The curves of a program's loop in the window: offered, shown, played, and replaced."""

import subprocess
import sys

import pytest

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.ui.loops import loop_curves
from gradscribe.app.window.window import Window
from gradscribe.engine.protocol import messages
from tests.widgets.charts.conftest import Hand

PATIENCE_MS = 60_000
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
    assert "in step 250" in shown.chart.words.said()


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


def computed(link, numbers, first=0, run_id=None):
    """Send numbers of the loss of `SOURCE`, as the engine does while the program runs."""
    positions = tuple(10 * (first + k) + 5 for k in range(len(numbers)))
    one = messages.ComputedScalar(0, 3, 4, "float32", tuple(numbers), positions)
    link.received.emit(messages.Computed(run_id or len(link.runs), (one,)))


def started(settled, source=SOURCE):
    settled.session.apply_fix(source)


def drawn(curves):
    return {c.name: c.series.numbers().tolist() for c in curves.chart.chart.curves}


def test_the_curve_grows_while_the_program_runs(shown, settled, link, record, qtbot):
    exact, source = plain(), SOURCE + "# again\n"
    started(settled, source)
    for first, stop in ((0, 40), (40, 90), (90, 200)):
        computed(link, exact[first:stop], first)
        assert drawn(shown) == {"loss, run before": exact, "loss": exact[:stop]}
        assert loop_curves.RUNNING in shown.chart.words.said()
        assert f"in step {stop:,}" in shown.chart.words.said()
    link.answer(record(source))
    qtbot.waitUntil(lambda: settled.session.result.source == source and not shown.is_busy)
    assert drawn(shown) == {"loss, run before": exact, "loss": exact}
    assert loop_curves.RUNNING not in shown.chart.words.said()


def test_there_is_nowhere_to_go_while_it_grows(shown, settled, link):
    before = settled.session.view.position
    started(settled, SOURCE + "# again\n")
    computed(link, plain()[:100])
    shown.chart.grab()
    Hand(shown.chart.chart).click(0.5, 0.5)
    assert settled.session.view.position == before
    assert shown.chart.chart.position is None


def test_a_growing_curve_is_offered_and_its_tab_opened_before_the_end(settled, link, qtbot):
    settled.resize(1440, 900)
    settled.show()
    started(settled)
    curves = settled.loop_curves
    computed(link, [4.0, 3.0])
    assert not curves.offer.isVisible()
    computed(link, [2.0, 1.0], 2)
    assert curves.offer.text() == "Plot loss"
    curves.offer.click()
    qtbot.waitUntil(lambda: curves.chart is not None and bool(curves.chart.chart.curves))
    assert drawn(curves) == {"loss": [4.0, 3.0, 2.0, 1.0]}
    assert not curves.words.isVisible()


def test_a_run_that_fails_leaves_the_curve_of_the_shown_tape(shown, settled, link, record, qtbot):
    source = SOURCE + "raise ValueError\n"
    started(settled, source)
    computed(link, [1.0, 2.0, 3.0])
    link.answer(record(source))
    qtbot.waitUntil(lambda: settled.session.result.engine == "ready")
    assert drawn(shown) == {"loss": plain()}


def test_scalars_of_another_run_or_after_the_end_are_dropped(shown, settled, link):
    computed(link, [1.0, 2.0, 3.0])
    assert drawn(shown) == {"loss": plain()}
    started(settled, SOURCE + "# again\n")
    computed(link, [1.0, 2.0, 3.0], run_id=len(link.runs) - 1)
    assert drawn(shown) == {"loss": plain()}


SLOW = SOURCE.replace("300", "40") + "    time.sleep(0.05)\n"


@pytest.mark.e2e
@pytest.mark.checklist(177)
def test_with_a_real_engine_it_grows_and_ends_at_torch_s_own_numbers(qtbot, tmp_path):
    link = Link()
    window = Window(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
    qtbot.addWidget(window)
    window.open_first()
    window.resize(1440, 900)
    window.show()
    curves, session = window.loop_curves, window.session
    qtbot.waitUntil(lambda: session.result.engine == "ready", timeout=PATIENCE_MS)
    sizes = []
    session.computed.connect(lambda _: sizes.append(len(curves._growing.series()[0].numbers)))
    source = "import time\n" + SLOW
    session.apply_fix(source)
    curves.show()
    qtbot.waitUntil(lambda: session.result.source == source, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: session.result.engine == "ready", timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not curves.is_busy and curves.chart is not None, timeout=PATIENCE_MS)
    assert len(sizes) >= 2
    assert sizes == sorted(set(sizes))
    assert drawn(curves) == {"loss": plain()[:40]}
    window.close()
    link.close()
