"""The head of the inspector: title, value or gradient, a scalar's number, the slice."""

from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QSpinBox, QWidget

from gradscribe.playback.text import formatting as words
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, push_button, spin_box, vbox
from gradscribe.widgets.base.labels import Heading, Label
from gradscribe.widgets.inspector.panes import titles
from gradscribe.widgets.inspector.panes.page import InspectorPage, Side
from gradscribe.widgets.inspector.panes.pane import Pane

BUTTONS_UP_TO = 4
"""Dimensions up to this size get a button per index, bigger ones a spin box."""


class OverviewPane(Pane):
    """Title and subtitle, the Value | Gradient toggle, a big number, and the slice controls."""

    order = 0

    def __init__(self) -> None:
        super().__init__()
        self.heading = Heading(tr("Inspector"), "", self)
        tip = tr("Show the whole tensor in a window of its own, down to single numbers")
        self.explore = push_button(tr("Explore"), self, self.tensor_requested, "crumb", tip=tip)
        # In the row of the title: a narrow inspector is too narrow for a third button in the next.
        self.heading.add_button(self.explore)
        self.column.addWidget(self.heading)
        self._tabs = QWidget(self)
        row = hbox(self._tabs, margins=(0, 4, 0, 2), spacing=6)
        self._group = QButtonGroup(self)
        self.value_tab = self._tab(tr("Value"), "value", row)
        self.gradient_tab = self._tab(tr("Gradient"), "gradient", row)
        row.addStretch(1)
        self._number = Label("big", "", self).selectable()
        self._gradient = Label("big-gradient", "", self).selectable()
        self._absent = Label("absent", "", self)
        self._sum = Label("gradient", "", self)
        self.column.addWidget(self._tabs)
        for widget in (self._number, self._gradient, self._absent, self._sum):
            self.column.addWidget(widget)
        self._slices = QWidget(self)
        self._slice_rows = SliceSelector(self._slices, self)
        self.column.addWidget(self._slices)

    def _tab(self, text: str, side: Side, row: QHBoxLayout) -> QPushButton:
        tip = tr("Show the {side} of what is selected", side=side)
        button = push_button(
            text, self._tabs, lambda: self.side_requested.emit(side), "tab", tip=tip
        )
        button.setCheckable(True)
        self._group.addButton(button)
        row.addWidget(button)
        return button

    def show_page(self, page: InspectorPage) -> bool:
        """Show title, side and number; only the title for a page without a value."""
        self.heading.set_text(*titles.title(page))
        value = page.value
        literal = page.selection.literal if page.selection else ""
        self._tabs.setVisible(value is not None)
        self.explore.setVisible(value is not None)
        (self.value_tab if page.side == "value" else self.gradient_tab).setChecked(True)
        snapshot = page.snapshot() if value is not None else None
        number, absent = "", ""
        if value is None:
            number = literal
        elif snapshot is None:
            absent = titles.absence_reason(page)
        elif snapshot.numel == 1 and snapshot.data is not None:
            number = words.number(snapshot.item())
        elif snapshot.numel == 0:
            absent = tr("Empty: {shape} holds no numbers", shape=words.shape(snapshot.shape))
        pink = page.side == "gradient" and value is not None
        for label, text in (
            (self._number, "" if pink else number),
            (self._gradient, number if pink else ""),
            (self._absent, absent),
            (self._sum, titles.gradient_sum_text(page) if page.side == "gradient" else ""),
        ):
            label.say(text)
            label.setVisible(bool(text))
        shape = snapshot.shape if snapshot is not None and snapshot.data is not None else ()
        self._slice_rows.show_shape(shape if 0 not in shape else (), page.slice_at(shape))
        return True


class SliceSelector:
    """A row of index buttons, or a spin box, per leading dimension of a tensor."""

    def __init__(self, host: QWidget, pane: Pane) -> None:
        self._host = host
        self._pane = pane
        self._shape: tuple[int, ...] = ()
        self._setters: list[list[QPushButton] | QSpinBox] = []
        self._column = hbox(host)
        self._box: QWidget | None = None

    def show_shape(self, shape: tuple[int, ...], chosen: tuple[int, ...]) -> None:
        """Offer the indices of all dimensions but the last two."""
        leading = shape[:-2]
        if leading != self._shape:
            self._build(leading)
        self._host.setVisible(bool(leading))
        for setter, at in zip(self._setters, chosen, strict=True):
            if isinstance(setter, QSpinBox):
                setter.blockSignals(True)
                setter.setValue(at)
                setter.blockSignals(False)
            else:
                setter[at].setChecked(True)

    def _build(self, leading: tuple[int, ...]) -> None:
        if self._box is not None:
            self._column.removeWidget(self._box)
            self._box.deleteLater()
        self._shape, self._setters = leading, []
        self._box = QWidget(self._host)
        self._column.addWidget(self._box)
        column = vbox(self._box, margins=(0, 2, 0, 2), spacing=4)
        for dim, size in enumerate(leading):
            column.addWidget(self._row(dim, size))

    def _row(self, dim: int, size: int) -> QWidget:
        row = QWidget(self._box)
        line = hbox(row, Label("caption", tr("dim {dim}", dim=dim), row).fit_text(), spacing=4)
        if size <= BUTTONS_UP_TO:
            self._setters.append(self._buttons(dim, size, row, line))
        else:
            spin = spin_box(row)
            spin.setRange(0, size - 1)
            spin.setWrapping(True)
            spin.setAccessibleName(tr("Index of dimension {dim}", dim=dim))
            spin.valueChanged.connect(lambda at: self._pane.slice_requested.emit(dim, at))
            line.addWidget(spin)
            line.addWidget(Label("caption", tr("of {size}", size=size), row).fit_text())
            self._setters.append(spin)
        line.addStretch(1)
        return row

    def _buttons(self, dim: int, size: int, row: QWidget, line: QHBoxLayout) -> list[QPushButton]:
        group = QButtonGroup(row)
        buttons = []
        for at in range(size):
            button = QPushButton(str(at), row)
            button.setCheckable(True)
            button.setProperty("small", True)
            button.setAccessibleName(tr("Index {at} of dimension {dim}", at=at, dim=dim))
            button.clicked.connect(lambda _=False, at=at: self._pane.slice_requested.emit(dim, at))
            group.addButton(button)
            line.addWidget(button)
            buttons.append(button)
        return buttons


ENTRY = OverviewPane
