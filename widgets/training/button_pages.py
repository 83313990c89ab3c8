"""Stacked pages below a row of small buttons."""

from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.plots.plot import switch_button


class ButtonPages(QWidget):
    """A stack of widgets, each shown by the button with its title."""

    def __init__(self, *pages: tuple[str, QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stack, self.buttons = QStackedWidget(), QButtonGroup(self)
        row = hbox(None, margins=(16, 10, 12, 0), spacing=6)
        for number, (title, page) in enumerate(pages):
            button = switch_button(title, "", number == 0)
            self.buttons.addButton(button, number)
            self.stack.addWidget(page)
            row.addWidget(button)
        row.addStretch(1)
        self.buttons.idClicked.connect(self.stack.setCurrentIndex)
        column = vbox(self, spacing=0)
        column.addLayout(row)
        column.addWidget(self.stack, 1)
