import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from gradscribe.widgets.base.splitter import KEY_STEP, GripSplitter


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


def keys_of(splitter):
    """Return the keys back and on along the splitter, and those across it."""
    along, across = (Qt.Key.Key_Left, Qt.Key.Key_Right), (Qt.Key.Key_Up, Qt.Key.Key_Down)
    return (
        (along, across) if splitter.orientation() == Qt.Orientation.Horizontal else (across, along)
    )


def focused(splitter, qtbot):
    splitter.host.activateWindow()
    handle = splitter.handle(1)
    handle.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(handle.hasFocus)
    return handle


def test_the_arrow_keys_share_the_space(splitter, qtbot):
    handle, before, moved = focused(splitter, qtbot), splitter.sizes(), []
    splitter.splitterMoved.connect(lambda at, number: moved.append(number))
    (back, on), across = keys_of(splitter)
    QTest.keyClick(handle, on)
    QTest.keyClick(handle, on)
    assert splitter.sizes()[0] == before[0] + 2 * KEY_STEP
    QTest.keyClick(handle, back)
    assert splitter.sizes()[0] == before[0] + KEY_STEP
    assert moved == [1, 1, 1], "a move by keyboard is remembered as one by mouse"
    for key in across:
        QTest.keyClick(handle, key)
    assert splitter.sizes()[0] == before[0] + KEY_STEP
    assert sum(splitter.sizes()) == sum(before)


def test_home_and_end_go_as_far_as_the_parts_allow(splitter, qtbot):
    for place in range(2):
        splitter.widget(place).setMinimumSize(50, 50)
    handle = focused(splitter, qtbot)
    QTest.keyClick(handle, Qt.Key.Key_Home)
    assert splitter.sizes()[0] == 50
    QTest.keyClick(handle, Qt.Key.Key_End)
    assert splitter.sizes()[1] == 50
    for _ in range(3):
        QTest.keyClick(handle, keys_of(splitter)[0][1])
    assert min(splitter.sizes()) == 50, "no part collapses"


def test_the_focus_is_seen_and_named(splitter, qtbot):
    for place, name in enumerate(("Program", "Graph")):
        splitter.widget(place).setAccessibleName(name)
    splitter.hide()
    splitter.show()
    handle = splitter.handle(1)
    assert handle.accessibleName() == "Border between Program and Graph"
    handle.clearFocus()
    without = handle.grab().toImage()
    focused(splitter, qtbot)
    assert handle.grab().toImage() != without


def test_tab_reaches_the_handle_and_a_click_does_not_take_the_focus(splitter, qtbot):
    edit = QLineEdit(splitter.host)
    edit.show()
    splitter.host.activateWindow()
    edit.setFocus()
    qtbot.waitUntil(edit.hasFocus)
    handle = splitter.handle(1)
    QTest.mouseClick(handle, Qt.MouseButton.LeftButton)
    assert edit.hasFocus()
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert handle.hasFocus()
