"""Values and gradients painted at the end of the lines that produced them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from gradscribe.playback.code.lines import LineMark
from gradscribe.playback.text.fitting import fitted
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import faded
from gradscribe.widgets.editor.line_layout import VisibleRow
from gradscribe.widgets.editor.style import Band, EditorStyle

MARGIN = 8.0
"""Free space at the right border."""
GAP = 14.0
"""Minimum space between text and marks, so that they are not read as one text."""
BETWEEN = 8.0
FAR = 44.0
"""Space between the longest line and the marks in a wide editor."""
WIDEST = 150.0
"""Maximum width in pixels; longer values are elided."""
STALE = 0.42
FAINT = 0.5
REMEMBERED = 20_000


class PlacedMark(NamedTuple):
    """Geometry and elided texts of the mark of a line.

    A gradient whose text is empty is shown as a triangle alone, a value whose text is empty as a
    dot; None if it is not shown.
    """

    line: int
    value: QRectF | None
    value_text: str
    gradient: QRectF | None
    gradient_text: str

    @property
    def area(self) -> QRectF:
        """The area that reacts to the mouse."""
        value, gradient = self.value or QRectF(), self.gradient or QRectF()
        return value.united(gradient)


class LineMarks:
    """The marks of all lines: `place` computes their geometry for rows, `paint` draws them."""

    def __init__(self, style: EditorStyle) -> None:
        self._style = style
        self._marks: dict[int, LineMark] = {}
        self._widths: tuple[float, float] | None = None
        self._advances: dict[tuple[bool, str], float] = {}
        self.stale = False
        """True dims the marks: they belong to an earlier text."""
        self._then: dict[int, LineMark] = {}
        """While stale, the marks as far as the current text makes the same run."""

    def set_style(self, style: EditorStyle) -> None:
        """Set colours and sizes."""
        self._style = style
        self._widths = None
        self._advances = {}

    def set_marks(self, marks: Mapping[int, LineMark]) -> None:
        """Replace all marks; keys are lines from 1, missing lines are ignored."""
        self._marks = dict(marks)
        self._then = {}
        self._widths = None

    def set_fresh(self, then: Mapping[int, LineMark]) -> None:
        """Do not dim what is the same in ``then``, the marks where the current text departs."""
        self._then = dict(then)

    def lines(self) -> list[int]:
        """Return the lines that have a mark, in order."""
        return sorted(self._marks)

    def mark(self, line: int) -> LineMark | None:
        """Return the mark of a line, if it has one."""
        return self._marks.get(line)

    def shift(self, first: int, change: int) -> None:
        """Move the marks of line ``first`` and later with their lines, by ``change`` lines.

        Marks of removed lines are dropped.
        """
        self._marks = _shifted(self._marks, first, change)
        self._then = _shifted(self._then, first, change)

    def freshness(self, line: int) -> tuple[bool, bool]:
        """Return whether the value and the gradient of a line are those of the current text."""
        mark, then = self._marks.get(line), self._then.get(line)
        if not self.stale or mark is None:
            return True, True
        if then is None or then.reached != mark.reached:
            return False, False
        return then.value == mark.value, then.gradient == mark.gradient

    def about(self, line: int) -> str:
        """Return the mark of a line in full, as its tooltip; empty without one."""
        mark = self._marks.get(line)
        if mark is None:
            return ""
        if not mark.reached:
            return tr("Not run yet")
        parts = [f"{mark.name} = {mark.value}" if mark.name else mark.value]
        if mark.gradient:
            parts.append(tr("gradient {gradient}", gradient=mark.gradient))
        return "\n".join(part for part in parts if part)

    def place(self, rows: Iterable[VisibleRow], width: float, text_end: float) -> list[PlacedMark]:
        """Return the placed marks of ``rows`` in a viewport ``width`` pixels wide.

        ``text_end`` is the x at which the longest marked line ends: right of it the marks form two
        columns. On lines that reach into the columns, marks move together, then are elided, then
        reduced to a sign, and finally left out: marks never cover text.
        """
        value, gradient = self._columns()
        both = value + gradient + (BETWEEN if value and gradient else 0)
        right = min(width - MARGIN, text_end + FAR + both)
        placed = []
        for row in rows:
            mark = self._marks.get(row.line)
            if mark is not None and (mark.value or mark.gradient or not mark.reached):
                fit = self._fit(mark, row, right, right - gradient - (BETWEEN if gradient else 0))
                if fit is not None:
                    placed.append(fit)
        return placed

    def _columns(self) -> tuple[float, float]:
        if self._widths is not None:
            return self._widths
        value = gradient = 0.0
        for mark in self._marks.values():
            if mark.reached:
                value = max(value, self._value_width(mark.value))
                gradient = max(gradient, self._pill_width(mark.gradient))
        self._widths = min(value, WIDEST), min(gradient, WIDEST)
        return self._widths

    def _value_width(self, text: str) -> float:
        return self._advance(text, of_gradient=False) + 1 if text else 0.0

    def _pill_width(self, text: str) -> float:
        return self._advance(text, of_gradient=True) + self._sign_width() + 5 if text else 0.0

    def _advance(self, text: str, *, of_gradient: bool) -> float:
        # Cached: all marks are set again at each step of the playing tape.
        width = self._advances.get((of_gradient, text))
        if width is None:
            if len(self._advances) > REMEMBERED:
                self._advances.clear()
            metrics = self._style.gradient_metrics if of_gradient else self._style.value_metrics
            width = self._advances[of_gradient, text] = metrics.horizontalAdvance(text)
        return width

    def _sign_width(self) -> float:
        return 11.0 + self._style.px * 0.45

    def _fit(
        self, mark: LineMark, row: VisibleRow, right: float, column: float
    ) -> PlacedMark | None:
        style, left = self._style, row.text_end + GAP
        if not mark.reached:
            size = style.px * 0.5
            at = column if column - size >= left else right
            box = _box(at - size, size, row)
            return PlacedMark(row.line, box, "", None, "") if at - size >= left else None
        value = min(self._value_width(mark.value), WIDEST)
        pill = min(self._pill_width(mark.gradient), WIDEST)
        if column - value >= left:
            return self._placed(mark, row, (column - value, value), (right - pill, pill))
        space = right - left
        if pill and space < pill:
            sign = self._sign_width()
            pill = space if space >= sign + 5 + _few(style.gradient_metrics) else sign
            if space < pill:
                return None
            return self._placed(mark, row, (0.0, 0.0), (right - pill, pill))
        end = right - pill - (BETWEEN if pill else 0)
        value = min(value, end - left)
        if value < _few(style.value_metrics):
            value = 0.0
            if not pill:
                size = style.px * 0.5
                box = _box(right - size, size, row)
                return PlacedMark(row.line, box, "", None, "") if space >= size else None
        return self._placed(mark, row, (end - value, value), (right - pill, pill))

    def _placed(
        self, mark: LineMark, row: VisibleRow, value: tuple[float, float], pill: tuple[float, float]
    ) -> PlacedMark:
        style = self._style
        inner = pill[1] - self._sign_width() - 5
        # A number without room for its first digits is left out: a box without text is a dot.
        text = _fitted(style.value_metrics, mark.value, value[1]) if value[1] > 0 else ""
        number = _fitted(style.gradient_metrics, mark.gradient, inner + 1) if inner > 0 else ""
        if pill[1] and not number:
            pill = (pill[0] + pill[1] - self._sign_width(), self._sign_width())
        return PlacedMark(
            row.line,
            _box(*value, row) if text else None,
            text,
            _box(*pill, row) if pill[1] else None,
            number,
        )

    def paint(
        self, painter: QPainter, placed: Iterable[PlacedMark], bands: Mapping[int, Band]
    ) -> None:
        """Paint the marks returned by `place`; on highlighted rows they contrast with the band."""
        for entry in placed:
            mark = self._marks.get(entry.line)
            if mark is None:
                continue
            lit = entry.line in bands
            is_fresh = self.freshness(entry.line)
            if entry.value is not None:
                painter.setOpacity(1.0 if is_fresh[0] else STALE)
                self._paint_value(painter, entry.value, entry.value_text, mark)
            if entry.gradient is not None:
                painter.setOpacity(1.0 if is_fresh[1] else STALE)
                self._paint_pill(painter, entry.gradient, entry.gradient_text, mark, lit)
        painter.setOpacity(1.0)

    def _paint_value(self, painter: QPainter, box: QRectF, text: str, mark: LineMark) -> None:
        style, theme = self._style, self._style.theme
        active = mark.active == "forward"
        color = theme.forward if active else theme.ink2
        if text:
            painter.setFont(style.active_font if active else style.value_font)
            painter.setPen(color)
            painter.drawText(box, _RIGHT, text)
            return
        painter.setBrush(color if mark.reached else Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color if mark.reached else faded(theme.line_strong, FAINT), 1.3))
        radius = box.width() / 2 - 0.7
        painter.drawEllipse(box.center(), radius, radius)

    def _paint_pill(
        self, painter: QPainter, box: QRectF, text: str, mark: LineMark, lit: bool
    ) -> None:
        style, theme = self._style, self._style.theme
        radius = box.height() / 2
        if mark.active == "backward":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faded(theme.backward, 0.16))
            painter.drawRoundedRect(box.adjusted(-2.5, -2.5, 2.5, 2.5), radius + 2.5, radius + 2.5)
        painter.setPen(QPen(theme.backward, 1.0))
        painter.setBrush(theme.panel if lit else theme.backward_soft)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius - 0.5, radius - 0.5)
        size = style.px * 0.45
        left = box.left() + 6 if text else box.center().x() - size / 2
        _triangle(painter, left, box.center().y(), size, theme.backward)
        if text:
            painter.setFont(style.gradient_font)
            painter.setPen(theme.backward)
            inner = box.adjusted(self._sign_width() - 1, 0, -6, 0)
            painter.drawText(inner, _RIGHT, text)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip


def _fitted(metrics: QFontMetricsF, text: str, width: float) -> str:
    """Return a text as wide as there is space; no shape or number is cut to another."""
    known = fitted(text, lambda form: metrics.horizontalAdvance(form) <= width)
    elide = Qt.TextElideMode.ElideRight
    return metrics.elidedText(text, elide, width) if known is None else known


def _few(metrics: QFontMetricsF) -> float:
    """Return the width of the shortest readable part of a number."""
    return metrics.horizontalAdvance("−0.0…")


def _shifted(marks: dict[int, LineMark], first: int, change: int) -> dict[int, LineMark]:
    moved: dict[int, LineMark] = {}
    for line, mark in marks.items():
        if line < first:
            moved[line] = mark
        elif line + change >= first:
            moved[line + change] = mark
    return moved


def _box(left: float, width: float, row: VisibleRow) -> QRectF:
    height = min(row.height - 4, row.height * 0.74)
    return QRectF(left, row.middle - height / 2, width, height)


def _triangle(painter: QPainter, left: float, middle: float, size: float, color: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    top, bottom = middle - size * 0.46, middle + size * 0.42
    painter.drawPolygon(
        QPolygonF(
            [QPointF(left, bottom), QPointF(left + size, bottom), QPointF(left + size / 2, top)]
        )
    )
