"""Colours and fonts of the code editor at one text size, computed once."""

from typing import Literal, NamedTuple

from PySide6.QtGui import QColor, QFontMetricsF

from gradscribe.widgets.base.theme import Theme, mono_font, ui_font

Phase = Literal["", "forward", "backward", "update"]

TEXT_PX = 13
MIN_PX, MAX_PX = 8, 48
BAR = 3
"""Width in pixels of the bar at the left of a highlighted row."""


class Band(NamedTuple):
    """Colours of a highlighted row: ``bar`` at its left edge, ``fill`` as background."""

    fill: QColor
    bar: QColor
    phase: Phase


class EditorStyle:
    """Colours, fonts and metrics of the editor; recreated for another theme or text size."""

    def __init__(self, theme: Theme, px: int) -> None:
        self.theme = theme
        self.px = px
        scale = px / TEXT_PX
        self.font = mono_font(px)
        self.number_font = mono_font(11 * scale)
        self.value_font = ui_font(12 * scale, 500)
        self.active_font = ui_font(12 * scale, 650)
        self.gradient_font = ui_font(11.5 * scale, 600)
        self.metrics = QFontMetricsF(self.font)
        self.number_metrics = QFontMetricsF(self.number_font)
        self.value_metrics = QFontMetricsF(self.active_font)
        self.gradient_metrics = QFontMetricsF(self.gradient_font)
        self.gap = round(24.5 * scale) - self.metrics.height()
        """Pixels between two lines of text, so that 13 px text has rows 25 px high."""
        self.error = theme.error
        self.error_soft = theme.error_soft

    def band(self, phase: Phase) -> Band:
        """Return the highlight of the playing line."""
        theme = self.theme
        if phase == "backward":
            return Band(theme.backward_soft, theme.backward, phase)
        if phase == "update":
            return Band(theme.parameter_soft, theme.parameter, phase)
        return Band(theme.forward_soft, theme.forward, phase)

    def error_band(self) -> Band:
        """Return the highlight of a line with an error."""
        return Band(self.error_soft, self.error, "")

    def sheet(self) -> str:
        """Return the editor's style sheet, which overrides the window's."""
        theme = self.theme
        return (
            "QPlainTextEdit, QPlainTextEdit:focus, QPlainTextEdit:hover {"
            f" background: {theme.panel.name()}; color: {theme.ink.name()}; border: none;"
            " border-radius: 0px; padding: 0px;"
            f" selection-background-color: {theme.selection_soft.name()};"
            f" selection-color: {theme.ink.name()}; }}"
        )
