"""Stacked pages below a row of small buttons."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QStackedWidget, QWidget

from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.plots.plot import switch_button

SPACING = 6


class ButtonPages(QWidget):
    """A stack of widgets, each shown by the button with its title.

    The buttons take two rows where a single one has no room for their titles.
    """

    def __init__(self, *pages: tuple[str, QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stack, self.buttons = QStackedWidget(), QButtonGroup(self)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(16, 10, 12, 0)
        self._grid.setSpacing(SPACING)
        for number, (title, page) in enumerate(pages):
            self.buttons.addButton(switch_button(title, "", number == 0), number)
            self.stack.addWidget(page)
        self._columns = 0
        self._arrange(len(pages))
        self.buttons.idClicked.connect(self.stack.setCurrentIndex)
        column = vbox(self, spacing=0)
        column.addLayout(self._grid)
        column.addWidget(self.stack, 1)

    def show_page(self, page: QWidget) -> None:
        """Show a page, as its button does."""
        at = self.stack.indexOf(page)
        self.buttons.button(at).setChecked(True)
        self.stack.setCurrentIndex(at)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Use as many rows as the titles need; called by Qt."""
        super().resizeEvent(happened)
        self._fit()

    def event(self, happened: QEvent) -> bool:
        """Do the same when the titles have another size; called by Qt."""
        if happened.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(happened)

    def _fit(self) -> None:
        buttons = self.buttons.buttons()
        margins = self._grid.contentsMargins()
        free = self.width() - margins.left() - margins.right() + SPACING
        needed = sum(button.sizeHint().width() + SPACING for button in buttons)
        self._arrange(len(buttons) if needed <= free else -(-len(buttons) // 2))

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        buttons = self.buttons.buttons()
        for place, button in enumerate(buttons):
            self._grid.addWidget(button, place // columns, place % columns)
        for column in range(len(buttons) + 1):
            self._grid.setColumnStretch(column, int(column == columns))
