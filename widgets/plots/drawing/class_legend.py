"""Legend below the plane: marks, colours and names of classes, which can be edited in place."""

from collections.abc import Iterable
from itertools import islice

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.colors import draw_mark
from gradscribe.widgets.plots.drawing.shading import Shading, draw_scale

CLASS_PREFIX = "class "
"""Prefix of the number of a class without a name; left out if space is short."""
VALIDATION = tr("validation")
"""Name of the entry that is not a class."""
ENTRY_PX = 32
"""Pixels of an entry besides its name."""
WIDE = 130
"""Width of the field for a name in pixels."""
LONGEST = 40

ClassEntry = tuple[str, QColor, str]
"""Shape, colour and name."""


class ClassLegend(QObject):
    """Draws the legend, and edits class names in it."""

    named = Signal(int, str)
    """(class, new name)"""

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._places: list[tuple[QRectF, str]] = []
        """The box and name of each class, as drawn last."""

    def draw(
        self,
        painter: QPainter,
        line: QRectF,
        entries: Iterable[ClassEntry],
        note: str,
        shading: Shading | None,
        theme: Theme,
    ) -> None:
        """Draw as many entries as fit, and a remark at the right."""
        # There may be thousands of classes: no more are measured than could fit.
        entries = list(islice(entries, int(line.width() / ENTRY_PX) + 2))
        bold, metrics = QFontMetricsF(theme.font(12, 600)), QFontMetricsF(theme.font(12))

        def fits() -> bool:
            wide = sum(metrics.horizontalAdvance(name) + ENTRY_PX for _, _, name in entries) - 18
            return wide <= line.width() - bold.horizontalAdvance(note) - 16

        if not fits():
            entries = [
                (shape, color, name.removeprefix(CLASS_PREFIX)) for shape, color, name in entries
            ]
        if not fits():
            # All marks matter more than the second half of a remark.
            note = note.partition(" · ")[0]
            note = bold.elidedText(note, Qt.TextElideMode.ElideRight, line.width())
        painter.setFont(theme.font(12, 600))
        painter.setPen(theme.ink)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(line, flags, note)
        room = line.width() - bold.horizontalAdvance(note) - 16
        painter.setFont(theme.font(12))
        base = line.center().y() + (metrics.ascent() - metrics.descent()) / 2
        x = line.left()
        if shading is not None:
            needs = sum(metrics.horizontalAdvance(name) + ENTRY_PX for _, _, name in entries)
            wide = draw_scale(painter, line, shading, room - needs, theme)
            x += wide + 18 if wide else 0
        self._places = []
        for shape, color, name in entries:
            width = metrics.horizontalAdvance(name) + ENTRY_PX
            if x + width - 18 - line.left() > room:
                break
            painter.setPen(QPen(color, 1.2))
            painter.setBrush(color if name != VALIDATION else theme.panel)
            draw_mark(painter, shape, QPointF(x + 5, line.center().y()), 4.4)
            painter.setPen(theme.ink2)
            painter.drawText(QPointF(x + 14, base), name)
            self._places.append((QRectF(x, line.top(), width - 6, line.height()), name))
            x += width

    def edit(self, at: QPointF) -> None:
        """Edit the name of the class at a point: Return accepts, Escape cancels."""
        for kind, (place, name) in enumerate(self._places):
            if place.contains(at) and name != VALIDATION:
                field = _Name("" if name.isdecimal() or name.startswith(CLASS_PREFIX) else name)
                field.setParent(self._canvas)
                left = min(place.left() + 10, self._canvas.width() - WIDE - 4)
                height = field.sizeHint().height()
                top = min(place.center().y() - height / 2, self._canvas.height() - height)
                field.setGeometry(round(left), round(top), WIDE, height)
                field.taken.connect(lambda text, kind=kind: self.named.emit(kind, text))
                field.show()
                field.selectAll()
                field.setFocus()
                return


class _Name(QLineEdit):
    """A field that deletes itself when left."""

    taken = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setMaxLength(LONGEST)
        self.setPlaceholderText(tr("name"))
        self.setAccessibleName(tr("Name of the class"))
        self._before, self._is_over = name, False
        self.editingFinished.connect(self._take)

    def _take(self) -> None:
        if not self._is_over:
            self._is_over = True
            if self.text() != self._before:
                self.taken.emit(self.text())
            self.deleteLater()

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Cancel with Escape."""
        if happened.key() == Qt.Key.Key_Escape:
            self.setText(self._before)
            self._take()
        else:
            super().keyPressEvent(happened)
        happened.accept()
