"""Sizes of new windows: none is larger than its screen."""

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.open_windows import fit_to_screen, resize_within_screen


@pytest.mark.parametrize(
    ("screen", "size"),
    [((2560, 1440), (1440, 900)), ((1366, 728), (1366, 696)), ((1280, 800), (1280, 768))],
)
def test_a_new_window_is_seen_whole(screen, size):
    assert fit_to_screen(QSize(1440, 900), QSize(*screen)) == QSize(*size)


def test_a_window_larger_than_its_screen_gets_what_the_screen_has(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    resize_within_screen(window, 100_000, 300)
    screen = window.screen().availableSize()
    assert (window.width(), window.height()) == (screen.width(), 300)
