"""The ways pane: the chain rule spelled out, along every way from a tensor to the loss."""

from PySide6.QtWidgets import QPushButton

from gradscribe.playback.flow.ways import MOST_USES, Way, Ways, ways
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList

CLOSE = 1e-4
"""Relative difference up to which a sum in another order counts as the gradient."""


class WaysPane(Pane):
    """A row per way with its local derivatives and their product, and the sum, once asked for."""

    order = 25
    ruled = True

    def __init__(self) -> None:
        super().__init__()
        self.open_button = QPushButton("Ways to the loss", self)
        self.open_button.setCheckable(True)
        self.open_button.setMinimumWidth(1)
        self.open_button.setToolTip("Every way from here to the loss, with its local derivatives")
        self.open_button.toggled.connect(self._show)
        self._words = Label("words", "", self)
        self._rows = RowList(self)
        for widget in (self.open_button, self._words, self._rows):
            self.column.addWidget(widget)
        self._page = InspectorPage()
        self._asked: tuple[object, ...] = ()
        self._show()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self._rows.set_theme(theme)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the ways of the page's value, if gradients can come back to it."""
        self._page = page
        value = page.value
        chosen = page.selection
        if value is None or chosen is None or chosen.kind == "wire":
            return False
        is_shown = value.requires_grad and page.tape is not None and bool(page.tape.passes)
        if is_shown:
            self._show()
        return is_shown

    def open(self) -> None:
        """Show the ways from now on."""
        self.open_button.setChecked(True)

    def _show(self) -> None:
        is_open, index, value = self.open_button.isChecked(), self._page.index, self._page.value
        self._words.setVisible(is_open)
        self._rows.setVisible(is_open)
        if not is_open or index is None or value is None:
            return
        asked = (self._page.serial, value.id)
        if asked != self._asked:
            self._asked = asked
            found = ways(index, value.id)
            self._words.say(words(found, value.name))
            self._rows.say(rows(index, found, value.name))


def words(found: Ways, name: str) -> str:
    """Return the number of ways, and why there is no product or sum."""
    name = name or "this tensor"
    if not found.count:
        return f"No way leads from the loss back to {name}"
    ways = (
        formatting.count(found.count, "way") if found.count < 10**9 else f"{found.count:.1e} ways"
    )
    if not found.listed:
        return f"{ways} from {name} to the loss, over more than {MOST_USES} uses: too many to list"
    if not found.all_listed:
        size = "largest" if found.listed[0].product is not None else "first"
        return f"{ways} from {name} to the loss; the {len(found.listed)} {size} of them are"
    if found.listed[0].product is None:
        return f"{ways} from {name} to the loss; products of numbers only where all are scalars"
    return f"{ways} from {name} to the loss"


def rows(index: Index, found: Ways, name: str) -> list[RowContent]:
    """Return a row for each way, and the sum next to the gradient that torch has."""
    lines = [_row(index, way, found.seed) for way in found.listed]
    if found.total is None or found.gradient is None:
        return lines
    close = abs(found.total - found.gradient) <= CLOSE * max(abs(found.gradient), 1e-30)
    is_equal = close or found.total == found.gradient
    both_odd = found.total != found.total and found.gradient != found.gradient
    own = f"{name}.grad" if name else "the gradient"
    if is_equal or both_odd:
        lines.append(RowContent("Sum", f"= {own}", _number(found.gradient), "backward"))
    else:
        text = f"but {own} got {_number(found.gradient)}: a hook or rounding changed it"
        lines.append(RowContent("Sum", text, _number(found.total), "warning"))
    return lines


def _row(index: Index, way: Way, seed: float | None) -> RowContent:
    parts = []
    for step in way.steps:
        local = "" if way.product is None else f" {_number(step.local)}"
        parts.append(index.op(step.op).op + local)
    if seed not in (None, 1.0) and way.product is not None:
        parts.append(f"begun with {_number(seed)}")
    text = " · ".join(parts) or "it is the loss"
    return RowContent("", text, "" if way.product is None else f"= {_number(way.product)}")


def _number(number: float | None) -> str:
    return "?" if number is None else formatting.trim_zeros(number)


ENTRY = WaysPane
