"""The inspector: details of the selection at the current position of the tape."""

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from gradscribe.engine.protocol.messages import Checked, Gradchecked, Peeked
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.explain import Explanation, explain, explain_position
from gradscribe.playback.flow.ways import Ways
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import make_scrollable, vbox
from gradscribe.widgets.base.labels import sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector import panes
from gradscribe.widgets.inspector.panes.backward_node import BackwardNodePane
from gradscribe.widgets.inspector.panes.check import CheckPane
from gradscribe.widgets.inspector.panes.explain import ExplainPane
from gradscribe.widgets.inspector.panes.page import (
    InspectorPage,
    ProgramState,
    Selection,
    TensorVersions,
    select,
)
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.ways import WaysPane

__all__ = ["Inspector", "Selection", "select"]


_RULE = "border: none; max-height: 1px; min-height: 1px;"


class Inspector(QScrollArea):
    """A column of panes that show one page: value, gradient, explanation, check and facts.

    Without a selection the page describes the latest event.
    """

    check_requested = Signal(int, int)
    """Compare a gradient with finite differences: value id, flat index."""
    gradcheck_requested = Signal(int)
    """Compare a custom Function's backward with finite differences: an op's index."""
    peek_requested = Signal(int)
    """Fetch all numbers of a snapshot."""
    lab_requested = Signal(int)
    """Show the op with this index in the shape lab."""
    line_requested = Signal(int)
    """Go to a source line."""
    tensor_requested = Signal()
    """Show the tensor of the page in a window of its own."""
    menu_requested = Signal(QPoint)
    """Open the menu of the tensor that is shown at a global point."""
    page_changed = Signal()
    ways_requested = Signal(int)
    """Find the ways of a value to the loss."""
    way_requested = Signal(int)
    """Show the next (1) or the previous (-1) way alone on the graph."""
    node_requested = Signal(int)
    """Select the card of a backward node, or of a leaf's value."""
    property_requested = Signal(str, str)
    """Change a property of the selected tensor in the text: its name, the choice."""
    start_requested = Signal(int, str, str)
    """Let the pass on a line start at a reduction of its root, or from a vector."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = InspectorPage()
        self._queue: list[tuple[str, int, int]] = []
        """Requested checks; the first of them has been sent."""
        self._is_at_ways = False
        """True until the ways that the user asked for are found, to be scrolled to."""
        self.setAccessibleName(tr("Inspector"))
        self.setMinimumWidth(200)
        body = QWidget(self)
        body.setObjectName("inspector-body")
        column = vbox(body, margins=(16, 14, 14, 16), spacing=12)
        self.panes: list[Pane] = []
        self._rules: dict[Pane, QFrame] = {}
        self._added = panes.PluginPanes()
        self._body = body
        for entry in panes.pane_classes():
            self._add(entry(), body, column)
        column.addStretch(1)
        make_scrollable(self, body)
        # Transparent by the window's style sheet: one of its own would style all panes once more.
        self.setObjectName("inspector")
        self.set_theme(Theme.load("light"))

    def add_plugin_panes(self, theme: Theme) -> None:
        """Add the panes of plug-ins below the others; a broken pane is left out."""
        column = self._body.layout()
        assert isinstance(column, QVBoxLayout)
        made = self._added.make()
        if not made:
            return
        column.takeAt(column.count() - 1)  # The stretch.
        for pane in made:
            self._add(pane, self._body, column)
        column.addStretch(1)
        self.set_theme(theme)

    def _add(self, pane: Pane, body: QWidget, column: QVBoxLayout) -> None:
        pane.setParent(body)
        if pane.ruled:
            rule = QFrame(body)
            rule.setProperty("row", "line")
            column.addWidget(rule)
            self._rules[pane] = rule
        column.addWidget(pane)
        pane.check_requested.connect(self._request_check)
        pane.gradcheck_requested.connect(self._request_gradcheck)
        pane.peek_requested.connect(self._request_peek)
        pane.line_requested.connect(self.line_requested)
        pane.lab_requested.connect(self.lab_requested)
        pane.tensor_requested.connect(self.tensor_requested)
        pane.side_requested.connect(self.show_side)
        pane.slice_requested.connect(self._choose_slice)
        pane.element_requested.connect(self._choose_element)
        pane.property_requested.connect(self.property_requested)
        pane.start_requested.connect(self.start_requested)
        if isinstance(pane, WaysPane):
            pane.ways_requested.connect(self.ways_requested)
            pane.way_requested.connect(self.way_requested)
        if isinstance(pane, BackwardNodePane):
            pane.node_requested.connect(self.node_requested)
        self.panes.append(pane)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        for _ in self.apply_theme_in_steps(theme):
            pass

    def apply_theme_in_steps(self, theme: Theme) -> Iterator[None]:
        """Use ``theme``'s colours and fonts, pane by pane; a generator with a step per pane.

        Each pane has its own style sheet: a shared one would be applied to all in one long step.
        """
        look = sheet(theme)
        set_sheet(self.verticalScrollBar(), look)
        for rule in self._rules.values():
            set_sheet(rule, f"background: {theme.line.name()}; {_RULE}")
        for pane in self.panes:
            set_sheet(pane, look)
            pane.set_theme(theme)
            yield
        self._refresh_panes()

    def set_source(self, source: str) -> None:
        """Set the program's source, to quote the line that produced the selection."""
        self._page = replace(self._page, source=source)

    def set_program(self, program: ProgramState) -> None:
        """Set the program as it is now."""
        if program == self._page.program:
            return
        self._page = replace(self._page, program=program)
        self._refresh([pane for pane in self.panes if pane.uses_program])

    def show_page(self, selection: Selection | None, tape: Tape | None, position: int) -> None:
        """Show ``selection`` of ``tape`` after ``position`` events; None: the latest event.

        Checks and fetched numbers are discarded with their tape; slice and element are reset
        when the selection changes.
        """
        page = self._page
        if tape is not page.tape:
            self._queue.clear()
            versions = None if tape is None else TensorVersions.of(tape)
            page = InspectorPage(
                tape,
                selection=page.selection,
                side=page.side,
                slices=page.slices,
                element=page.element,
                source=page.source,
                program=page.program,
                versions=versions,
                serial=page.serial + 1,
            )
        if selection != page.selection:
            page = replace(page, selection=selection, slices=(), element=0)
        last = len(tape.events) if tape is not None else 0
        page = replace(page, position=max(0, min(position, last)))
        self._page = replace(page, explanation=explanation_of(page))
        self._refresh_panes()

    def page(self) -> InspectorPage:
        """Return the page shown."""
        return self._page

    def show_side(self, side: str) -> None:
        """Show the ``value`` or the ``gradient``."""
        self._page = replace(self._page, side="gradient" if side == "gradient" else "value")
        self._refresh_panes()

    def show_ways(self) -> None:
        """Show the ways from the selection to the loss, and scroll there."""
        self._is_at_ways = True
        for pane in self.panes:
            if isinstance(pane, WaysPane):
                pane.open()
                self._scroll_to_ways(pane)

    def show_explanation(self) -> None:
        """Scroll to the explanation of the selection."""
        for pane in self.panes:
            if isinstance(pane, ExplainPane):
                self._scroll_to(pane)

    def can_check(self) -> bool:
        """Return whether a check of the selection is offered, or its reason for none."""
        return any(isinstance(pane, CheckPane) and not pane.isHidden() for pane in self.panes)

    def check(self) -> None:
        """Scroll to the checks of the selection, and begin those that are offered."""
        for pane in self.panes:
            if isinstance(pane, CheckPane):
                pane.begin()
                self._scroll_to(pane)

    def _scroll_to(self, pane: Pane) -> None:
        # A column that was hidden gets its sizes in the next event.
        QTimer.singleShot(0, pane, lambda: self.ensureWidgetVisible(pane, 0, 0))

    def _scroll_to_ways(self, pane: WaysPane) -> None:
        # The rows get their heights in the next event.
        QTimer.singleShot(0, pane, lambda: self.ensureWidgetVisible(pane, 0, 0))

    def set_ways(self, value: int, found: Ways) -> None:
        """Show the ways that were requested for a value; dropped if it is no longer selected."""
        for pane in self.panes:
            if isinstance(pane, WaysPane):
                pane.set_ways(value, found)
                if self._is_at_ways:
                    self._is_at_ways = False
                    self._scroll_to_ways(pane)

    def set_check(self, checked: Checked | Gradchecked) -> None:
        """Show the result of a requested check, and request the next in the queue."""
        page = self._page
        if isinstance(checked, Gradchecked):
            key = ("gradcheck", checked.op, 0)
            page = replace(page, gradchecked={**page.gradchecked, checked.op: checked})
        else:
            key = ("check", checked.value, checked.index)
            page = replace(page, checked={**page.checked, key[1:]: checked})
        # Results that were not requested would accumulate without limit.
        if key not in page.waiting:
            return
        self._page = replace(page, waiting=page.waiting - {key})
        self._refresh_panes()
        if key in self._queue:
            self._queue.remove(key)
            self._send_next_check()

    def set_fetched(self, peeked: Peeked) -> None:
        """Store the fetched numbers of a snapshot for this tape and show them.

        ``full`` is None if the numbers no longer exist; a reply with another shape or dtype than
        the requested snapshot counts as None too.
        """
        key = ("peek", peeked.snapshot, 0)
        tape, full = self._page.tape, peeked.full
        if key not in self._page.waiting or tape is None:
            return
        known = tape.snapshots[peeked.snapshot]
        if full is not None and (full.shape, full.dtype) != (known.shape, known.dtype):
            full = None
        self._page = replace(
            self._page,
            fetched={**self._page.fetched, peeked.snapshot: full},
            waiting=self._page.waiting - {key},
        )
        self._refresh_panes()

    def drop_pending_fetches(self) -> None:
        """Mark all pending fetches as lost, after the engine has gone."""
        for kind, number, _ in self._page.waiting:
            if kind == "peek":
                self.set_fetched(Peeked(0, number, None))

    def _request_check(self, value: int, index: int) -> None:
        """Queue a check; they run one after the other, each with a new run of the program."""
        self._enqueue(("check", value, index))

    def _request_gradcheck(self, op: int) -> None:
        self._enqueue(("gradcheck", op, 0))

    def _enqueue(self, key: tuple[str, int, int]) -> None:
        self._add_waiting(key)
        self._queue.append(key)
        if len(self._queue) == 1:
            self._send_next_check()

    def _send_next_check(self) -> None:
        if self._queue:
            kind, number, index = self._queue[0]
            if kind == "check":
                self.check_requested.emit(number, index)
            else:
                self.gradcheck_requested.emit(number)

    def _request_peek(self, snapshot: int) -> None:
        self._add_waiting(("peek", snapshot, 0))
        self.peek_requested.emit(snapshot)

    def _add_waiting(self, key: tuple[str, int, int]) -> None:
        self._page = replace(self._page, waiting=self._page.waiting | {key})
        self._refresh_panes()

    def _choose_slice(self, dim: int, at: int) -> None:
        slices = list(self._page.slices) + [0] * (dim + 1 - len(self._page.slices))
        slices[dim] = at
        self._page = replace(self._page, slices=tuple(slices))
        self._refresh_panes()

    def _choose_element(self, element: int) -> None:
        self._page = replace(self._page, element=element)
        self._refresh_panes()

    def _refresh_panes(self) -> None:
        self._refresh(self.panes)
        self.page_changed.emit()

    def _refresh(self, chosen: list[Pane]) -> None:
        page = self._page
        for pane in list(chosen):
            try:
                shown = pane.refresh(page)
            except Exception as error:
                if not self._added.refuse(pane, error):
                    raise
                self.panes.remove(pane)
                shown = False
            pane.setVisible(shown)
            if pane in self._rules:
                self._rules[pane].setVisible(shown)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the tensor of the page; called by Qt."""
        if self._page.value is not None:
            self.menu_requested.emit(event.globalPos())


def explanation_of(page: InspectorPage) -> Explanation | None:
    """Return the explanation of the selection, or of the latest event if nothing is selected."""
    chosen, index, position = page.selection, page.index, page.position
    if index is None:
        return None
    if chosen is None:
        return explain_position(index, position)
    if chosen.op is not None and chosen.op < len(index.tape.ops):
        return explain(index, op=chosen.op, position=position)
    value = page.value
    if value is None or chosen.kind == "module":
        return None
    return explain(index, value=value.id, position=position)
