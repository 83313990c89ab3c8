"""A combo box that elides its text when it is too narrow."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox


class Choice(QComboBox):
    """A combo box that elides its current text, and whose popup is as wide as its items."""

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Elide the current text, which Qt itself clips in the middle of a letter; called by Qt."""
        super().initStyleOption(option)
        option.currentText = self.elided_text(option)

    def elided_text(self, option: QStyleOptionComboBox) -> str:
        """Return the current text elided to the edit field; ``option`` describes the box."""
        field = QStyle.SubControl.SC_ComboBoxEditField
        kind = QStyle.ComplexControl.CC_ComboBox
        width = self.style().subControlRect(kind, option, field, self).width()
        text = self.currentText() or self.placeholderText()
        return self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)

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
