"""The style sheet of the window, filled with the theme's tokens.

Besides the plain classes it knows dynamic properties, set with ``widget.setProperty``:

* ``panel=True`` on a QFrame: a rounded panel with a hairline;
* ``chip=True`` on a QFrame: a small panel on the canvas; ``crumb=True``: a small button in it;
** ``notice=True`` on a QFrame: a notification strip;
* ``bar=True`` on a QWidget or QFrame: a strip over the whole width, such as the transport;
* ``primary=True`` on a button: the one blue button; ``quiet=True``: a button without a border;
* ``role`` on a QLabel: ``title``, ``caption``, ``mono``, ``gradient``, ``heading``,
  ``error``, ``warning``;
** ``cards=True`` on a list whose rows stand apart, each in its own frame;
* ``bare=True`` on a text edit or view inside a panel that needs no border.

It sets no font for all widgets, so that an application font and a widget's own font keep working.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import shiboken6

if TYPE_CHECKING:
    # Commands know themes, and load no widgets.
    from PySide6.QtWidgets import QWidget

TAB_LEFT = 8
"""Pixels left of the first title of a `CompactTabs`."""

_deferred: dict[int, tuple[QWidget, str]] | None = None
"""Sheets of widgets that wait for that of the application, by the id of the widget; None: none
waits. Qt parses a widget's sheet, and styles all that is in it, when it is set and again when the
application gets its own."""


def fill(tokens: dict[str, str], mono: Sequence[str], scale: float = 1.0) -> str:
    """Return the style sheet.

    Args:
        tokens: names to colour codes.
        mono: monospaced families, best first.
        scale: factor of all type sizes.
    """
    icons = str(files("gradscribe.assets").joinpath("icons")).replace("\\", "/")
    text = _SHEET
    for name, code in sorted(tokens.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(f"@{name}@", code)
    text = text.replace("@icons@", icons).replace("@tab_left@", str(TAB_LEFT))
    text = text.replace("@mono@", ", ".join(f'"{family}"' for family in mono))
    return re.sub(
        r"font-size: (\d+)px", lambda found: f"font-size: {round(int(found[1]) * scale)}px", text
    )


def set_sheet(widget: QWidget, sheet: str) -> None:
    """Set the style sheet of a widget, or let it wait until `set_deferred_sheets`."""
    if _deferred is None:
        widget.setStyleSheet(sheet)
    else:
        _deferred[id(widget)] = widget, sheet


def defer_sheets() -> None:
    """Let sheets wait until `set_deferred_sheets`."""
    global _deferred
    _deferred = {}


def set_deferred_sheets() -> None:
    """Set the sheets that wait, each once, and all later ones at once."""
    global _deferred
    deferred, _deferred = _deferred or {}, None
    for widget, sheet in deferred.values():
        if shiboken6.isValid(widget):
            widget.setStyleSheet(sheet)


_SHEET = """
QMainWindow, QDialog { background: @panel2@; }

QFrame[panel="true"] { background: @panel@; border: 1px solid @line@; border-radius: 10px; }
QFrame[notice="true"] {
  background: @selection_soft@; border: 1px solid @selection@; border-radius: 10px;
}
QFrame[chip="true"] { background: @panel@; border: 1px solid @line@; border-radius: 8px; }
QWidget[bar="true"] { background: @panel@; }

QLabel { background: transparent; border: none; }
QLabel[role="heading"] { font-size: 15px; font-weight: 650; }
QLabel[role="title"] { font-size: 13px; font-weight: 600; }
QLabel[role="caption"] { font-size: 12px; color: @ink2@; }
QLabel[role="mono"] { font-family: @mono@; font-size: 12px; }
QLabel[role="gradient"] { color: @backward@; font-weight: 600; }
QLabel[role="error"] { font-size: 12px; color: @error@; font-weight: 600; }
QLabel[role="warning"] { font-size: 12px; color: @data@; font-weight: 600; }
QLabel:disabled { color: @disabled@; }

