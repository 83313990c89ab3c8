import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.buttons import TransportButtons, icon, speed_text


@pytest.fixture
def buttons(qtbot):
    made = TransportButtons()
    qtbot.addWidget(made)
    made.update_enabled(5, 10)
    return made


def test_play_turns_into_pause_and_keeps_its_width(buttons):
    width = buttons.play_button.sizeHint().expandedTo(buttons.play_button.minimumSize()).width()
    assert buttons.play_button.text() == "Play"
    buttons.set_playing(True)
    assert buttons.play_button.text() == "Pause"
    assert buttons.play_button.accessibleName() == "Pause"
    assert "Pause" in buttons.play_button.toolTip()
    wide = buttons.play_button.sizeHint().expandedTo(buttons.play_button.minimumSize()).width()
    assert wide == width
    buttons.set_playing(False)
    assert buttons.play_button.text() == "Play"


@pytest.mark.parametrize(
    ("name", "key"), [("reset", "Home"), ("back", "Left"), ("step", "Right"), ("play", "Space")]
)
def test_tooltips_name_the_key(buttons, name, key):
    button = getattr(buttons, f"{name}_button")
    assert f"({key})" in button.toolTip()
    assert button.accessibleName()


def test_buttons_do_not_take_the_keyboard_when_clicked(buttons):
    for name in ("reset", "back", "step", "play"):
        assert getattr(buttons, f"{name}_button").focusPolicy() == Qt.FocusPolicy.TabFocus


@pytest.mark.parametrize(("speed", "text"), [(0.25, "0.25×"), (1, "1×"), (2.83, "2.83×")])
def test_speeds_are_written_short(speed, text):
    assert speed_text(speed) == text


@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_the_slider_holds_every_doubling(buttons, qtbot, speed):
    with qtbot.assertNotEmitted(buttons.speed_changed):
        buttons.set_speed(speed)
    assert buttons.speed() == pytest.approx(speed)
    assert buttons.speed_value.said() == speed_text(speed)


@pytest.mark.parametrize(("asked", "held"), [(0.01, 0.25), (100, 8.0)])
def test_speeds_are_held_between_a_quarter_and_eight(buttons, asked, held):
    buttons.set_speed(asked)
    assert buttons.speed() == pytest.approx(held)


def test_moving_the_slider_tells_the_speed_and_shows_it(buttons, qtbot):
    with qtbot.waitSignal(buttons.speed_changed) as heard:
        buttons.speed_slider.setValue(-10)
    assert heard.args[0] == pytest.approx(0.5)
    assert buttons.speed_value.said() == "0.5×"


def test_the_icon_of_a_disabled_button_has_the_colour_of_its_text(qtbot):
    theme = Theme.load("dark")
    made = icon("play", theme.on_selection, off=theme.disabled)
    picture = made.pixmap(QSize(16, 12), 1.0, QIcon.Mode.Disabled).toImage()
    assert picture.pixelColor(4, 6) == theme.disabled


@pytest.mark.parametrize("shape", ["play", "pause", "back", "step"])
def test_icons_are_drawn_in_the_colour_asked_for(qtbot, shape):
    color = Theme.load("light").backward
    picture = icon(shape, color, 2.0).pixmap(32, 24).toImage()
    painted = {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
        if picture.pixelColor(x, y).alpha() == 255
    }
    assert painted == {color.name()}
