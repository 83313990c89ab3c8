"""A combo box that elides its text when it is too narrow, and says the whole in its tool tip."""

import sys

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QHelpEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QToolTip

AMPLE_WIDTH = 1000
"""Width in pixels of a box in which the frame around the text is measured."""

SPARE = 4
"""Pixels that a text needs beyond its advance: the style moves the field by its border."""


class Choice(QComboBox):
    """A combo box that elides its current text, and whose popup is as wide as its items."""

    def event(self, happened: QEvent) -> bool:
        """Put a text that is elided above the tool tip; called by Qt."""
        if isinstance(happened, QHelpEvent) and happened.type() == QEvent.Type.ToolTip:
            QToolTip.showText(happened.globalPos(), self.whole_tip(), self)
            return True
        return super().event(happened)

    def showEvent(self, happened: QShowEvent) -> None:
        """Describe a box without a label by its accessible name; called by Qt.

        Where labels name what they belong to, Qt gives out the current text as a box's name.
        """
        if sys.platform not in ("win32", "darwin") and not self.accessibleDescription():
            self.setAccessibleDescription(self.accessibleName())
        super().showEvent(happened)

    def whole_tip(self) -> str:
        """Return the tool tip, after the current text where that does not fit."""
        parts = (self.currentText() if self.needed_width() > self.width() else "", self.toolTip())
        return "\n".join(part for part in parts if part)

    def needed_width(self) -> int:
        """Return the width in pixels at which the current text is not elided."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        # In a box that is wide enough: a narrow one has no field to measure.
        option.rect = QRect(0, 0, AMPLE_WIDTH, self.height())
        around = AMPLE_WIDTH - self._field_width(option)
        return self.fontMetrics().horizontalAdvance(self._shown_text()) + around + SPARE

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Elide the current text, which Qt itself clips in the middle of a letter; called by Qt."""
        super().initStyleOption(option)
        option.currentText = self.elided_text(option)

    def elided_text(self, option: QStyleOptionComboBox) -> str:
        """Return the current text elided to the edit field; ``option`` describes the box."""
        width = self._field_width(option)
        mode = Qt.TextElideMode.ElideRight
        return self.fontMetrics().elidedText(self._shown_text(), mode, width)

    def _shown_text(self) -> str:
        return self.currentText() or self.placeholderText()

    def _field_width(self, option: QStyleOptionComboBox) -> int:
        field = QStyle.SubControl.SC_ComboBoxEditField
        kind = QStyle.ComplexControl.CC_ComboBox
        return self.style().subControlRect(kind, option, field, self).width()

    def showPopup(self) -> None:
        """Show the list; called by Qt, which makes it as wide as the box."""
        self.widen_list()
        super().showPopup()

    def widen_list(self) -> None:
        """Make the list as wide as its widest item."""
        view, model = self.view(), self.model()
        frame = 2 * view.frameWidth() + view.verticalScrollBar().sizeHint().width()
        # A list that was never shown only knows the width of its first rows.
        rows = (model.index(row, self.modelColumn()) for row in range(self.count()))
        widest = max((view.sizeHintForIndex(row).width() for row in rows), default=0)
        view.setMinimumWidth(widest + frame)
