"""Colour legend on the canvas: a bar with ticks, or a list of groups."""

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QLinearGradient, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from gradscribe.app.ui.canvas.progress_chip import chip_button
from gradscribe.playback.graph.coloring import ColorLegend
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import plain_label, tip
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import shapes
from gradscribe.widgets.graph.paint.card import tints

BAR_WIDTH = 230
WIDEST_BAR = 340
LABEL_GAP = 8
"""Least pixels between the labels of two ticks."""
ROW = 18
MAX_GROUPS = 8
"""Most groups that are listed; the badges on the cards name all."""
_STEPS = 24
WIDEST = 600
"""Most pixels of a note's line where nothing else is known."""


class ColorModeLegend(QFrame):
    """A chip with the title of the colour mode, its colours, and a button to leave it."""

    ended = Signal()

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._brief, self._is_answer, self._widest = False, False, WIDEST
        self.setProperty("chip", True)
        self.setAccessibleName(tr("What the colours mean"))
        column = vbox(self, margins=(10, 4, 6, 8), spacing=4)
        row = QHBoxLayout()
        self.title = plain_label(role="title")
        self.end_button = chip_button(tr("Done"), tr("Colour the cards by what they are again"))
        self.end_button.clicked.connect(self.ended)
        row.addWidget(self.title, 1)
        row.addWidget(self.end_button)
        column.addLayout(row)
        self.bar = ColorScaleBar(self)
        column.addWidget(self.bar)
        self.note = plain_label(role="caption")
        self.note.setWordWrap(True)
        column.addWidget(self.note)
        self.hide()

    def show_legend(self, key: ColorLegend | None, theme: Theme) -> None:
        """Show a legend in the colours of a theme; None hides the chip."""
        if key is not None:
            self.title.setText(key.title)
            self.note.setText(key.note)
            self.bar.setToolTip(tip(key.note))
            self._is_answer = not (key.ticks or key.groups)
            self._show_note()
            self.bar.set_key(key, theme)
            self.setAccessibleDescription(", ".join((*key.ticks, *key.groups, key.note)))
        self.setVisible(key is not None)
        self._fit()

    def set_compact(self, brief: bool, widest: int) -> None:
        """Hide the note, which stays the bar's tooltip, to save space; an answer stays.

        ``widest``: pixels from which on a note is broken into lines.
        """
        self._brief, self._widest = brief, widest
        self._show_note()
        self._fit()

    def _fit(self) -> None:
        """Take the size of the contents, of a wrapped note that for its width."""
        layout = self.layout()
        assert layout is not None
        self.adjustSize()
        layout.activate()
        # Qt's hint is that of a note as wide as the chip.
        missing = self.note.heightForWidth(self.note.width()) - self.note.height()
        if self.note.isVisible() and missing > 0:
            self.resize(self.width(), self.height() + missing)

    def _show_note(self) -> None:
        is_shown = self._is_answer or not self._brief
        text = self.note.fontMetrics().horizontalAdvance(self.note.text()) + 2
        self.note.setFixedWidth(min(text, self._widest))
        self.note.setVisible(bool(self.note.text()) and is_shown)


