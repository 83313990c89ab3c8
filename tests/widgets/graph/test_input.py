"""Mouse, wheel, gestures and keys on the graph."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPointingDevice,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.graph import keyboard_navigation
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.input import CLOSE_UP_ZOOM, PAN_PX
from tests.widgets.graph_window import at, click, press, show, wheel
from tests.widgets.scenes import grid, network, neuron


def test_clicking_a_card_a_wire_and_the_ground_is_told(view, qtbot):
    show(view, neuron())
    x, y, _ = view.stage().track("b>n:1").at(0.3)
    on_wire = view.camera().to_view(QPointF(x, y + 3)).toPoint()
    for point, key in ((at(view, "n"), "n"), (on_wire, "b>n:1"), (QPoint(5, 400), "")):
        with qtbot.waitSignal(view.picked) as told:
            click(view, point)
        assert told.args == [key]
        assert view.selected() == key


def test_a_drag_moves_the_picture_and_picks_nothing(view):
    show(view, neuron())
    before, heard = view.camera(), []
    view.picked.connect(heard.append)
    start = at(view, "n")
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view, start + QPoint(30, 10))
    QTest.mouseMove(view, start + QPoint(60, 20))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start + QPoint(60, 20))
    assert heard == []
    assert view.camera() == before.moved(60, 20)


@pytest.mark.parametrize(
    ("key", "way"),
    [
        (Qt.Key.Key_Up, (0, 1)),
        (Qt.Key.Key_Down, (0, -1)),
        (Qt.Key.Key_Left, (1, 0)),
        (Qt.Key.Key_Right, (-1, 0)),
    ],
)
def test_control_and_an_arrow_move_the_picture(view, key, way):
    show(view, neuron())
    before = view.camera()
    QTest.keyClick(view, key, Qt.KeyboardModifier.ControlModifier)
    right, down = way
    assert view.camera() == before.moved(right * PAN_PX, down * PAN_PX)
    assert view.selected() == ""


def test_a_shaking_hand_still_clicks(view, qtbot):
    show(view, neuron())
    before, point = view.camera(), at(view, "n")
    with qtbot.waitSignal(view.picked):
        QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=point)
        QTest.mouseMove(view, point + QPoint(2, 1))
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=point + QPoint(2, 1))
    assert view.camera() == before


def test_the_wheel_moves_and_with_ctrl_zooms_about_the_cursor(view):
    show(view, neuron())
    before, point = view.camera(), at(view, "n")
    wheel(view, point, QPoint(0, -120))
    assert view.camera() == before.moved(0, -60)
    wheel(view, point, QPoint(0, -120), Qt.KeyboardModifier.ShiftModifier)
    assert view.camera() == before.moved(-60, -60)
    held = view.camera().to_scene(QPointF(point))
    wheel(view, point, QPoint(0, 120), Qt.KeyboardModifier.ControlModifier)
    assert view.camera().zoom == pytest.approx(before.zoom * 1.0015**120)
    assert (view.camera().to_view(held) - QPointF(point)).manhattanLength() < 0.01


def test_a_pinch_zooms(view):
    show(view, neuron())
    before = view.camera().zoom
    point = QPointF(300, 300)
    gesture = QNativeGestureEvent(
        Qt.NativeGestureType.ZoomNativeGesture, QPointingDevice.primaryPointingDevice(), 2,
        point, point, point, 0.1, QPointF(),
    )  # fmt: skip
    QApplication.sendEvent(view, gesture)
    assert view.camera().zoom == pytest.approx(before * 1.1)


def test_keys_zoom_and_show_all(view):
    show(view, neuron())
    before = view.camera().zoom
    press(view, Qt.Key.Key_Plus)
    assert view.camera().zoom == pytest.approx(before * 1.2)
    press(view, Qt.Key.Key_Minus)
    assert view.camera().zoom == pytest.approx(before)
    view.set_camera(Camera(3.0, 0, 0))
    press(view, Qt.Key.Key_0)
    assert view.camera().zoom == pytest.approx(before)


def test_a_double_click_goes_near_and_back(view):
    show(view, neuron())
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=at(view, "n"))
    assert view.camera().zoom == CLOSE_UP_ZOOM
    middle = view.camera().to_view(view.stage().boxes["n"].center())
    assert (middle - QPointF(405, 365)).manhattanLength() < 1
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=at(view, "n"))
    assert view.camera().zoom == 1.0


@pytest.mark.checklist(105, 125)
def test_modules_open_by_their_chevron_and_by_a_double_click(view):
    show(view, network())
    heard, picked = [], []
    view.toggled.connect(heard.append)
    view.picked.connect(picked.append)
    click(view, at(view, "2", dx=-75, dy=3))
    assert (heard, picked) == (["2"], [])
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=at(view, "2", dx=-75, dy=3))
    assert heard == ["2"], "the click before the double click has opened it already"
    click(view, at(view, "2", dx=40))
    assert picked == ["2"]
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=at(view, "2", dx=40))
    assert heard == ["2", "2"]


def test_frames_close_by_their_name_plate(view):
    show(view, network())
    heard = []
    view.toggled.connect(heard.append)
    box = view.stage().frame_boxes["0"]
    chevron = view.camera().to_view(QPointF(box.right() - 18, box.top() + 14)).toPoint()
    title = view.camera().to_view(QPointF(box.left() + 60, box.top() + 8)).toPoint()
    click(view, chevron)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=chevron)
    click(view, title)
    assert heard == ["0"]
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=title)
    assert heard == ["0", "0"]


def test_arrow_keys_walk_along_the_wires_and_between_neighbours(view):
    show(view, neuron())
    view.select("d")
    heard = []
    view.picked.connect(heard.append)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left):
        press(view, key)
    assert heard[:2] == ["o", "n"]
    assert view.selected() in view.stage().cards
    view.select("s")
    press(view, Qt.Key.Key_Right)
    assert view.selected() == "b"
    press(view, Qt.Key.Key_Left)
    assert view.selected() == "s"


def test_shift_and_arrows_walk_onto_the_wires_and_from_wire_to_wire(view):
    show(view, neuron())
    view.select("s")
    heard = []
    view.picked.connect(heard.append)
    shift = Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(view, Qt.Key.Key_Down, shift)
    assert heard == ["s>n:0"]
    QTest.keyClick(view, Qt.Key.Key_Right, shift)
    assert view.selected() == "b>n:1", "the other wire into n"
    press(view, Qt.Key.Key_Right)
    assert view.selected() == "s>n:0", "sideways there is no card at a wire"
    press(view, Qt.Key.Key_Down)
    assert view.selected() == "n"
    QTest.keyClick(view, Qt.Key.Key_Up, shift)
    assert view.selected() == "s>n:0"
    press(view, Qt.Key.Key_Up)
    assert view.selected() == "s"
    view.select("x1")
    QTest.keyClick(view, Qt.Key.Key_Up, shift)
    assert view.selected() == "x1", "nothing enters it"


def test_the_menu_of_a_wire_opens_at_the_wire(view):
    show(view, neuron())
    asked = []
    view.menu_requested.connect(lambda kind, at: asked.append((kind, view.mapFromGlobal(at))))
    view.select("b>n:1")
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(view, QContextMenuEvent(reason, QPoint(), QPoint()))
    ((kind, point),) = asked
    assert kind == "wire"
    click(view, point)
    assert view.selected() == "b>n:1", "the point is on the wire"


def test_a_walk_begins_at_the_loss_and_ends_where_the_wires_do(view):
    show(view, neuron())
    stage = view.stage()
    assert keyboard_navigation.start_card(stage) == "L"
    assert keyboard_navigation.next_card(stage, "", "up") == "L"
    assert keyboard_navigation.next_card(stage, "L", "down") == "L"
    assert keyboard_navigation.next_card(stage, "L", "up") == "d"
    assert stage.flows_down


def test_walking_brings_the_card_into_sight(view):
    show(view, neuron())
    view.set_camera(Camera(3.0, -600, -1900))
    view.select("L")
    for _ in range(5):
        press(view, Qt.Key.Key_Up)
    box = view.camera().box_to_view(view.stage().boxes[view.selected()])
    assert QRectF(view.rect()).intersects(box)


def test_enter_opens_a_module_and_escape_lets_go(view):
    show(view, network())
    heard, picked = [], []
    view.toggled.connect(heard.append)
    view.picked.connect(picked.append)
    view.select("2")
    press(view, Qt.Key.Key_Return)
    view.select("linear")
    press(view, Qt.Key.Key_Return)
    press(view, Qt.Key.Key_Escape)
    assert heard == ["2", "0"]
    assert picked == [""]
    assert view.selected() == ""


def test_arrow_keys_are_taken_from_shortcuts_only_while_a_card_is_selected(view):
    show(view, neuron())

    def taken():
        event = QKeyEvent(
            QEvent.Type.ShortcutOverride, Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier
        )
        event.ignore()
        QApplication.sendEvent(view, event)
        return event.isAccepted()

    assert not taken()
    view.select("n")
    assert taken()


def test_hovering_lights_and_leaving_puts_out(view):
    show(view, neuron())
    dark = view.grab().toImage()
    QTest.mouseMove(view, at(view, "o"))
    assert view.grab().toImage() != dark
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert view.grab().toImage() == dark


def test_the_minimap_brings_one_where_one_clicks(view):
    m = grid(200, 10)
    show(view, (m, m.reached()))
    view.set_camera(Camera(1.0, 0, 0))
    before = view.camera()
    click(view, QPoint(60, view.height() - 30))
    assert view.camera().zoom == before.zoom
    assert view.camera().y < before.y


def mouse(view, kind, key, button):
    point, none = QPointF(at(view, key)), Qt.KeyboardModifier.NoModifier
    return QMouseEvent(kind, point, point, button, button, none)


def stroke(key):
    return QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)


def test_another_button_and_another_key_are_left_to_the_widget_around(view):
    show(view, neuron())
    press_right = mouse(view, QEvent.Type.MouseButtonPress, "n", Qt.MouseButton.RightButton)
    for event in (stroke(Qt.Key.Key_A), press_right):
        view.event(event)
        assert not event.isAccepted()
    assert view.selected() == ""


def test_a_disabled_graph_takes_no_clicks_and_no_keys(view):
    show(view, neuron())
    before, left = view.camera(), Qt.MouseButton.LeftButton
    view.setEnabled(False)
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
        view.event(mouse(view, kind, "n", left))
    view.event(stroke(Qt.Key.Key_Plus))
    wheel(view, at(view, "n"), QPoint(0, -120))
    assert (view.selected(), view.camera()) == ("", before)


def test_the_focus_ring_is_strong_only_where_the_keyboard_brought_the_focus(view):
    show(view, neuron())
    plain = view.grab().toImage()
    for reason, strong in (
        (Qt.FocusReason.TabFocusReason, True),
        (Qt.FocusReason.MouseFocusReason, False),
    ):
        QApplication.sendEvent(view, QFocusEvent(QEvent.Type.FocusIn, reason))
        assert (view.grab().toImage() != plain) == strong
        QApplication.sendEvent(view, QFocusEvent(QEvent.Type.FocusOut, reason))
        assert view.grab().toImage() == plain
