"""Words in the rows of a list look as labels have them."""

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QLabel, QListWidget, QWidget

from gradscribe.app.ui.text_delegate import RIGHT, TextDelegate
from gradscribe.widgets.base.theme import Theme

WIDE, HIGH = 200, 24


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    made.setStyleSheet(Theme.load("light").stylesheet())
    return made


@pytest.fixture
def written(host):
    return TextDelegate(QListWidget(host), "title", "caption", "mono")


def ink(written, role, words, **more):
    """Return which pixels of a white row are written on."""
    image = QImage(WIDE, HIGH, QImage.Format.Format_Grayscale8)
    image.fill(255)
    painter = QPainter(image)
    try:
        written.write(painter, role, words, QRect(0, 0, WIDE, HIGH), **more)
    finally:
        painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(HIGH, -1)[:, :WIDE] < 220


@pytest.mark.parametrize("role", ["title", "caption", "mono"])
def test_words_are_as_wide_and_as_high_as_in_a_label(host, written, role):
    label = QLabel("What a tensor is", host)
    label.setProperty("role", role)
    label.ensurePolished()
    metrics = label.fontMetrics()
    needed = written.width_of(role, label.text()) - metrics.horizontalAdvance(label.text())
    assert 0 <= needed <= 2
    assert written.height_of(role) == metrics.height()
    columns = np.flatnonzero(ink(written, role, label.text()).any(axis=0))
    assert columns.max() == pytest.approx(written.width_of(role, label.text()), abs=3)


def test_words_that_are_too_long_end_at_the_edge(written):
    assert not ink(written, "title", "a word " * 40)[:, -1].any()
    assert ink(written, "title", "a word " * 40)[:, WIDE // 2 :].any()


def test_words_on_the_right_end_at_the_right(written):
    columns = np.flatnonzero(ink(written, "caption", "12", flags=RIGHT).any(axis=0))
    assert columns.min() > WIDE / 2
    assert columns.max() >= WIDE - 4


def test_no_label_that_lends_its_look_is_seen(host, written):
    host.show()
    assert not any(label.isVisible() for label in host.findChildren(QLabel))


@pytest.mark.parametrize("role", ["title", "caption", "mono"])
@pytest.mark.parametrize("words", ["Ctrl+N", "Ctrl+O", "Left, Alt+Left", "Ctrl+Shift+N", "F5", "W"])
@pytest.mark.parametrize("size", [9.0, 11.5, 13.0, 15.7])
def test_words_in_the_width_that_they_need_are_whole(written, role, words, size):
    label = written._labels[role]
    label.setStyleSheet(f"font-size: {size}pt")
    room = written.width_of(role, words)
    assert label.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room) == words
