import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from gradscribe.widgets.base.splitter import GripSplitter


@pytest.fixture(params=list(Qt.Orientation), ids=lambda way: way.name)
def splitter(qtbot, request):
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(300, 300)
    made = GripSplitter(request.param, 12, host)
    made.host = host
    made.setGeometry(0, 0, 300, 300)
    for word in ("one", "other"):
        made.addWidget(QLabel(word))
    host.show()
    return made


def test_a_grip_stands_in_the_middle_of_the_handle(splitter):
    handle = splitter.handle(1)
    picture = handle.grab().toImage()
    middle = picture.pixelColor(picture.rect().center())
    corner = picture.pixelColor(QPoint(1, 1))
    assert middle != corner
    assert abs(middle.lightness() - corner.lightness()) > 20


def test_a_drag_of_the_handle_shares_the_space(splitter):
    handle, before = splitter.handle(1), splitter.sizes()
    at = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(handle, at + QPoint(40, 40))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=at + QPoint(40, 40))
    after = splitter.sizes()
    assert after[0] == before[0] + 40
    assert sum(after) == sum(before)
