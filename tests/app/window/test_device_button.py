"""The device in the bar: its name, the hardware, the memory, and a choice (row 6)."""

import pytest

from gradscribe.app.window.device_button import DeviceButton
from gradscribe.engine.protocol.messages import DeviceDetails

DETAILS = (
    DeviceDetails("cpu", "Intel(R) Xeon(R) Platinum 8480+ with a very long name", 135_000_000_000),
    DeviceDetails("cuda:0", "NVIDIA H100 80GB HBM3", 85_000_000_000),
)


@pytest.fixture
def button(qtbot):
    made = DeviceButton()
    qtbot.addWidget(made)
    return made


def test_it_is_as_long_as_there_is_space_for(button):
    button.show_devices(("cpu", "cuda:0"), DETAILS, ("cuda:0",), "cpu")
    assert button.text() == "cuda:0"
    taken = button.grow(10_000)
    assert button.text() == "cuda:0 · NVIDIA H100 80GB HBM3 · 85 GB"
    assert button.grow(taken - 1) < taken
    assert button.text() == "cuda:0 · 85 GB"
    assert button.grow(0) == 0
    assert button.text() == "cuda:0"
    assert "The name device in the program is cpu" in button.toolTip()


def test_a_long_name_is_cut_in_the_bar_and_whole_in_the_tip(button):
    button.show_devices(("cpu",), DETAILS[:1], ("cpu",), "cpu")
    button.grow(10_000)
    assert "…" in button.text()
    assert DETAILS[0].title in button.accessibleDescription()


def test_the_menu_offers_every_device_and_ticks_that_of_the_name_device(button):
    heard = []
    button.device_picked.connect(heard.append)
    button.show_devices(("cpu", "cuda:0"), DETAILS, ("cuda:0",), "cpu")
    first, second = button.menu().actions()
    assert first.isChecked()
    assert not second.isChecked()
    assert second.text() == "cuda:0 · NVIDIA H100 80GB HBM3 · 85 GB"
    second.trigger()
    assert heard == ["cuda:0"]


def test_the_menu_says_what_was_free(button):
    gpu = DeviceDetails("cuda:0", "NVIDIA H100 80GB HBM3", 85_000_000_000, 60_000_000_000)
    button.show_devices(("cuda:0",), (gpu,), ("cuda:0",), "cpu")
    (action,) = button.menu().actions()
    assert action.text() == "cuda:0 · NVIDIA H100 80GB HBM3 · 85 GB · 60 GB free"
    assert "60 GB free when it started" in button.accessibleDescription()


def test_a_device_of_which_nothing_is_known_shows_its_name(button):
    button.show_devices(("cpu", "mps"), (), ("mps",), "cpu")
    button.grow(1000)
    assert button.text() == "mps"


def test_a_program_on_two_devices_names_both(button):
    button.show_devices(("cpu", "cuda:0"), DETAILS, ("cuda:0", "cpu"), "cpu")
    assert button.text() == "cuda:0"
    assert (
        "Other tensors are on cpu. The name device in the program is cpu"
        in button.accessibleDescription()
    )