class ColorScaleBar(QWidget):
    """A colour bar with ticks, or a swatch for each group, in a column or in one row."""

    def __init__(self, parent: QWidget | None = None, in_row: bool = False) -> None:
        super().__init__(parent)
        self._in_row = in_row
        self._key = ColorLegend("", "groups")
        self._theme = Theme.load("light")

    def set_key(self, key: ColorLegend, theme: Theme) -> None:
        """Set the legend and the theme, and resize to fit."""
        self._key, self._theme = key, theme
        self.setFixedSize(self.sizeHint())
        self.update()

    def rows(self) -> tuple[str, ...]:
        """Return the group names to write; the last one summarizes those that do not fit."""
        groups = self._key.groups
        if len(groups) <= MAX_GROUPS:
            return groups
        return (
            *groups[: MAX_GROUPS - 1],
            tr("… and {value} more", value=len(groups) - MAX_GROUPS + 1),
        )

    def sizeHint(self) -> QSize:
        """Return the size of the whole legend."""
        if self._key.scale != "groups":
            return QSize(self._bar_width(), round(18 + 16 * self._theme.scale))
        rows = self.rows()
        scale = self._theme.scale
        if self._in_row:
            return QSize(round(self._places()[-1]), round(ROW * scale))
        widest = max((shapes.text_width(row, 11 * scale, 500) for row in rows), default=0.0)
        return QSize(min(BAR_WIDTH, round(24 + widest)), round(len(rows) * ROW * scale))

    def _bar_width(self) -> int:
        """Return the width of a bar whose labels stand apart, in very large text a wider one."""
        widest = max((self._label_width(label) for label in self._key.ticks), default=0.0)
        needed = round(len(self._key.ticks) * (widest + LABEL_GAP))
        return max(BAR_WIDTH, min(needed, WIDEST_BAR))

    def _label_width(self, label: str) -> float:
        return shapes.text_width(label, 11 * self._theme.scale, 500)

    def label_spans(self) -> list[tuple[str, float, float]]:
        """Return label, left and right end of each tick's text; those without space are empty.

        The first and the last label are always there.
        """
        ticks, width = self._key.ticks, self.width() - 2
        last = max(1, len(ticks) - 1)
        spans = []
        for n, label in enumerate(ticks):
            wide, x = self._label_width(label), 1 + width * n / last
            left = x if n == 0 else x - wide if n == last else x - wide / 2
            spans.append((label, left, left + wide))
        end = spans[0][2] if spans else 0.0
        for n, (label, left, right) in enumerate(spans[1:-1], 1):
            if left < end + LABEL_GAP / 2 or right > spans[-1][1] - LABEL_GAP / 2:
                spans[n] = ("", left, right)
            elif label:
                end = right
        return spans

    def _places(self) -> list[float]:
        """Return the x at which each name of the row begins, and the end of the last."""
        px = 11 * self._theme.scale
        starts = [0.0]
        for name in self.rows():
            starts.append(starts[-1] + shapes.text_width(name, px, 500) + 36)
        return starts

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the bar or the swatches."""
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self._key.scale == "groups":
                self._paint_groups(painter)
            else:
                self._paint_bar(painter)
        finally:
            painter.end()

    def _paint_bar(self, painter: QPainter) -> None:
        key, theme = self._key, self._theme
        bar = QRectF(1, 2, self.width() - 2, 12)
        blend = QLinearGradient(bar.topLeft(), bar.topRight())
        for step in range(_STEPS + 1):
            share = step / _STEPS
            place = 2 * share - 1 if key.scale == "signed" else share
            blend.setColorAt(share, tints.color_at(key.scale, place, theme.dark))
        painter.setPen(QPen(theme.line_strong, theme.stroke(1)))
        painter.setBrush(blend)
        painter.drawRoundedRect(bar, 3, 3)
        last = max(1, len(key.ticks) - 1)
        for n, (label, left, right) in enumerate(self.label_spans()):
            x = bar.left() + bar.width() * n / last
            painter.setPen(QPen(theme.line_strong, theme.stroke(1)))
            painter.drawLine(round(x), 14, round(x), 17)
            row = QRectF(left, 17, right - left + 2, self.height() - 17)
            shapes.write(painter, row, label, theme.ink2, 11 * theme.scale, 500)

    def _paint_groups(self, painter: QPainter) -> None:
        theme, groups = self._theme, self._key.groups
        height = ROW * theme.scale
        places = self._places()
        for n, name in enumerate(self.rows()):
            left, top = (places[n], 0.0) if self._in_row else (0.0, n * height)
            if n < len(groups) and name == groups[n]:
                swatch = QRectF(left + 1, top + height / 2 - 5.5, 11, 11)
                tints.paint_swatch(painter, swatch, tints.group_color(n), theme)
            row = QRectF(left + 19, top, self.width() - left - 19, height)
            shapes.write(painter, row, name, theme.ink, 11 * theme.scale, 500)
