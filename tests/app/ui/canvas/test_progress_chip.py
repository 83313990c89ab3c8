"""The chip that shows how far a film is."""

import pytest
from PySide6.QtWidgets import QWidget

from gradscribe.app.ui.canvas.progress_chip import LONGEST, ProgressChip


@pytest.fixture
def chip(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    made = ProgressChip(over)
    made.over = over  # which is deleted once nothing refers to it
    return made


def test_it_shows_the_share_that_is_done(chip):
    chip.begin("Writing", "film.gif")
    chip.show_share(30, 120)
    assert (chip.bar.value(), chip.bar.maximum()) == (30, 120)
    assert chip.percent.text() == "25 %"
    assert chip.accessibleDescription() == "Writing film.gif, 25 %"


def test_a_long_name_keeps_its_beginning_and_its_ending(chip):
    chip.begin("Writing", "a" * 100 + ".mp4")
    words = chip.name.text().removeprefix("Writing ")
    assert len(words) == LONGEST
    assert words.endswith(".mp4")


def test_a_press_on_cancel_is_passed_on(chip, qtbot):
    with qtbot.waitSignal(chip.cancelled):
        chip.cancel_button.click()


def test_what_is_made_in_a_moment_has_no_chip(chip, qtbot):
    chip.parentWidget().show()
    chip.begin("Copying", "the picture")
    assert chip.isHidden()
    chip.end()
    chip.begin("Writing", "graph.svg")
    qtbot.waitUntil(chip.isVisible)
    assert chip.name.text() == "Writing graph.svg"
    chip.end()
    assert chip.isHidden()