QPushButton, QToolButton {
  background: @panel@; color: @ink@; border: 1px solid @line@; border-radius: 8px;
  padding: 5px 13px; font-weight: 500; min-height: 18px;
}
QPushButton:hover, QToolButton:hover { background: @panel2@; border-color: @line_strong@; }
QPushButton:pressed, QToolButton:pressed { background: @line@; }
QPushButton:checked, QToolButton:checked {
  background: @selection_soft@; border-color: @selection@; color: @ink@;
}
QPushButton:focus, QToolButton:focus { border: 2px solid @selection@; padding: 4px 12px; }
QPushButton:disabled, QToolButton:disabled { color: @disabled@; background: @panel2@; }
QPushButton[primary="true"] {
  background: @selection@; border-color: @selection@; color: @on_selection@; font-weight: 600;
}
QPushButton[primary="true"]:hover { background: @selection_hover@; }
QPushButton[primary="true"]:pressed { background: @forward@; }
QPushButton[primary="true"]:focus { border: 2px solid @ink@; }
QPushButton[primary="true"]:disabled {
  background: @line@; border-color: @line@; color: @disabled@;
}
QPushButton[quiet="true"], QToolButton[quiet="true"] {
  background: transparent; border-color: transparent;
}
QPushButton[quiet="true"]:hover, QToolButton[quiet="true"]:hover { background: @panel2@; }
QPushButton[quiet="true"]:focus, QToolButton[quiet="true"]:focus { border-color: @selection@; }
QPushButton[crumb="true"] { padding: 2px 7px; min-height: 16px; color: @ink2@; font-weight: 500; }
QPushButton[crumb="true"]:hover { color: @ink@; }
QPushButton[crumb="true"]:focus { padding: 1px 6px; }
QToolButton[slim="true"] { padding: 0px 6px; min-height: 16px; }
QToolButton[slim="true"]:focus { padding: 0px 5px; }
QToolButton::menu-indicator { image: none; }
QLineEdit QToolButton, QLineEdit QToolButton:hover, QLineEdit QToolButton:focus {
  background: transparent; border: none; padding: 0px; min-height: 0px;
}
QFileDialog QToolButton { padding: 3px; }
QFileDialog QToolButton:focus { padding: 2px; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit, QTextEdit {
  background: @surface@; color: @ink@; border: 1px solid @line@; border-radius: 8px;
  padding: 4px 8px; selection-background-color: @selection@; selection-color: @on_selection@;
}
QLineEdit { lineedit-clear-button-icon: url("@icons@/clear.svg"); }
QLineEdit:hover, QSpinBox:hover, QDoubleSpinBox:hover, QComboBox:hover {
  border-color: @line_strong@;
}
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
  border: 2px solid @selection@; padding: 3px 7px;
}
QPlainTextEdit:focus, QTextEdit:focus { border-color: @selection@; }
QAbstractItemView QLineEdit, QAbstractItemView QLineEdit:focus {
  padding: 0px 4px; border-radius: 4px;
}
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
  color: @disabled@; background: @panel2@;
}
QPlainTextEdit[bare="true"], QTextEdit[bare="true"], QAbstractItemView[bare="true"] {
  border: none; border-radius: 0px; padding: 0px; background: transparent;
}
QComboBox { combobox-popup: 0; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url("@icons@/chevron-down.svg"); width: 12px; height: 12px; }
QComboBoxPrivateContainer { border: 1px solid @line_strong@; background: @surface@; }
QComboBox QAbstractItemView {
  border: 1px solid @line_strong@; border-radius: 8px; padding: 4px; color: @ink@;
  background: @surface@; outline: none;
}
QSpinBox, QDoubleSpinBox { padding-right: 20px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
  border: none; background: transparent; width: 18px;
}
QAbstractSpinBox::up-arrow { image: url("@icons@/chevron-up.svg"); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url("@icons@/chevron-down.svg"); width: 10px; height: 10px; }

QCheckBox, QRadioButton { background: transparent; spacing: 8px; }
QCheckBox::indicator, QRadioButton::indicator {
  width: 15px; height: 15px; border: 1px solid @line_strong@; background: @surface@;
}
QCheckBox::indicator { border-radius: 4px; }
QRadioButton::indicator { border-radius: 8px; }
QCheckBox::indicator:checked {
  background: @selection@; border-color: @selection@; image: url("@icons@/@check@.svg");
}
QAbstractItemView::indicator {
  width: 13px; height: 13px; border: 1px solid @line_strong@; border-radius: 4px;
  background: @surface@;
}
QAbstractItemView::indicator:checked {
  background: @selection@; border-color: @selection@; image: url("@icons@/@check@.svg");
}
QRadioButton::indicator:checked { border: 5px solid @selection@; width: 7px; height: 7px; }
QCheckBox:focus, QRadioButton:focus { color: @selection@; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border-color: @selection@; }

