"""The properties pane: requires_grad, retain_grad, dtype and device of a tensor, to be changed.

A change is an edit of the program's text, which the window makes.
"""

from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.code import parameter_edits, property_edits
from gradscribe.playback.code.property_edits import Property
from gradscribe.playback.lab.dtypes import bytes_in
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane

LEAST_CHOICE = 60
"""Least width of a drop-down in pixels, with its title cut."""
OLD_TEXT = tr("The text has changed since: run it first")
_TIPS: dict[Property, str] = {
    "requires_grad": tr("Edit its line and run: backward gives it a gradient, or not"),
    "retain_grad": tr("Edit the line after its own and run: its gradient stays in .grad"),
    "dtype": tr("Edit its line and run: the tensor has another dtype"),
    "device": tr("Edit its line and run: the tensor is on another device"),
}


class PropertiesPane(Pane):
    """Two check boxes and two drop-downs, each disabled with its reason in the tool tip."""

    order = 22
    ruled = True
    uses_program = True

    def __init__(self) -> None:
        super().__init__()
        self._page = InspectorPage()
        self.requires_grad = self._tick("requires_grad")
        self.retain_grad = self._tick("retain_grad")
        self.dtype, dtype = self._choice("dtype")
        self.device, device = self._choice("device")
        flow = FlowLayout(self.requires_grad, self.retain_grad, dtype, device, spacing=10)
        self.column.addLayout(flow)

    def _tick(self, changed: Property) -> QCheckBox:
        box = QCheckBox(changed, self)
        # Not toggled: that is emitted for a state that is only shown, too.
        box.clicked.connect(lambda on: self._ask(changed, "on" if on else "off"))
        return box

    def _choice(self, changed: Property) -> tuple[Choice, QWidget]:
        host = QWidget(self)
        box = Choice(host)
        box.setAccessibleName(changed)
        box.setSizeAdjustPolicy(Choice.SizeAdjustPolicy.AdjustToContents)
        box.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        # Else the longest title makes all of a narrow inspector wider than what is seen of it.
        box.setMinimumWidth(LEAST_CHOICE)
        box.activated.connect(lambda at: self._ask(changed, str(box.itemData(at))))
        label = Label("caption", changed, host).fit_text()
        # Whole in a narrow inspector: the drop-down elides its text, a label would cut it off.
        label.setMinimumWidth(0)
        label.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        label.setBuddy(box)
        hbox(host, label, box, spacing=6)
        return box, host

    def _ask(self, changed: Property, choice: str) -> None:
        page = self._page
        self.property_requested.emit(changed, choice)
        # The edit may be refused; a new run shows the new state.
        self.show_page(page)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the state of the selected tensor; hidden without one."""
        self._page = page
        value = page.made
        if value is None or page.selection is None or page.selection.kind == "module":
            return False
        source, state = page.source, page.program
        current = state.may_edit and source == state.text
        for box, changed in self._ticks():
            box.setChecked(property_edits.is_on(source, value, changed))
            reason = property_edits.refusal(value, changed)
            self._enable(box, changed, reason or ("" if current else OLD_TEXT))
        dtypes = property_edits.dtypes_of(value)
        reason = property_edits.refusal(value, "dtype") or ("" if current else OLD_TEXT)
        _fill(self.dtype, [(_titled(value, name), name) for name in dtypes], value.dtype)
        self._enable(self.dtype, "dtype", reason, _scope(value))
        _fill(self.device, [(name, name) for name in state.devices], value.device)
        if not reason and len(state.devices) < 2:
            reason = tr("This computer has no other device than {device}", device=value.device)
        self._enable(self.device, "device", reason, _scope(value))
        return True

    def _ticks(self) -> tuple[tuple[QCheckBox, Property], ...]:
        return (self.requires_grad, "requires_grad"), (self.retain_grad, "retain_grad")

    def _enable(self, box: QWidget, changed: Property, reason: str, scope: str = "") -> None:
        box.setEnabled(not reason)
        box.setToolTip(reason or scope or _TIPS[changed])


def _titled(value: Value, name: str) -> str:
    return f"{name} · {formatting.size(bytes_in(value.shape, name))}"


def _scope(value: Value) -> str:
    """Return the note that a parameter's whole module changes with it."""
    if not parameter_edits.is_path(value.name):
        return ""
    return tr(
        "Add a line and run: all of {partition} is converted",
        partition=value.name.partition(".")[0],
    )


def _fill(box: Choice, entries: list[tuple[str, str]], current: str) -> None:
    """Offer the (title, name) entries, and choose the current one."""
    if current not in [name for _, name in entries]:
        entries = [(current, current), *entries]
    if [(box.itemText(at), box.itemData(at)) for at in range(box.count())] != entries:
        box.clear()
        for title, name in entries:
            box.addItem(title, name)
    box.setCurrentIndex(box.findData(current))


ENTRY = PropertiesPane
