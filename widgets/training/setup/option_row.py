"""Form row for an option of a part: its label, an editor for its kind, and remarks."""

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from gradscribe.engine.protocol.training import Option
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.training.setup.choice_grid import ChoiceGrid
from gradscribe.widgets.training.setup.layers_editor import LayersEditor
from gradscribe.widgets.training.setup.number_field import NumberField, number_text
from gradscribe.widgets.training.wheel_filter import ignore_wheel

LABEL = 96
"""Width of the labels in pixels."""
FILE_FILTER = tr("Tables (*.csv *.tsv *.txt *.dat *.data *.xlsx *.parquet);;All (*)")
REST_MS = 500
"""Pause in typing before a text is committed."""

Read = Callable[[object], None]
T = TypeVar("T")


class OptionRow(QWidget):
    """A labelled editor for one `Option`; ``name`` of a file option ends in ``path``."""

    edited = Signal(str, object)
    """(name, new value)"""

    def __init__(
        self, option: Option, parent: QWidget | None = None, title: str | None = None
    ) -> None:
        super().__init__(parent)
        self.option = option
        title = title or translated(option.title) or option.name.replace("_", " ")
        self.label = QLabel(title, self)
        self.label.setProperty("role", "caption")
        self.label.setToolTip(translated(option.help))
        self._grid = QGridLayout(self)
        self.editor, self._show = self._make(title)
        self.editor.setToolTip(translated(option.help))
        if not isinstance(self.editor, QPlainTextEdit):
            ignore_wheel(self.editor)
        self.editor.setAccessibleDescription(translated(option.help))
        self.label.setBuddy(self.editor)
        self._lay_out(title)
        self.set_value(option.default)

    def _lay_out(self, title: str) -> None:
        grid = self._grid
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        metrics = self.label.fontMetrics()
        wide = isinstance(self.editor, LayersEditor | QPlainTextEdit | ChoiceGrid)
        wide = wide or self.option.name.endswith("path")
        if isinstance(self.editor, QCheckBox):
            self.label.hide()
            grid.addWidget(self.editor, 0, 0, 1, 2)
        elif wide or metrics.horizontalAdvance(title) > 1.5 * LABEL:
            grid.addWidget(self.label, 0, 0, 1, 2)
            grid.addWidget(self.editor, 1, 0, 1, 2)
        else:
            self.label.setMinimumWidth(LABEL)
            grid.addWidget(self.label, 0, 0)
            grid.addWidget(self.editor, 0, 1)
        # Columns of a file are chosen in its preview.
        if self.option.kind == "columns" or (
            self.option.kind == "choices" and not self.option.choices
        ):
            self.hide()
        grid.setColumnStretch(1, 1)
        # At least as high as its contents: a long error is wrapped.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    @cached_property
    def words(self) -> Label:
        """A remark below the editor; created on demand, as few rows have one."""
        return self._below("caption", 2)

    @cached_property
    def note(self) -> Label:
        """An error below the editor; created on demand."""
        return self._below("error", 3)

    @cached_property
    def asked(self) -> Label:
        """A request for a missing value, below the editor; created on demand."""
        return self._below("caption", 4)

    def _below(self, role: str, place: int) -> Label:
        label = Label(role, "", self)
        label.hide()
        self._grid.addWidget(label, place, 0, 1, 2)
        return label

    def set_value(self, value: object) -> None:
        """Show ``value``, which may be of any type, as from a file; emits nothing."""
        self._show(value)

    def offer(self, choices: Sequence[str], words: str = "") -> None:
        """Offer ``choices`` with a remark; without choices the row is hidden.

        Only for an option of the kind ``choices``.
        """
        if isinstance(self.editor, ChoiceGrid):
            self.editor.offer(choices)
        if words or "words" in self.__dict__:
            self.words.say(words)
            self.words.setVisible(bool(words))
        self.setVisible(bool(choices))

    def show_error(self, why: str) -> None:
        """Show an error below the value; an empty text removes it."""
        if why or "note" in self.__dict__:
            self.note.say(why)
            self.note.setVisible(bool(why))

    def ask(self, what: str) -> None:
        """Show a request for a missing value below it; an empty text removes it."""
        if what or "asked" in self.__dict__:
            self.asked.say(what)
            self.asked.setVisible(bool(what))

    def _emit_value(self, value: object) -> None:
        self.edited.emit(self.option.name, value)

    # An editor for each kind

    def _make(self, title: str) -> tuple[QWidget, Read]:
        kind = self.option.kind
        if kind in ("int", "float"):
            return self._make_number(title)
        if kind == "bool":
            return self._make_flag(title)
        if kind == "choice":
            return self._make_choice(title)
        if kind == "ints":
            return self._make_layers()
        if kind == "choices":
            return self._make_choices(title)
        if kind == "points":
            return self._make_points(title)
        if kind == "columns":
            return QWidget(), lambda _value: None
        if self.option.lines > 1:
            return self._make_lines(title)
        return self._make_text(title, numbers=kind == "floats")

    def _make_number(self, title: str) -> tuple[QWidget, Read]:
        option = self.option
        is_whole, is_optional = option.kind == "int", option.default is None
        bounds = (option.low, option.high, option.log)
        field = NumberField(title, is_whole, *bounds, is_optional, option.most)
        field.edited.connect(self._emit_value)
        field.refused.connect(self.show_error)
        return field, lambda value: field.set_number(_number(value))

    def _make_flag(self, title: str) -> tuple[QWidget, Read]:
        box = QCheckBox(title)
        box.toggled.connect(self._emit_value)

        def show(value: object) -> None:
            with QSignalBlocker(box):
                box.setChecked(bool(value))

        return box, show

    def _make_choice(self, title: str) -> tuple[QWidget, Read]:
        box = Choice()
        box.setAccessibleName(title)
        box.setMinimumWidth(60)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for choice in self.option.choices:
            box.addItem(choice or "none", choice)
        if self.option.each:
            box.setPlaceholderText(tr("per layer"))
        box.activated.connect(lambda index: self._emit_value(box.itemData(index)))

        def show(value: object) -> None:
            box.setCurrentIndex(box.findData(value if isinstance(value, str) else None))

        return box, show

    def _make_layers(self) -> tuple[QWidget, Read]:
        low, high = self.option.low, self.option.high
        edit = LayersEditor(round(low or 1), round(high or 1024))
        edit.edited.connect(self._emit_value)
        return edit, lambda value: edit.set_widths(_all(int, value))

    def _make_choices(self, title: str) -> tuple[QWidget, Read]:
        grid = ChoiceGrid(self.option.choices)
        grid.setAccessibleName(title)
        grid.edited.connect(self._emit_value)
        return grid, lambda value: grid.choose(_all(str, value))

    def _make_points(self, title: str) -> tuple[QWidget, Read]:
        host, words = QWidget(), Label("caption")
        clear = QPushButton(tr("Clear"))
        clear.setProperty("crumb", True)
        clear.setToolTip(tr("Remove all points"))
        clear.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        clear.clicked.connect(lambda: self._emit_value([]))
        row = hbox(host)
        row.addWidget(words, 1)
        row.addWidget(clear)
        host.setAccessibleName(title)

        def show(value: object) -> None:
            count = len(value) if isinstance(value, list | tuple) else 0
            words.setText(tr("{count} drawn", count=count) if count else tr("click in the picture"))
            clear.setEnabled(count > 0)

        return host, show

    def _make_lines(self, title: str) -> tuple[QWidget, Read]:
        edit = QPlainTextEdit()
        edit.setAccessibleName(title)
        edit.setTabChangesFocus(True)
        edit.setFixedHeight(22 + 17 * min(self.option.lines, 12))
        rest = single_shot(edit, lambda: self._emit_value(edit.toPlainText()), REST_MS)
        edit.textChanged.connect(rest.start)

        def show(value: object) -> None:
            if edit.toPlainText() != str(value or "") and not rest.isActive():
                with QSignalBlocker(edit):
                    edit.setPlainText(str(value or ""))

        return edit, show

    def _make_text(self, title: str, numbers: bool) -> tuple[QWidget, Read]:
        edit = QLineEdit()
        edit.setAccessibleName(title)
        edit.setMinimumWidth(60)

        def take() -> None:
            if edit.isModified():
                edit.setModified(False)
                self._take_text(edit.text().strip(), numbers)

        edit.editingFinished.connect(take)

        def show(value: object) -> None:
            text = ", ".join(map(_typed, value)) if isinstance(value, list | tuple) else value
            if edit.text() != str(text or "") and not (edit.hasFocus() and edit.isModified()):
                edit.setText(str(text or ""))

        if not self.option.name.endswith("path"):
            return edit, show
        return self._with_browse(edit), show

    def _with_browse(self, edit: QLineEdit) -> QWidget:
        host, browse = QWidget(), QPushButton(tr("Browse…"))
        browse.setProperty("crumb", True)
        browse.setToolTip(tr("Choose a file"))

        def choose() -> None:
            name, _ = QFileDialog.getOpenFileName(
                self, tr("Choose a file of data"), edit.text(), FILE_FILTER
            )
            if name:
                self._emit_value(name)

        browse.clicked.connect(choose)
        row = hbox(host, spacing=6)
        row.addWidget(edit, 1)
        row.addWidget(browse)
        host.setFocusProxy(edit)
        return host

    def _take_text(self, text: str, numbers: bool) -> None:
        if not numbers:
            self._emit_value(text)
            return
        try:
            found = [float(word) for word in text.replace(";", ",").split(",") if word.strip()]
        except ValueError:
            self.show_error(tr("Numbers with commas between them, as 0.9, 0.999"))
            return
        self.show_error("")
        self._emit_value(found)


def _number(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) <= sys.float_info.max else None


def _all(kind: type[T], value: object) -> list[T]:
    """Return the items of a list, or an empty list if any has another type."""
    given = value if isinstance(value, list | tuple) else ()
    found = [item for item in given if isinstance(item, kind)]
    return found if len(found) == len(given) else []


def _typed(value: object) -> str:
    """Return the text of a field for a value of any type, as from a file."""
    number = _number(value)
    return str(value) if number is None else number_text(number)
