"""Breakpoints and "run to", in a window, by clicks and keys."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gradscribe.app import commands
from gradscribe.app.commands import play, stops
from gradscribe.app.files import session_file
from gradscribe.widgets.editor.gutter import Gutter

LOOP = """\
w = param(1.0)
for i in range(3):
    loss = (w - 3) ** 2
    loss.backward()
    w.data -= 0.1 * w.grad
y = (w * 0 - 1).log()
"""


@pytest.fixture
def looped(settled, link, record):
    settled.session.apply_fix(LOOP)
    link.answer(record(LOOP))
    settled.show()
    settled.clock.set_speed(8)
    settled.clock.reset()
    return settled


def click_margin(window, line):
    window.editor.grab()
    row = next(row for row in window.editor.rows() if row.line == line)
    gutter = window.editor.findChild(Gutter)
    QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(10, int(row.middle)))


def latest(window):
    event = window.session.result.tape.events[window.session.view.position - 1]
    return event.kind, event.line


def rest(window, qtbot):
    qtbot.waitUntil(lambda: not window.clock.playing, timeout=10_000)


def run(window, qtbot, command):
    command(window.context)
    rest(window, qtbot)


@pytest.mark.checklist(65)
def test_65_play_stops_at_a_breakpoint_forward_and_in_the_backward_pass(looped, qtbot):
    click_margin(looped, 3)
    seen = []
    for _ in range(3):
        play.toggle(looped.context)
        rest(looped, qtbot)
        seen.append(latest(looped))
        assert looped.status.message.text() == "Stopped at line 3"
    assert seen == [("op", 3), ("node", 3), ("op", 3)]
    click_margin(looped, 3)
    play.toggle(looped.context)
    rest(looped, qtbot)
    assert looped.session.view.position == looped.clock.length


@pytest.mark.parametrize("pace", ["line", "step"])
def test_65_no_pace_plays_past_a_breakpoint(looped, qtbot, pace):
    click_margin(looped, 4)
    looped.clock.set_pace(pace)
    play.toggle(looped.context)
    rest(looped, qtbot)
    assert latest(looped) == ("backward", 4)


def test_65_f9_and_the_keys_of_the_breakpoints(looped, qtbot):
    looped.editor.go_to_line(5)
    looped.editor.setFocus()
    QTest.keyClick(looped.editor, Qt.Key.Key_F9)
    assert looped.session.view.breakpoints == (5,)
    assert looped.status.message.text() == "Breakpoint on line 5"
    QTest.keyClick(looped.editor, Qt.Key.Key_F9, Qt.KeyboardModifier.ShiftModifier)
    rest(looped, qtbot)
    assert latest(looped)[1] == 5
    first = looped.session.view.position
    run(looped, qtbot, stops.next_breakpoint)
    assert looped.session.view.position > first
    run(looped, qtbot, stops.previous_breakpoint)
    assert looped.session.view.position == first
    run(looped, qtbot, stops.previous_breakpoint)
    assert looped.status.message.text() == "No breakpoint comes before this"
    QTest.keyClick(looped.editor, Qt.Key.Key_F9)
    assert looped.session.view.breakpoints == ()


def test_65_run_to_the_line_of_the_caret(looped, qtbot):
    looped.editor.go_to_line(4)
    places = []
    for _ in range(3):
        run(looped, qtbot, stops.run_to_line)
        places.append(looped.session.view.position)
        assert latest(looped) == ("backward", 4)
    assert places == sorted(set(places))
    run(looped, qtbot, stops.run_to_line)
    assert looped.status.message.text() == "Line 4 does not run after this"
    looped.editor.go_to_line(2)
    run(looped, qtbot, stops.run_to_line)
    assert looped.status.message.text() == "Nothing is recorded on line 2"


def test_65_the_next_node_and_the_next_nan(looped, qtbot):
    kinds = []
    for _ in range(2):
        run(looped, qtbot, stops.next_node)
        kinds.append(latest(looped)[0])
    assert kinds == ["node", "node"]
    run(looped, qtbot, stops.next_nan)
    assert latest(looped) == ("op", 6)
    run(looped, qtbot, stops.next_nan)
    assert looped.status.message.text() == "No NaN comes after this"


def test_65_the_next_change_and_the_next_gradient_of_the_selected_leaf(looped, qtbot):
    run(looped, qtbot, stops.next_gradient)
    assert looped.session.view.position == 0, "nothing is selected"
    looped.clock.step()
    looped.presenter.select_name("w")
    run(looped, qtbot, stops.next_gradient)
    assert latest(looped)[0] == "accumulate"
    assert looped.inspector.page().snapshot("gradient").item() == pytest.approx(-4.0)
    run(looped, qtbot, stops.next_change)
    assert latest(looped)[1] == 5
    assert looped.inspector.page().snapshot("value").item() == pytest.approx(1.4)


def test_65_breakpoints_survive_a_new_run_and_move_with_edits(looped, link, record, qtbot):
    click_margin(looped, 4)
    looped.editor.go_to_line(1)
    looped.editor.setFocus()
    QTest.keyClicks(looped.editor, "# first")
    QTest.keyClick(looped.editor, Qt.Key.Key_Return)
    assert looped.session.view.breakpoints == (5,)
    # The old tape is still shown: its lines are those of the text before.
    looped.clock.reset()
    play.toggle(looped.context)
    rest(looped, qtbot)
    assert latest(looped) == ("backward", 4)
    qtbot.waitUntil(lambda: link.sources[-1].startswith("# first"))
    link.answer(record("# first\n" + LOOP))
    assert looped.session.view.breakpoints == (5,)
    looped.clock.reset()
    play.toggle(looped.context)
    rest(looped, qtbot)
    assert latest(looped) == ("backward", 5)


def test_65_breakpoints_are_stored_with_the_document(looped):
    click_margin(looped, 3)
    kept = session_file.decode(session_file.encode(looped.recovery.look()))
    assert kept.view.breakpoints == (3,)
    stops.remove_breakpoints(looped.context)
    assert looped.session.view.breakpoints == ()
    looped.recovery.restore(kept)
    assert looped.session.view.breakpoints == (3,)
    assert looped.editor.breakpoints.lines() == (3,)


def test_another_document_has_none(looped):
    from gradscribe.app.document.state import Doc

    click_margin(looped, 3)
    looped.session.load(Doc(source=LOOP + "\n", path="/other.py"))
    assert looped.session.view.breakpoints == ()
    assert looped.editor.breakpoints.lines() == ()


def test_the_context_menus_offer_them():
    from gradscribe.app.window.menus.context_menus import COMMANDS

    known = {one.id for one in commands.load()}
    for subject in ("card", "wire", "value", "line"):
        assert {"play.next_change", "play.next_gradient"} <= set(COMMANDS[subject]) & known
    assert {"play.breakpoint", "play.run_to_line"} <= set(COMMANDS["text"]) & known
