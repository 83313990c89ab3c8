"""Text of table cells: cut where that says nothing wrong."""

import pytest
from PySide6.QtGui import QFont, QFontMetrics

from gradscribe.widgets.tables.cell_text import shown_text


@pytest.fixture
def metrics(qapp):
    return QFontMetrics(QFont("DejaVu Sans", 10))


def test_names_keep_their_last_part(metrics):
    name = "token_embedding.weight"
    for width in range(metrics.horizontalAdvance("…weight"), metrics.horizontalAdvance(name)):
        assert shown_text(name, True, metrics, width).endswith("weight")
        assert metrics.horizontalAdvance(shown_text(name, True, metrics, width)) <= width


def test_a_shape_with_too_little_space_is_no_blank_cell(metrics):
    assert shown_text("8 × 11 × 32", False, metrics, 5) == "…"
    assert shown_text("", False, metrics, 5) == ""


def test_a_shape_is_whole_or_not_there(metrics):
    width = metrics.horizontalAdvance("8×11×32")
    assert shown_text("8 × 11 × 32", False, metrics, width) == "8×11×32"
    assert shown_text("8 × 11 × 32", False, metrics, width - 1) == "…"
