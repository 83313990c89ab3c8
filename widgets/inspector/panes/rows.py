"""Rows of label, text and number that adapt to panels of any width."""

from typing import Literal, NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QContextMenuEvent,
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QSizePolicy, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import breakable
from gradscribe.widgets.base.theme import Theme

Tone = Literal["plain", "backward", "forward", "fact", "fact-backward", "warning"]
PAD, GAP = 10.0, 14.0
_RUN = 14
"""Words longer than this may wrap anywhere."""


class RowContent(NamedTuple):
    """Content of a row: the label, an explanation, the number; and its tone."""

    label: str
    text: str = ""
    number: str = ""
    tone: Tone = "plain"


class RowGeometry(NamedTuple):
    """Rectangles of the texts of a row, and its height."""

    label: QRectF
    text: QRectF
    number: QRectF
    height: float


class RowWidget(QWidget):
    """Widget of a row; if it is too narrow, number or text wrap below the label."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line = RowContent("")
        self.theme = Theme.load("light")
        self.label_room = 0.0
        self._placed: dict[float, RowGeometry] = {}
        self._placed_for: tuple[object, ...] = ()
        # Not Fixed: the hint is of the width so far, and would cap the height at the next one.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def say(self, line: RowContent, label_room: float = 0.0) -> None:
        """Show ``line``; neighbours share ``label_room`` pixels for labels, so that texts align."""
        if (line, label_room) == (self._line, self.label_room):
            return
        self._line, self.label_room = line, label_room
        self.setAccessibleName(" ".join(part for part in line[:3] if part))
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.NameChanged))
        self.updateGeometry()
        self.update()

    def line(self) -> RowContent:
        """Return the content of the row."""
        return self._line

    def fonts(self) -> tuple[QFont, QFont, QFont]:
        """Return the fonts of label, text and number."""
        font = self.theme.font
        if self._line.tone.startswith("fact"):
            return font(13), font(13), font(13, 600)
        heavy = 600 if self._line.tone in ("backward", "forward") else 500
        return font(14, heavy), font(13), font(14, 700)

    def heightForWidth(self, width: int) -> int:
        """Return the height for ``width`` pixels."""
        return round(self.place(width).height)

    def hasHeightForWidth(self) -> bool:
        """Return True: a narrow row is taller."""
        return True

    def sizeHint(self) -> QSize:
        """Return the size on one line."""
        return QSize(200, self.heightForWidth(max(200, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Return a size that keeps the text readable."""
        return QSize(60, 20)

    def place(self, width: float) -> RowGeometry:
        """Return the layout of the three texts in ``width`` pixels."""
        known = (self._line, self.label_room, self.theme)
        if known != self._placed_for:
            self._placed_for = known
            self._placed.clear()
        # A layout asks for the heights of all rows repeatedly.
        if width not in self._placed:
            self._placed[width] = self._geometry(width)
        return self._placed[width]

    def _geometry(self, width: float) -> RowGeometry:
        fact = self._line.tone.startswith("fact")
        pad = 0.0 if fact else PAD
        above = 3.0 if fact else 6.0
        label_font, text_font, number_font = self.fonts()
        room = max(40.0, width - 2 * pad)
        label = _text_rect(label_font, self._line.label, room)
        number = _text_rect(number_font, self._line.number, room)
        start = max(label.width(), self.label_room) + GAP if self._line.label else 0.0
        text = _text_rect(text_font, self._line.text, room)
        end = number.width() + GAP if self._line.number else 0.0
        if self._line.text and start + text.width() + end > room:
            narrow = _text_rect(text_font, self._line.text, max(1.0, room - start - end))
            if room - start - end > 70 and narrow.height() < 3 * text.height():
                text = narrow
            else:
                return self._wrapped_geometry(label, text, number, pad, above, room)
        if not self._line.text and start + number.width() > room:
            return self._wrapped_geometry(label, text, number, pad, above, room)
        height = max(label.height(), text.height(), number.height())
        number.moveTopLeft(
            QPointF(pad + room - number.width(), above + _centre_offset(height, number))
        )
        text.moveTopLeft(QPointF(pad + start, above + _centre_offset(height, text)))
        label.moveTopLeft(QPointF(pad, above + _centre_offset(height, label)))
        return RowGeometry(label, text, number, height + 2 * above)

    def _wrapped_geometry(
        self, label: QRectF, text: QRectF, number: QRectF, pad: float, above: float, room: float
    ) -> RowGeometry:
        """Return a layout with text and number on separate lines below the label if needed."""
        y = above
        label.moveTopLeft(QPointF(pad, y))
        beside = bool(self._line.text) and label.width() + GAP + number.width() <= room
        y += label.height()
        if beside:
            number.moveTopLeft(QPointF(pad + room - number.width(), above))
            y = max(y, number.bottom())
        if self._line.text:
            text.moveTopLeft(QPointF(pad, y + 1))
            y += text.height() + 1
        if not beside and self._line.number:
            number.moveTopLeft(QPointF(pad + room - number.width(), y + 1))
            y += number.height() + 1
        return RowGeometry(label, text, number, y + above)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the fill of the tone and the three texts."""
        theme, line = self.theme, self._line
        fill, ink, quiet, strong = {
            "plain": (None, theme.ink, theme.ink2, theme.ink),
            "backward": (theme.backward_soft, theme.backward, theme.ink2, theme.backward),
            "forward": (theme.forward_soft, theme.forward, theme.ink2, theme.forward),
            "fact": (None, theme.ink2, theme.ink2, theme.ink),
            "fact-backward": (None, theme.ink2, theme.ink2, theme.backward),
            "warning": (theme.data_soft, theme.data, theme.ink2, theme.data),
        }[line.tone]
        place = self.place(self.width())
        label_font, text_font, number_font = self.fonts()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if fill is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(fill)
                painter.drawRoundedRect(QRectF(self.rect()), 8, 8)
            for font, color, box, text in (
                (label_font, ink, place.label, line.label),
                (text_font, quiet, place.text, line.text),
                (number_font, strong, place.number, line.number),
            ):
                painter.setFont(font)
                painter.setPen(color)
                painter.drawText(
                    box.adjusted(0, 0, 1, 1), Qt.TextFlag.TextWordWrap, breakable(text, _RUN)
                )

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu that copies the row."""
        self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """Return a menu that copies the number or the whole row; it deletes itself when closed."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._line.number:
            copy = menu.addAction(tr("Copy number"))
            copy.triggered.connect(lambda: QApplication.clipboard().setText(self._line.number))
        row = menu.addAction(tr("Copy row"))
        row.triggered.connect(lambda: QApplication.clipboard().setText(self.accessibleName()))
        return menu


class RowList(QWidget):
    """A column of reusable `RowWidget` widgets."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 4) -> None:
        super().__init__(parent)
        self._rows: list[RowWidget] = []
        self._theme = Theme.load("light")
        self._column = vbox(self, spacing=spacing)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self._theme = theme
        for row in self._rows:
            row.theme = theme
            row.updateGeometry()
            row.update()

    def say(self, lines: list[RowContent]) -> None:
        """Show these lines; their texts are aligned unless a label is very long."""
        while len(self._rows) < len(lines):
            row = RowWidget(self)
            row.theme = self._theme
            self._rows.append(row)
            self._column.addWidget(row)
        widths = [
            QFontMetricsF(self._theme.font(14, 600)).horizontalAdvance(line.label)
            for line in lines
            if line.text
        ]
        common = max([width for width in widths if width <= 90] or [0.0])
        for row, line in zip(self._rows, lines, strict=False):
            row.say(line, common)
            row.show()
        for row in self._rows[len(lines) :]:
            row.hide()

    def lines(self) -> list[RowContent]:
        """Return the lines shown."""
        return [row.line() for row in self._rows if not row.isHidden()]


def _text_rect(font: QFont, text: str, width: float) -> QRectF:
    """Return the rectangle at the origin of ``text`` wrapped to ``width`` pixels."""
    if not text:
        return QRectF()
    metrics = QFontMetricsF(font)
    page = QRectF(0, 0, width, 100_000)
    box = metrics.boundingRect(page, Qt.TextFlag.TextWordWrap, breakable(text, _RUN))
    return QRectF(0, 0, min(width, box.width() + 1), max(box.height(), metrics.height()))


def _centre_offset(height: float, box: QRectF) -> float:
    return (height - box.height()) / 2 if box.height() < height / 1.6 else 0.0
