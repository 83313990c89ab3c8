"""A callout: a small card with a tip that points to a control. Everything else stays usable."""

from typing import Literal

from PySide6.QtCore import QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

Side = Literal["below", "right", "above", "left"]
"""Side of a control on which a callout stands."""
WIDTH = 300
"""Width of the card in pixels, at text scale 1."""
TIP = 11
"""Length of the tip that points to the control, and the space around the card for it."""
MARGIN = 8
"""Least distance from the border of the window."""
RADIUS = 10.0


class Callout(QWidget):
    """Title, text, progress and two buttons; `point_at` places it next to an area."""

    next_pressed = Signal()
    skipped = Signal()

    def __init__(self, over: QWidget, theme: Theme) -> None:
        super().__init__(over)
        self._over, self._theme = over, theme
        self._target = QPoint()
        """The tip's end in this widget's coordinates; null for no tip."""
        self.title = Label("section", "", self)
        self.text = Label("words", "", self)
        self.progress = Label("caption", "", self).fit_text()
        self.skip = push_button(tr("&Skip"), self, self.skipped, "quiet", tip=tr("Esc"))
        self.next = push_button(tr("&Next"), self, self.next_pressed, "primary")
        for button in (self.skip, self.next):
            button.setAutoDefault(True)
        row = hbox(None, self.progress, STRETCH, self.skip, self.next, spacing=6)
        inner = TIP + 14
        vbox(self, self.title, self.text, 6, row, margins=(inner, inner, inner, inner), spacing=3)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        self.update()

    def show_stop(self, title: str, text: str, number: int, count: int) -> None:
        """Show the words of a stop, ``number`` from 1, and read them out."""
        self.title.say(title)
        self.text.say(text)
        self.progress.say(tr("{number} of {count}", number=number, count=count))
        self.next.setText(tr("&Done") if number == count else tr("&Next"))
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def point_at(self, area: QRect, side: Side = "below") -> None:
        """Place the card next to an area of the window below, without covering it.

        An empty area has it in the middle, without a tip. Where it does not fit on the ``side``, it
        stands on another.
        """
        room = self._over.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        width = min(round(WIDTH * min(self._theme.scale, 1.6)), room.width())
        self.resize(width, max(self.heightForWidth(width), self.minimumSizeHint().height()))
        place = QRect(QPoint(), self.size())
        if area.isEmpty():
            place.moveCenter(room.center())
            self._target = QPoint()
        else:
            place = _best_place(place, area, room, side)
            end = _nearest(area, place.center())
            self._target = end - place.topLeft()
        self.setGeometry(place)
        self.update()

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """End the tour on Esc; Return presses the focused button."""
        if pressed.key() == Qt.Key.Key_Escape:
            self.skipped.emit()
        else:
            super().keyPressEvent(pressed)

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Paint the card and its tip; called by Qt."""
        theme = self._theme
        body = self.rect().adjusted(TIP, TIP, -TIP, -TIP)
        width = theme.stroke(1.5)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.selection, width))
            painter.setBrush(theme.panel)
            painter.drawRoundedRect(body, RADIUS, RADIUS)
            if not self._target.isNull():
                self._paint_tip(painter, body, width)

    def _paint_tip(self, painter: QPainter, body: QRect, width: float) -> None:
        """Paint a triangle from the body's border to the side where the control is."""
        end = self._target
        x = min(max(end.x(), body.left() + 24), body.right() - 24)
        y = min(max(end.y(), body.top() + 24), body.bottom() - 24)
        if end.y() < body.top() or end.y() > body.bottom():
            up = end.y() < body.top()
            edge = body.top() + 1 if up else body.bottom()
            tip = QPointF(x, edge - TIP + 1 if up else edge + TIP - 1)
            ends = QPointF(x - TIP, edge), QPointF(x + TIP, edge)
        else:
            left = end.x() < body.left()
            edge = body.left() + 1 if left else body.right()
            tip = QPointF(edge - TIP + 1 if left else edge + TIP - 1, y)
            ends = QPointF(edge, y - TIP), QPointF(edge, y + TIP)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawPolygon(QPolygonF([ends[0], tip, ends[1]]))
        painter.setPen(QPen(self._theme.selection, width))
        painter.drawPolyline(QPolygonF([ends[0], tip, ends[1]]))


def _best_place(card: QRect, area: QRect, room: QRect, side: Side) -> QRect:
    """Return the card on a side of the area, else on the first on which it fits."""
    middle = area.center()
    corners: dict[Side, QPoint] = {
        "below": QPoint(middle.x() - card.width() // 2, area.bottom() + 1),
        "right": QPoint(area.right() + 1, middle.y() - card.height() // 2),
        "above": QPoint(middle.x() - card.width() // 2, area.top() - card.height()),
        "left": QPoint(area.left() - card.width(), middle.y() - card.height() // 2),
    }
    order = [corners.pop(side), *corners.values()]
    places = [_inside(QRect(corner, card.size()), room) for corner in order]
    free = next((place for place in places if not place.intersects(area)), None)
    if free is not None:
        return free
    # The area fills the window: over its lower part, where least is.
    return _inside(QRect(QPoint(middle.x(), room.bottom()), card.size()), room)


def _inside(place: QRect, room: QRect) -> QRect:
    """Return a rectangle moved into the room; its top left corner if it is larger."""
    x = max(room.left(), min(place.left(), room.right() + 1 - place.width()))
    y = max(room.top(), min(place.top(), room.bottom() + 1 - place.height()))
    return QRect(QPoint(x, y), place.size())


def _nearest(area: QRect, point: QPoint) -> QPoint:
    """Return the point of the area that is nearest to a point."""
    x = min(max(point.x(), area.left()), area.right())
    y = min(max(point.y(), area.top()), area.bottom())
    return QPoint(x, y)
