"""A graph view in a window, and a hand that moves in it."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication


def show(view, made, **rest):
    m, look = made
    view.set_scene(m.tape, m.picture, m.placement, **rest)
    view.set_look(look)
    return m


def at(view, key, dx=0.0, dy=0.0):
    """Return the widget's point at a card's middle, moved by scene units."""
    middle = view.stage().boxes[key].center() + QPointF(dx, dy)
    return view.camera().to_view(middle).toPoint()


def click(view, point):
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=point)


def press(view, key):
    QTest.keyClick(view, key)


def wheel(view, point, delta, modifiers=Qt.KeyboardModifier.NoModifier):
    event = QWheelEvent(
        QPointF(point), QPointF(point), QPoint(), delta, Qt.MouseButton.NoButton, modifiers,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view, event)
