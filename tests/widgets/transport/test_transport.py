import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.playback.tape.track import Segment
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.transport import Transport

SEGMENTS = (Segment("Forward", 0, 6), Segment("Loss", 6, 7), Segment("Backward", 7, 12))


@pytest.fixture
def transport(qtbot):
    made = Transport()
    qtbot.addWidget(made)
    qtbot.addWidget(made.buttons)
    made.set_track(SEGMENTS, 12)
    return made


def test_scrubbing_tells_the_position(transport, qtbot):
    with qtbot.waitSignal(transport.moved) as heard:
        QTest.keyClick(transport.scrubber, Qt.Key.Key_Right)
    assert heard.args == [1]
    assert transport.position() == 1


def test_setting_the_position_tells_nobody(transport, qtbot):
    with qtbot.assertNotEmitted(transport.moved):
        transport.set_position(9)
        transport.set_track(SEGMENTS[:1], 6)
    assert transport.position() == 6


@pytest.mark.parametrize("asked", [-5, 400])
def test_positions_are_held_inside_the_tape(transport, asked):
    transport.set_position(asked)
    assert transport.position() == min(12, max(0, asked))


@pytest.mark.parametrize("name", ["play", "step", "back", "reset"])
def test_the_buttons_speak_through_the_transport(transport, qtbot, name):
    transport.set_position(5)
    with qtbot.waitSignal(getattr(transport, f"{name}_pressed")):
        getattr(transport.buttons, f"{name}_button").click()


def test_speed_speaks_through_the_transport(transport, qtbot):
    with qtbot.waitSignal(transport.speed_changed) as heard:
        transport.buttons.speed_slider.setValue(10)
    assert heard.args == [2.0]


def test_only_moves_that_lead_somewhere_are_offered(transport):
    buttons = transport.buttons
    transport.set_position(0)
    assert not buttons.back_button.isEnabled()
    assert not buttons.reset_button.isEnabled()
    assert buttons.step_button.isEnabled()
    transport.set_position(12)
    assert not buttons.step_button.isEnabled()
    assert buttons.back_button.isEnabled()
    assert buttons.play_button.isEnabled()
    transport.set_track((), 0)
    assert not buttons.play_button.isEnabled()


def test_moving_by_hand_offers_the_way_back(transport):
    QTest.keyClick(transport.scrubber, Qt.Key.Key_Right)
    assert transport.buttons.back_button.isEnabled()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_paints_in_both_themes(transport, theme):
    transport.set_theme(Theme.load(theme))
    transport.set_playing(True)
    assert not transport.grab().isNull()
    assert not transport.buttons.grab().isNull()
