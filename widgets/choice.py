"""A box to choose from that tells when it has no room for all of a word."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox


class Choice(QComboBox):
    """A combo box whose words end in an ellipsis where it is too narrow, and whose list is not."""

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Tell how to paint it; called by Qt, which cuts words off in the middle of a letter."""
        super().initStyleOption(option)
        option.currentText = self.words(option)

    def words(self, option: QStyleOptionComboBox) -> str:
        """Return what is chosen as there is room for it; ``option`` tells of the box."""
        field = QStyle.SubControl.SC_ComboBoxEditField
        kind = QStyle.ComplexControl.CC_ComboBox
        room = self.style().subControlRect(kind, option, field, self).width()
        whole = self.currentText() or self.placeholderText()
        return self.fontMetrics().elidedText(whole, Qt.TextElideMode.ElideRight, room)

    def showPopup(self) -> None:
        """Show the list; called by Qt, which makes it as wide as the box."""
        self.widen_list()
        super().showPopup()

    def widen_list(self) -> None:
        """Give the list room for its words."""
        view, model = self.view(), self.model()
        frame = 2 * view.frameWidth() + view.verticalScrollBar().sizeHint().width()
        # A list that is not seen yet knows the width of its first rows alone.
        rows = (model.index(row, self.modelColumn()) for row in range(self.count()))
        widest = max((view.sizeHintForIndex(row).width() for row in rows), default=0)
        view.setMinimumWidth(widest + frame)