QSlider { background: transparent; min-height: 20px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @line@; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: @selection@; }
QSlider::handle:horizontal {
  width: 14px; height: 14px; margin: -7px 0px; border-radius: 9px;
  background: @surface@; border: 2px solid @selection@;
}
QSlider::handle:horizontal:hover, QSlider:focus::handle:horizontal { background: @selection_soft@; }
QSlider::groove:vertical { width: 4px; border-radius: 2px; background: @line@; }
QSlider::add-page:vertical { width: 4px; border-radius: 2px; background: @selection@; }
QSlider::handle:vertical {
  width: 14px; height: 14px; margin: 0px -7px; border-radius: 9px;
  background: @surface@; border: 2px solid @selection@;
}
QSlider:disabled::sub-page { background: @line@; }
QSlider::handle:disabled { border-color: @line@; }

QMenuBar { background: @panel@; border-bottom: 1px solid @line@; padding: 2px 6px; }
QMenuBar::item { background: transparent; padding: 5px 9px; border-radius: 6px; }
QMenuBar::item:selected { background: @selection_soft@; }
QMenu { background: @panel@; border: 1px solid @line_strong@; padding: 5px; }
QMenu::item { padding: 6px 26px 6px 22px; border-radius: 6px; }
QMenu::item:selected { background: @selection_soft@; color: @ink@; }
QMenu::item:disabled { color: @disabled@; }
QMenu::separator { height: 1px; background: @line@; margin: 5px 8px; }
QMenu::indicator { width: 12px; height: 12px; left: 6px; }
QToolTip {
  background: @ink@; color: @surface@; border: none; padding: 5px 8px; font-size: 12px;
}

QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 12px; margin: 0px; }
QScrollBar:horizontal { height: 12px; margin: 0px; }
QScrollBar::handle { background: @line@; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @line_strong@; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }

QTableView, QTreeView, QListView {
  background: @panel@; alternate-background-color: @panel2@; border: 1px solid @line@;
  border-radius: 8px; gridline-color: @line@; outline: none;
  selection-background-color: @selection_soft@; selection-color: @ink@;
}
QTableView::item, QTreeView::item, QListView::item { padding: 4px 6px; border: none; }
QTableView::item:hover, QTreeView::item:hover, QListView::item:hover { background: @panel2@; }
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected {
  background: @selection_soft@; color: @ink@;
}
QTableView:focus, QTreeView:focus, QListView:focus { border-color: @selection@; }
QListView[cards="true"]::item {
  border: 1px solid @line@; border-radius: 8px; margin: 0px 8px 6px 0px; padding: 0px;
}
QListView[cards="true"]::item:hover { border-color: @line_strong@; }
QListView[cards="true"]::item:selected {
  border: 2px solid @selection@; background: transparent;
}
QHeaderView { background: transparent; border: none; }
QHeaderView::section {
  background: transparent; color: @ink2@; border: none; border-bottom: 1px solid @line@;
  padding: 4px 6px; font-weight: 500;
}
QTableCornerButton::section { background: transparent; border: none; }

QSplitter::handle { background: transparent; }
QSplitter::handle:horizontal { width: 12px; }
QSplitter::handle:vertical { height: 12px; }
QSplitter::handle:hover { background: @line@; }

QDockWidget { font-weight: 600; }
QDockWidget::title { background: @panel2@; padding: 6px 10px; }
QMainWindow::separator { background: transparent; width: 12px; height: 12px; }
QMainWindow::separator:hover { background: @line@; }
QStatusBar { background: @panel@; color: @ink2@; border-top: 1px solid @line@; }
QStatusBar::item { border: none; }
QToolBar { background: @panel@; border: none; border-bottom: 1px solid @line@; spacing: 8px; }

QTabWidget::pane { border: none; }
QTabWidget[compact="true"]::tab-bar { left: @tab_left@px; }
#inspector, #inspector-body { background: transparent; border: none; }
QTabBar { background: transparent; }
QTabBar::tab {
  background: transparent; color: @ink2@; border: 1px solid transparent; border-radius: 8px;
  padding: 5px 12px; margin: 2px; font-weight: 500;
}
QTabBar::tab:hover { background: @panel2@; color: @ink@; }
QTabBar::tab:selected { background: @selection_soft@; border-color: @selection@; color: @ink@; }
QTabBar::tab:focus { border-color: @ink2@; }

QProgressBar {
  background: @line@; border: none; border-radius: 3px; max-height: 6px; color: transparent;
}
QProgressBar::chunk { background: @selection@; border-radius: 3px; }
QGroupBox {
  border: 1px solid @line@; border-radius: 10px; margin-top: 10px; padding: 12px; font-weight: 600;
}
QGroupBox::title { subcontrol-origin: margin; left: 12px; padding: 0px 4px; }
"""
