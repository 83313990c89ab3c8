"""The backward node pane: its place in the order of the pass, and its next functions as links."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gradscribe.playback.flow.next_functions import NextFunction, next_functions, visit
from gradscribe.playback.graph.visits import Visit
from gradscribe.playback.tape.pass_names import pass_names
from gradscribe.playback.text import formatting as texts
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import push_button, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane

MAX_ENTRIES = 24
_INDENT = 14


class BackwardNodePane(Pane):
    """The selection's ``grad_fn``: visits so far, and each next function, which a click selects."""

    order = 55
    ruled = True

    node_requested = Signal(int)
    """Select the card of a backward node, or of a leaf's value."""

    def __init__(self) -> None:
        super().__init__()
        self._order = Label("words", "", self)
        self._title = Label("caption", "", self)
        self._list = QWidget(self)
        self._column: QVBoxLayout = vbox(self._list, spacing=2)
        self.links: list[QPushButton] = []
        self._drawn: list[NextFunction] | None = None
        for widget in (self._title, self._list, self._order):
            self.column.addWidget(widget)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the node of the page's value; hidden for leaves and untracked tensors."""
        index, value, chosen = page.index, page.value, page.selection
        if index is None or value is None or chosen is None or chosen.kind == "wire":
            return False
        if value.node is None or value.node not in index.nodes:
            return False
        self._title.say(f"{index.nodes[value.node].name}.next_functions")
        self._order.say(visit_text(visit(index, value.node, page.position), pass_names(index)))
        self._show_entries(next_functions(index, value.node))
        return True

    def _show_entries(self, entries: list[NextFunction]) -> None:
        if entries == self._drawn:
            return
        self._drawn = entries
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.links = []
        for entry in entries[:MAX_ENTRIES]:
            self._column.addWidget(self._row(entry))
        if len(entries) > MAX_ENTRIES:
            more = tr("and {value:,} more", value=len(entries) - MAX_ENTRIES)
            self._column.addWidget(Label("caption", more, self._list))

    def _row(self, entry: NextFunction) -> QWidget:
        row = QWidget(self._list)
        line = QHBoxLayout(row)
        line.setContentsMargins(_INDENT * min(entry.depth, 6), 0, 0, 0)
        text = entry_text(entry)
        target = entry.target
        if target is None or entry.is_same_op:
            line.addWidget(Label("words", text, row), 1)
            return row
        tip = (
            tr("Go to {tensor}", tensor=entry.tensor)
            if entry.tensor
            else tr("Go to {name}", name=entry.name)
        )
        link = push_button(
            texts.elide_middle(text, 40), row, lambda: self.node_requested.emit(target), "link"
        )
        link.setToolTip(tip)
        link.setAccessibleName(f"{tip}: {text}")
        link.setCursor(Qt.CursorShape.PointingHandCursor)
        link.setMinimumWidth(1)
        line.addWidget(link)
        line.addStretch(1)
        self.links.append(link)
        return row


def entry_text(entry: NextFunction) -> str:
    """Return ``0  AddBackward0 of z``; the input only where it is not the first."""
    if entry.target is None:
        return tr("{slot}  None: no gradient flows there", slot=entry.slot)
    number = tr(", its input {input_nr}", input_nr=entry.input_nr) if entry.input_nr else ""
    owner = tr(" of {tensor}", tensor=entry.tensor) if entry.tensor else ""
    own = tr(", of the same op") if entry.is_same_op else ""
    return f"{entry.slot}  {entry.name}{owner}{number}{own}"


def visit_text(last: Visit | None, names: dict[int, str]) -> str:
    """Return the node's place in the order of the latest pass that ran it, and its visits."""
    if last is None:
        return tr("Not visited yet")
    name = names.get(last.run, "its pass")
    return tr(
        "Ran as number {order:,} of {nodes} in {name}, {visits} so far",
        order=last.order,
        nodes=ngettext("{count:,} node", "{count:,} nodes", last.of),
        name=name,
        visits=ngettext("{count:,} visit", "{count:,} visits", last.visits),
    )


ENTRY = BackwardNodePane
