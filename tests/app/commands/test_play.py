"""Play: every command of the transport."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.app import commands
from gradscribe.app.commands import play
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops.steps import steps_of


def test_the_ends_and_the_steps(settled):
    play.reset(settled.context)
    assert settled.session.view.position == 0
    play.step(settled.context)
    play.step(settled.context)
    play.back(settled.context)
    assert settled.session.view.position == 1
    play.to_end(settled.context)
    assert settled.session.view.position == settled.clock.length


def test_toggle_plays_and_pauses(settled):
    play.reset(settled.context)
    play.toggle(settled.context)
    assert settled.clock.playing
    play.toggle(settled.context)
    assert not settled.clock.playing


def test_speed_doubles_and_halves_within_bounds(settled):
    for _ in range(9):
        play.faster(settled.context)
    assert settled.clock.speed == 8
    for _ in range(9):
        play.slower(settled.context)
    assert settled.clock.speed == 0.25


def test_a_speed_can_be_chosen_and_is_remembered(settled):
    next(c for c in play.speeds(settled.context) if c.title == "2×").run(settled.context)
    assert settled.clock.speed == 2
    assert settled.settings.number("speed") == 2
    assert [c.title for c in play.speeds(settled.context) if c.checked] == ["2×"]


LOOP = """\
w = param(1.0)
for i in range(12):
    loss = (w - 3) ** 2
    loss.backward()
    w.data -= 0.1 * w.grad
"""


@pytest.fixture
def looped(settled, link, record):
    settled.session.apply_fix(LOOP)
    link.answer(record(LOOP))
    settled.resize(1440, 900)
    settled.show()
    return settled


def test_page_keys_turn_steps_wherever_the_keyboard_is(looped):
    found = steps_of(looped.session.result.tape)
    looped.session.move(found.span(5)[0] + 3)
    for widget in (looped.graph, looped.transport.scrubber, looped.transport.buttons.play_button):
        widget.setFocus()
        QTest.keyClick(widget, Qt.Key.Key_PageDown)
        assert looped.session.view.position == found.span(6)[0] + 3
        QTest.keyClick(widget, Qt.Key.Key_PageUp)
        assert looped.session.view.position == found.span(5)[0] + 3


def test_ctrl_g_takes_the_number_of_a_step(looped, qtbot):
    found = steps_of(looped.session.result.tape)
    looped.session.move(found.span(2)[0] + 2)
    looped.activateWindow()
    qtbot.waitUntil(looped.isActiveWindow)
    QTest.keyClick(looped.editor, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert looped.transport.strip.entry.hasFocus()
    QTest.keyClicks(looped.transport.strip.entry, "9")
    QTest.keyClick(looped.transport.strip.entry, Qt.Key.Key_Return)
    assert looped.session.view.position == found.span(9)[0] + 2


def test_a_pace_is_chosen_in_the_menu_and_on_the_strip(looped):
    by_line = next(c for c in play.paces(looped.context) if c.title == "Line by line")
    by_line.run(looped.context)
    assert looped.clock.pace == "line"
    assert looped.transport.strip.pace.currentText() == "by line"
    looped.transport.pace_picked.emit("step")
    assert [c.title for c in play.paces(looped.context) if c.checked] == ["Step by step"]


def test_without_a_loop_there_is_no_step_to_go_to(settled):
    for name in ("play.next_step", "play.step_back", "play.go_to_step"):
        assert not next(c for c in commands.load() if c.id == name).when(settled.context)
    assert not settled.transport.strip.isVisibleTo(settled.transport)


TWO_PASSES = """\
x = param(3.0)
y = x ** 3
(dy,) = torch.autograd.grad(y, x, create_graph=True)
(d2y,) = torch.autograd.grad(dy, x)
"""


def test_each_backward_pass_can_be_played_by_itself(settled, link, record, qtbot):
    settled.session.apply_fix(TWO_PASSES)
    link.answer(record(TWO_PASSES))
    choices = play.backward_passes(settled.context)
    assert [choice.title for choice in choices] == ["Pass 1: ∂y/∂x", "Pass 2: ∂dy/∂x"]
    settled.clock.set_speed(4)
    for choice, (start, stop) in zip(
        choices, sorted(index_of(settled.session.result.tape).passes.values()), strict=True
    ):
        seen: list[int] = []
        settled.session.moved.connect(lambda position, _ms, seen=seen: seen.append(position))
        choice.run(settled.context)
        qtbot.waitUntil(lambda: not settled.clock.playing)
        assert seen == list(range(start, stop + 2))


def test_the_pass_of_the_position_is_ticked(settled, link, record):
    settled.session.apply_fix(TWO_PASSES)
    link.answer(record(TWO_PASSES))
    spans = sorted(index_of(settled.session.result.tape).passes.values())
    settled.session.move(spans[1][0] + 1)
    ticked = [choice.checked for choice in play.backward_passes(settled.context)]
    assert ticked == [False, True]


def test_without_passes_and_on_the_training_page_there_is_none_to_play(settled, link, record):
    settled.session.apply_fix("x = param(3.0)")
    link.answer(record("x = param(3.0)"))
    assert play.backward_passes(settled.context) == []
    settled.session.apply_fix(TWO_PASSES)
    link.answer(record(TWO_PASSES))
    settled.workspaces.show_workspace("training")
    assert play.backward_passes(settled.context) == []
