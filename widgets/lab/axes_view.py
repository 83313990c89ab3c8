"""The table of axes: a row for each tensor, a column for each axis, with the effect in words."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.playback.lab.axes import AxisTable, Kind
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, mono_font, ui_font

ROW, PAD, NAME_GAP = 27.0, 10.0, 14.0
MEANINGS: dict[Kind, str] = {
    "stretched": "stretched",
    "missing": tr("not there: stretched"),
    "summed": "summed",
    "new": "new",
    "gone": "",
    "joined": "joined",
    "picked": "changed",
    "clash": tr("does not fit"),
    "": "",
}
"""Text for each mark, since colour alone is not accessible."""
SHORT: dict[Kind, str] = {**MEANINGS, "missing": "stretched", "clash": tr("no fit")}
"""The same for a narrow table."""


class AxesView(QWidget):
    """Chips with sizes, right-aligned as torch aligns them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.axes = AxisTable("")
        self.setAccessibleName(tr("Axes"))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.theme = theme
        self.update()

    def show_axes(self, axes: AxisTable) -> None:
        """Show another table; without rows nothing is drawn."""
        self.axes = axes
        words = [f"{r.name}: {', '.join(c.text for c in r.chips if c.text)}" for r in axes.rows]
        self.setAccessibleDescription("; ".join(words))
        self.setFixedHeight(round(ROW * len(axes.rows)) + 4)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the whole table."""
        return QSize(300, round(ROW * len(self.axes.rows)) + 4)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw names and chips, and the meaning of the marks next to each row."""
        if not self.axes.rows:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        names, mono = QFontMetricsF(ui_font(12, 600)), QFontMetricsF(mono_font(12))
        left = max(names.horizontalAdvance(row.name) for row in self.axes.rows) + NAME_GAP
        left = min(left, self.width() * 0.4)
        columns = max(len(row.chips) for row in self.axes.rows)
        widths = [
            max(mono.horizontalAdvance(r.chips[c].text) for r in self.axes.rows if c < len(r.chips))
            + 2 * PAD
            for c in range(columns)
        ]
        for number, row in enumerate(self.axes.rows):
            y = number * ROW
            painter.setFont(ui_font(12, 600))
            painter.setPen(self.theme.ink)
            name = names.elidedText(row.name, Qt.TextElideMode.ElideMiddle, left - NAME_GAP / 2)
            painter.drawText(QRectF(0, y, left, ROW), Qt.AlignmentFlag.AlignVCenter, name)
            x = left
            painter.setFont(mono_font(12))
            for chip, width in zip(row.chips, widths, strict=False):
                box = QRectF(x + 2, y + 3, width - 4, ROW - 6)
                if chip.text:
                    self._paint_chip(painter, box, chip.text, chip.kind)
                x += width
            self._paint_meaning(painter, QRectF(x + 8, y, self.width() - x - 8, ROW), number)

    def _paint_chip(self, painter: QPainter, box: QRectF, label: str, kind: Kind) -> None:
        line, fill, ink = self._colors(kind)
        pen = QPen(line, 1.4 if kind else 1.0)
        if kind in ("missing", "stretched"):
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(Qt.PenStyle.NoPen if kind == "gone" else pen)
        painter.setBrush(Qt.BrushStyle.NoBrush if kind == "gone" else fill)
        painter.drawRoundedRect(box, 6, 6)
        painter.setPen(ink)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)

    def _paint_meaning(self, painter: QPainter, box: QRectF, number: int) -> None:
        meaning = self.meaning(number, box.width())
        if meaning:
            painter.setFont(ui_font(11))
            painter.setPen(self.theme.ink2)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, meaning)

    def meaning(self, number: int, room: float) -> str:
        """Return the meaning of a row's marks as far as ``room`` pixels have place for it."""
        marks = dict.fromkeys(chip.kind for chip in self.axes.rows[number].chips)
        metrics = QFontMetricsF(ui_font(11))
        text = ""
        for words in (MEANINGS, SHORT):
            text = ", ".join(dict.fromkeys(words[kind] for kind in marks if words[kind]))
            if metrics.horizontalAdvance(text) <= room:
                return text
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)

    def _colors(self, kind: Kind) -> tuple[QColor, QColor, QColor]:
        theme = self.theme
        return {
            "": (theme.line, theme.panel2, theme.ink),
            "stretched": (theme.forward, theme.forward_soft, theme.ink),
            "missing": (theme.forward, theme.forward_soft, theme.ink),
            "summed": (theme.parameter, theme.parameter_soft, theme.ink),
            "new": (theme.module, theme.module_soft, theme.ink),
            "gone": (theme.line, theme.panel, theme.ink3),
            "joined": (theme.data, theme.data_soft, theme.ink),
            "picked": (theme.data, theme.data_soft, theme.ink),
            "clash": (theme.error, theme.error_soft, theme.error),
        }[kind]
