"""Switches of a plot in one menu, where they have no space side by side."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton

from gradscribe.playback.translation import tr

WIDEST = (1 << 24) - 1
"""The greatest width of a widget, as Qt has it."""


class FoldedSwitches:
    """The buttons of ``tools`` that are on or off, or a button *Show* with a menu of them.

    A folded button has no width, but is not hidden: whether it is shown stays the plot's to say.
    """

    def __init__(self, tools: QHBoxLayout) -> None:
        self._tools = tools
        self.more: QPushButton | None = None
        """The button that opens the menu, once there was one."""

    def fold(self, is_narrow: bool) -> None:
        """Put the buttons into the menu, if that saves space, or side by side."""
        switches = self._switches()
        is_folded = is_narrow and len(switches) > 1
        for button in switches:
            if is_folded != (button.maximumWidth() == 0):
                button.setMaximumWidth(0 if is_folded else WIDEST)
                policy = Qt.FocusPolicy.NoFocus if is_folded else Qt.FocusPolicy.StrongFocus
                button.setFocusPolicy(policy)
        if is_folded and self.more is None:
            self.more = self._make_button(switches[0])
        if self.more is not None:
            self.more.setVisible(is_folded)

    def _switches(self) -> list[QPushButton]:
        items = (self._tools.itemAt(place) for place in range(self._tools.count()))
        found = (item.widget() for item in items if item is not None)
        return [
            one
            for one in found
            if isinstance(one, QPushButton) and one.isCheckable() and not one.isHidden()
        ]

    def _make_button(self, before: QPushButton) -> QPushButton:
        made = QPushButton(tr("Show"), before.parentWidget())
        made.setProperty("crumb", True)
        made.setToolTip(tr("Choose what the picture shows"))
        made.clicked.connect(lambda: self.menu().popup(made.mapToGlobal(made.rect().bottomLeft())))
        self._tools.addWidget(made)
        return made

    def menu(self) -> QMenu:
        """Return a menu of the switches as they are now."""
        menu = QMenu(self.more)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in self._switches():
            action = menu.addAction(button.text())
            action.setCheckable(True)
            action.setChecked(button.isChecked())
            action.setToolTip(button.toolTip())
            action.triggered.connect(button.click)
        return menu
