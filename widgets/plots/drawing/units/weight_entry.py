"""Field for editing a weight where it was clicked."""

import math

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import tip

WIDE = 92


class WeightEntry(QLineEdit):
    """Hidden until opened; Return accepts the number, Esc and a click elsewhere cancel."""

    told = Signal(str, int, float)
    """(parameter, flat index, number)"""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self._name, self._place, self._offered = "", 0, ""
        self.setFixedWidth(WIDE)
        self.setAccessibleName(tr("Weight"))
        self.returnPressed.connect(self._take)
        self.hide()

    def open(self, name: str, place: int, number: float, at: QPointF) -> None:
        """Show a number for editing near ``at``."""
        self._name, self._place = name, place
        self._offered = f"{number:.6g}"
        self.setText(self._offered)
        self.setToolTip(tip(tr("{name}: type a number, then Return", name=name)))
        self.selectAll()
        over, size = self._over.rect(), self.sizeHint()
        left = min(max(4, round(at.x()) + 8), over.width() - WIDE - 4)
        top = min(max(4, round(at.y()) - size.height() // 2), over.height() - size.height() - 4)
        self.move(left, top)
        self.show()
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Cancel with Esc; no key reaches other widgets."""
        if happened.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(happened)
        happened.accept()

    def focusOutEvent(self, happened: QFocusEvent) -> None:
        """Close when the focus moves to another widget."""
        super().focusOutEvent(happened)
        if happened.reason() != Qt.FocusReason.ActiveWindowFocusReason:
            self.hide()

    def _take(self) -> None:
        if self.text() == self._offered:
            # The text has fewer digits than the weight, which would be rounded.
            self.hide()
            return
        try:
            number = float(self.text().strip().replace("\N{MINUS SIGN}", "-").replace(",", "."))
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            self.hide()
            self.told.emit(self._name, self._place, number)
        else:
            self.selectAll()
