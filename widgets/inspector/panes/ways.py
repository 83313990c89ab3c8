"""The ways pane: the chain rule spelled out, along every way from a tensor to the loss."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from gradscribe.playback.flow import way_text
from gradscribe.playback.flow.ways import Ways
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList

COUNTING = tr("Following the ways…")


class WaysPane(Pane):
    """A row per way with its local derivatives and their product, and the sum, once asked for."""

    order = 25
    ruled = True

    ways_requested = Signal(int)
    """Find the ways of the value with this id; `set_ways` takes them."""
    way_requested = Signal(int)
    """Show the next (1) or the previous (-1) way alone on the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.open_button = QPushButton(tr("Ways to the loss"), self)
        self.open_button.setCheckable(True)
        self.open_button.setMinimumWidth(1)
        self.open_button.setToolTip(
            tr("Every way from here to the loss, with its local derivatives")
        )
        self.open_button.toggled.connect(self._show)
        self.back_button, self.next_button = (
            QPushButton("‹ Previous", self),
            QPushButton("Next ›", self),
        )
        self._name_button(self.back_button, tr("Previous way on the graph"), -1)
        self._name_button(self.next_button, tr("Next way on the graph"), 1)
        self._words = Label("words", "", self)
        self._rows = RowList(self)
        turns = QHBoxLayout()
        turns.setSpacing(6)
        turns.addWidget(self.back_button, 1)
        turns.addWidget(self.next_button, 1)
        for widget in (self.open_button, self._words, self._rows):
            self.column.addWidget(widget)
        self.column.addLayout(turns)
        self._page = InspectorPage()
        self._asked: tuple[int, int] | None = None
        self._found: Ways | None = None
        self._show()

    def _name_button(self, button: QPushButton, title: str, turn: int) -> None:
        button.setAccessibleName(title)
        button.setToolTip(title)
        button.setMinimumWidth(1)
        button.clicked.connect(lambda: self.way_requested.emit(turn))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self._rows.set_theme(theme)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the ways of the page's value, if gradients can come back to it."""
        self._page = page
        value, chosen = page.value, page.selection
        if value is None or chosen is None or chosen.kind == "wire":
            return False
        is_shown = value.requires_grad and page.tape is not None and bool(page.tape.passes)
        if is_shown:
            self._show()
        return is_shown

    def open(self) -> None:
        """Show the ways from now on."""
        self.open_button.setChecked(True)

    def set_ways(self, value: int, found: Ways) -> None:
        """Show the ways of a value, if it is still the page's."""
        if self._asked == (self._page.serial, value):
            self._found = found
            self._say()

    def _show(self) -> None:
        is_open, value = self.open_button.isChecked(), self._page.value
        for widget in (self._words, self._rows):
            widget.setVisible(is_open)
        count = 0 if self._found is None else len(self._found.listed)
        for button in (self.back_button, self.next_button):
            button.setVisible(is_open and count > 0)
        if not is_open or value is None or self._page.tape is None:
            return
        asked = (self._page.serial, value.id)
        if asked != self._asked:
            self._asked, self._found = asked, None
            self._say()
            self.ways_requested.emit(value.id)

    def _say(self) -> None:
        found, index, value = self._found, self._page.index, self._page.value
        if found is None or index is None or value is None:
            self._words.say(COUNTING)
            self._rows.say([])
        else:
            self._words.say(way_text.summary(found, value.name or tr("this tensor")))
            self._rows.say(rows(index, found, value.name))
        for button in (self.back_button, self.next_button):
            button.setVisible(found is not None and bool(found.listed))


def rows(index: Index, found: Ways, name: str) -> list[RowContent]:
    """Return a row for each way, the sum next to the gradient that torch has, and what is odd."""
    lines = [
        RowContent("", way_text.way(index, way, found.seed), way_text.amount(way, found.is_norm))
        for way in found.listed
    ]
    if found.listed and found.gradient is not None:
        lines.append(_sum(found, name or tr("this tensor")))
    if text := way_text.oddity(index, found):
        lines.append(RowContent("", text, "", "warning"))
    return lines


def _sum(found: Ways, name: str) -> RowContent:
    """Return the row of the sum: it is the gradient, is not, or cannot be computed."""
    sign = "∇ " if found.is_norm else ""
    gradient, goal = sign + way_text.number(found.gradient), way_text.goal(found, name)
    is_sum = way_text.is_sum(found)
    if is_sum and found.is_norm:
        # The norms of tensors do not add up.
        goal = tr("added element by element {goal}", goal=goal)
    if is_sum:
        return RowContent(tr("Sum"), goal, gradient, "backward")
    if is_sum is None:
        # Not all ways, or not all numbers, are at hand: the gradient is torch's alone.
        return RowContent(tr("All"), goal.removeprefix("= "), gradient, "backward")
    if found.total is None:
        text = tr(
            "of the ways is not {removeprefix}: a hook or rounding changed it",
            removeprefix=goal.removeprefix("= "),
        )
        return RowContent(tr("Sum"), text, gradient, "warning")
    text = tr(
        "but {name} received {gradient}: a hook or rounding changed it",
        name=name,
        gradient=gradient,
    )
    return RowContent(tr("Sum"), text, way_text.number(found.total), "warning")


ENTRY = WaysPane
