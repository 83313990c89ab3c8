"""Names of classes are typed over in the line that tells them."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.class_legend import ClassLegend
from gradscribe.widgets.plots.drawing.points import PlanePoints
from gradscribe.widgets.plots.views.boundary import BoundaryPlot


@pytest.fixture
def plot(shown):
    made = shown(BoundaryPlot(), 420, 300)
    made.editable = True
    some = np.array([-0.5, 0.5])
    made.show_points(PlanePoints(some, some, np.array([0, 1], np.intp), names=("class 0", "dog")))
    made.told = []
    made.named.connect(lambda *told: made.told.append(told))
    return made


def twice(plot, look, name):
    """Click twice on the name of a class, and return the field that is there then."""
    look(plot)
    place = next(place for place, shown in plot._key._places if shown == name)
    QTest.mouseDClick(plot.canvas, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
    fields = plot.canvas.findChildren(QLineEdit)
    return fields[-1] if fields else None


def test_a_double_click_on_a_name_lets_another_be_typed(plot, look):
    field = twice(plot, look, "class 0")
    assert field.text() == ""
    QTest.keyClicks(field, "cat")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert plot.told == [(0, "cat")]
    field = twice(plot, look, "dog")
    assert field.text() == "dog"
    QTest.keyClicks(field, "wolf")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert plot.told[1:] == [(1, "wolf")]


def test_escape_leaves_the_name_as_it_was(plot, look, qtbot):
    field = twice(plot, look, "dog")
    QTest.keyClicks(field, "wolf")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not plot.canvas.findChildren(QLineEdit))
    assert not plot.told


def test_only_classes_that_one_draws_have_names_to_type(plot, look):
    plot.show_points(
        PlanePoints(*np.zeros((2, 2)), np.array([0, 1]), validation=np.array([True, False]))
    )
    assert twice(plot, look, "validation") is None
    plot.editable = False
    assert twice(plot, look, "class 0") is None


@pytest.mark.parametrize("room", [40, 130, 420, 1000])
@pytest.mark.parametrize("many", [13, 31, 20_000])
def test_thousands_of_classes_take_no_longer_than_those_there_is_room_for(qapp, room, many):
    read, image, canvas = [], QImage(1000, 40, QImage.Format.Format_RGB32), QWidget()

    def entries():
        for kind in range(many):
            read.append(kind)
            yield "circle", QColor("red"), f"class {kind}"

    key, theme = ClassLegend(canvas), Theme.load("light")
    painter = QPainter(image)
    try:
        key.draw(painter, QRectF(0, 0, room, 30), entries(), "", None, theme)
    finally:
        painter.end()
    assert len(read) < 40
    letters, expected, end = QFontMetricsF(theme.font(12)), [], 0.0
    for kind in range(many):
        end += letters.horizontalAdvance(str(kind)) + 32
        expected += [str(kind)] * (end - 18 <= room - 16)
    shown = [name.removeprefix("class ") for _, name in key._places]
    assert shown == expected
    canvas.deleteLater()


def test_a_class_of_any_number_is_drawn(plot, look):
    plot.show_points(PlanePoints(*np.zeros((2, 2)), np.array([0, 1 << 60])))
    look(plot)
    assert next(name for _, name in plot._key._places) in ("0", "class 0")


def test_a_remark_that_is_too_long_keeps_its_beginning(qapp):
    theme, drawn = Theme.load("light"), []

    class Told(QPainter):
        def drawText(self, *given):
            drawn.append(given[-1])
            return super().drawText(*given)

    image = QImage(400, 40, QImage.Format.Format_RGB32)
    canvas = QWidget()
    for wide in (390, 130, 40):
        painter = Told(image)
        try:
            words = "171 of 250 right · validation 159 of 250"
            ClassLegend(canvas).draw(painter, QRectF(0, 0, wide, 30), [], words, None, theme)
        finally:
            painter.end()
    assert drawn[0] == "171 of 250 right · validation 159 of 250"
    assert drawn[1] == "171 of 250 right"
    assert drawn[2].startswith("1")
    assert drawn[2].endswith("…")
    canvas.deleteLater()


def test_all_marks_come_before_the_second_half_of_a_remark(plot, look):
    half, theme = "250 of 250 right", Theme.load("light")
    letters = QFontMetricsF(theme.font(12, 600))
    plot.show_note(f"{half} · validation 250 of 250")
    width = letters.horizontalAdvance(f"{half} · validation 250 of 250") + 60
    plot.resize(int(width) + 32, 300)
    look(plot)
    assert [name for _, name in plot._key._places] == ["0", "dog"]
