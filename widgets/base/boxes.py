"""Rows and columns of widgets, push buttons and scroll areas, each made in one call."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLayout,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QStyle,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)

STRETCH = -1
"""Marks a stretch among the parts of a row or column."""
TEXT_LEFT = 7
"""Pixels that the style sheet leaves free to the left of a field's text, beyond those of Qt."""
Part: TypeAlias = QWidget | QLayout | int | tuple[QWidget | QLayout, int | Qt.AlignmentFlag]
"""A widget or layout, alone or with its stretch or alignment; a space in pixels; or `STRETCH`."""
Margins: TypeAlias = tuple[int, int, int, int]
Box = TypeVar("Box", bound=QBoxLayout)


def hbox(
    host: QWidget | None, *parts: Part, margins: Margins = (0, 0, 0, 0), spacing: int = -1
) -> QHBoxLayout:
    """Return a row of parts, the layout of ``host`` if any; spacing -1 is that of the style."""
    return _filled(QHBoxLayout(), host, parts, margins, spacing)


def vbox(
    host: QWidget | None, *parts: Part, margins: Margins = (0, 0, 0, 0), spacing: int = -1
) -> QVBoxLayout:
    """Return a column of parts; see `hbox`."""
    return _filled(QVBoxLayout(), host, parts, margins, spacing)


def _filled(
    box: Box, host: QWidget | None, parts: tuple[Part, ...], margins: Margins, spacing: int
) -> Box:
    if host is not None:
        # Before there are parts, so that each gets its parent at once.
        host.setLayout(box)
    box.setContentsMargins(*margins)
    box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            box.addStretch(1) if part == STRETCH else box.addSpacing(part)
            continue
        item, how = part if isinstance(part, tuple) else (part, 0)
        if isinstance(item, QLayout):
            box.addLayout(item)
        else:
            box.addWidget(item)
        # Alignments are integers, too: read as a stretch they would take nearly all the width.
        if isinstance(how, Qt.AlignmentFlag):
            box.setAlignment(item, how)
        else:
            box.setStretchFactor(item, how)
    return box


class ElidedButton(QPushButton):
    """A button whose text ends in an ellipsis where the button is too narrow."""

    def shown_text(self) -> str:
        """Return the text as it is painted."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        inside = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        flags = Qt.TextFlag.TextShowMnemonic
        if self.fontMetrics().size(flags, self.text()).width() <= inside.width():
            return self.text()
        mode = Qt.TextElideMode.ElideRight
        return self.fontMetrics().elidedText(self.text(), mode, inside.width(), flags)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the part of the text that fits; called by Qt."""
        shown = self.shown_text()
        if shown == self.text():
            super().paintEvent(event)
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = shown
        with QPainter(self) as painter:
            self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)


def push_button(
    text: str,
    parent: QWidget | None,
    pressed: Callable[[], object] | SignalInstance,
    *properties: str,
    tip: str = "",
) -> QPushButton:
    """Return a button that calls or emits ``pressed``, with these style properties set."""
    button = ElidedButton(text, parent)
    button.clicked.connect(pressed)
    button.setToolTip(tip)
    for name in properties:
        button.setProperty(name, True)
    return button


def spin_box(parent: QWidget | None = None) -> QSpinBox:
    """Return a field for an integer whose text begins where that of other fields does."""
    box = QSpinBox(parent)
    # Qt ignores the left padding of a style sheet that has arrows of its own.
    box.lineEdit().setTextMargins(TEXT_LEFT, 0, 0, 0)
    return box


def make_scrollable(area: QScrollArea, inside: QWidget) -> None:
    """Let a frameless, transparent area scroll ``inside`` up and down."""
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    # Which setWidget has set.
    inside.setAutoFillBackground(False)
    area.viewport().setAutoFillBackground(False)
