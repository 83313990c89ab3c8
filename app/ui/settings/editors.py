"""Editors of settings, each by the kind of its setting."""

from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFontDatabase, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QLineEdit, QWidget

from gradscribe.app.files.documents import Refused
from gradscribe.app.preferences.kinds import (
    ChoiceKind,
    FontKind,
    LineKind,
    NumberKind,
    RecordKind,
    SwitchKind,
)
from gradscribe.app.preferences.rows import Setting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.choice import Choice

Value: TypeAlias = bool | float | str
ON, OFF = tr("On"), tr("Off")


class SettingEditor(QObject):
    """Connects the widget that edits a setting with its value."""

    edited = Signal(object)
    """The user chose a value."""
    refused = Signal(str)
    """The user typed what the setting does not accept; carries why, or nothing once it fits."""

    def __init__(self, widget: QWidget, show: Callable[[Value], None]) -> None:
        super().__init__(widget)
        self.widget, self._show = widget, show

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""
        was = self.widget.blockSignals(True)
        self._show(value)
        self.widget.blockSignals(was)


class _Amount(QDoubleSpinBox):
    """A number that the wheel changes only while it has the keyboard: the page scrolls under it."""

    def wheelEvent(self, turned: QWheelEvent) -> None:
        """Leave the wheel to the page unless focused; called by Qt."""
        if self.hasFocus():
            super().wheelEvent(turned)
        else:
            turned.ignore()


class _Titles(Choice):
    """A choice that the wheel changes only while it has the keyboard."""

    def wheelEvent(self, turned: QWheelEvent) -> None:
        """Leave the wheel to the page unless focused; called by Qt."""
        if self.hasFocus():
            super().wheelEvent(turned)
        else:
            turned.ignore()


def make_editor(
    row: Setting, check: Callable[[str], object] | None, parent: QWidget
) -> SettingEditor:
    """Return the editor of a setting; ``check`` raises `Refused` for a text that is not allowed."""
    kind = row.kind
    if isinstance(kind, SwitchKind):
        editor = _switch(parent)
    elif isinstance(kind, NumberKind):
        editor = _number(kind, parent)
    elif isinstance(kind, ChoiceKind):
        editor = _titles(dict(kind.titles), parent)
    elif isinstance(kind, FontKind):
        editor = _font(kind, parent)
    else:
        assert not isinstance(kind, RecordKind), row.key
        editor = _line(row, kind, check, parent)
    editor.widget.setAccessibleName(row.title)
    editor.widget.setAccessibleDescription(row.sentence)
    return editor


def _switch(parent: QWidget) -> SettingEditor:
    box = QCheckBox(parent)

    def show(value: Value) -> None:
        box.setChecked(bool(value))
        box.setText(ON if value else OFF)

    editor = SettingEditor(box, show)
    box.toggled.connect(lambda on: box.setText(ON if on else OFF))
    box.toggled.connect(lambda on: editor.edited.emit(on))
    return editor


def _number(kind: NumberKind, parent: QWidget) -> SettingEditor:
    box = _Amount(parent)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    box.setKeyboardTracking(False)
    box.setDecimals(kind.decimals)
    box.setRange(kind.low * kind.factor, kind.high * kind.factor)
    box.setSingleStep(kind.step)
    box.setSuffix(f" {kind.unit}" if kind.unit else "")
    editor = SettingEditor(box, lambda value: box.setValue(float(value) * kind.factor))
    box.valueChanged.connect(lambda number: editor.edited.emit(round(number / kind.factor, 6)))
    return editor


def _titles(titles: dict[str, str], parent: QWidget) -> SettingEditor:
    box = _Titles(parent)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    for value, title in titles.items():
        box.addItem(title, value)
    editor = SettingEditor(box, lambda value: box.setCurrentIndex(box.findData(value)))
    box.activated.connect(lambda at: editor.edited.emit(box.itemData(at)))
    return editor


def font_titles(kind: FontKind) -> dict[str, str]:
    """Return the families that can be chosen, by their names; the empty one is the usual font."""
    families = [
        name for name in QFontDatabase.families() if not QFontDatabase.isPrivateFamily(name)
    ]
    if kind.is_fixed:
        families = [name for name in families if QFontDatabase.isFixedPitch(name)]
    names = {name: name for name in sorted(families, key=str.casefold) if kind.accepts(name)}
    return {"": tr("As usual"), **names}


def _font(kind: FontKind, parent: QWidget) -> SettingEditor:
    editor = _titles(font_titles(kind), parent)
    box = editor.widget
    assert isinstance(box, Choice)

    def show(value: Value) -> None:
        if box.findData(value) < 0:
            box.addItem(tr("{font} (not installed here)", font=value), value)
        box.setCurrentIndex(box.findData(value))

    editor._show = show
    return editor


def _line(
    row: Setting, kind: LineKind, check: Callable[[str], object] | None, parent: QWidget
) -> SettingEditor:
    line = QLineEdit(parent)
    line.setPlaceholderText(kind.hint)
    editor = SettingEditor(line, lambda value: line.setText(str(value)))

    def finish() -> None:
        text = line.text().strip()
        problem = _problem(row, kind, check, text)
        editor.refused.emit(problem)
        if not problem:
            editor.edited.emit(text)

    line.editingFinished.connect(finish)
    return editor


def _problem(row: Setting, kind: LineKind, check: Callable[[str], object] | None, text: str) -> str:
    """Return why a text is not accepted; empty if it is."""
    if not row.accepts(text):
        return tr("This does not fit: {hint}", hint=kind.hint)
    if check is not None and text:
        try:
            check(text)
        except Refused as refusal:
            return str(refusal)
    return ""
