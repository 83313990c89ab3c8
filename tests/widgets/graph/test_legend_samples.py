"""The legend's samples: each draws something of its own, inside its box, in both themes."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradscribe.app.export.encoders import pixels
from gradscribe.playback.graph.reading import NABLA
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.legend_samples import SAMPLES

BOX = QRectF(20, 20, 40, 22)


def drawn(draw, theme):
    image = QImage(80, 62, QImage.Format.Format_RGB32)
    image.fill(theme.panel)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw(painter, theme, BOX)
    painter.end()
    return pixels(image).astype(int)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_samples_differ_from_each_other_without_colour_and_keep_to_their_box(qapp, name):
    theme = Theme.load(name)
    ground = np.array([theme.panel.red(), theme.panel.green(), theme.panel.blue()])
    grey = {}
    for words, draw in SAMPLES:
        found = drawn(draw, theme)
        changed = np.abs(found - ground).max(-1) > 6
        assert changed[20:42, 20:60].sum() > 40, words
        outside = changed.copy()
        outside[16:46, 16:64] = False
        assert not outside.any(), words
        grey[words] = found.mean(-1)
    for words, one in grey.items():
        for other, two in grey.items():
            if words < other:
                assert np.abs(one - two).mean() > 0.5, (words, other)


def test_every_mark_of_cards_and_wires_is_explained():
    said = " ".join(words for words, _ in SAMPLES)
    for mark in (
        NABLA,
        "cut off",
        "memory",
        "in place",
        "update",
        "NaN",
        "not reached",
        "stopped",
        "eval",
    ):
        assert mark in said
