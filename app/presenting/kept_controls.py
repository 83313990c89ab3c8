"""The parts of the window that are shown, and those of them that stay while presenting."""

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.panels.controller import Panels
from gradscribe.app.ui.layout import Columns

STAYS = "stays_"
"""Prefix of the settings that say what stays."""
ALWAYS = ("graph", "lesson")
"""Panels that stay in any case."""
WITH_INSPECTOR = ("inspector", "values", "lines", "ledger")
"""Panels that are shown and hidden together with the inspector."""


class Quiet(Protocol):
    """A part of the window that shows less while presenting."""

    def set_quiet(self, quiet: bool) -> None:
        """Show less, or all."""


class QuietBar(Protocol):
    """The bar above the page."""

    def set_quiet(self, quiet: bool, has_layers: bool = False) -> None:
        """Show less, with the layers or without, or all."""

    def setVisible(self, visible: bool) -> None:
        """Show or hide all of it."""


@dataclass(frozen=True)
class Controls:
    """The parts of the window that come and go."""

    columns: Columns
    panels: Panels
    menu: QWidget
    top: QuietBar
    status: Quiet
    curves: Quiet
    """The offer to open the curves of a loop."""
    tools: Quiet
    """Tools and path over the graph."""
    timeline: QWidget


class KeptControls(QObject):
    """Show the parts that are wanted; while presenting only those that stay."""

    def __init__(self, settings: Settings, controls: Controls) -> None:
        super().__init__(controls.columns)
        self._settings, self._controls = settings, controls
        settings.changed.connect(self._follow)

    def _follow(self, key: str) -> None:
        if key in ("left", "below", "right", "presenting") or key.startswith(STAYS):
            self.apply()

    def apply(self) -> None:
        """Show and hide all parts as the settings say."""
        settings, parts = self._settings, self._controls
        quiet = settings.flag("presenting")

        def stays(name: str) -> bool:
            return not quiet or settings.flag(f"{STAYS}{name}")

        left, below, right = (settings.flag(name) for name in ("left", "below", "right"))
        parts.columns.set_quiet(quiet)
        parts.panels.set_quiet(quiet, lambda name: name in ALWAYS or stays(_control(name)))
        left = left and stays("program")
        parts.columns.show_parts(left, below and stays("below"), right and stays("inspector"))
        parts.menu.setVisible(stays("menu"))
        parts.top.setVisible(stays("top"))
        parts.top.set_quiet(quiet, stays("layers"))
        parts.status.set_quiet(not stays("status"))
        parts.tools.set_quiet(not stays("tools"))
        parts.curves.set_quiet(quiet)
        parts.timeline.setVisible(stays("timeline"))


def _control(panel: str) -> str:
    """Return the control that a panel belongs to; those below the program are many."""
    if panel in ("program", "timeline"):
        return panel
    return "inspector" if panel in WITH_INSPECTOR else "below"
