"""A chip on the canvas with the progress of an export and a Cancel button."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.labels import plain_label, tip
from gradscribe.widgets.base.single_shot import single_shot

APPEAR_MS = 250
BAR_WIDTH = 150
LONGEST = 28
"""Most characters of a file name; longer ones are elided."""


def chip_button(text: str = "", hint: str = "") -> QPushButton:
    """Return a small button for a chip, with a tooltip."""
    button = QPushButton(text)
    button.setProperty("quiet", True)
    button.setProperty("crumb", True)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setToolTip(hint)
    return button


class ProgressChip(QFrame):
    """A chip with the file's name, a bar and Cancel; hidden while nothing is exported."""

    cancelled = Signal()

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("chip", True)
        self.setAccessibleName(tr("Export"))
        row = hbox(self, margins=(12, 4, 6, 4), spacing=10)
        self.name = plain_label()
        self.bar = QProgressBar()
        self.bar.setFixedWidth(BAR_WIDTH)
        self.bar.setTextVisible(False)
        self.percent = plain_label(role="caption")
        self.cancel_button = chip_button(
            tr("Cancel"), tr("Cancel the export; no file is left behind")
        )
        self.cancel_button.clicked.connect(self.cancelled)
        for part in (self.name, self.bar, self.percent, self.cancel_button):
            row.addWidget(part)
        self._appear = single_shot(self, self.show, APPEAR_MS)
        self.hide()

    def begin(self, verb: str, name: str) -> None:
        """Show the chip after `APPEAR_MS`, so that short exports do not flash it."""
        short = name if len(name) <= LONGEST else f"{name[:12]}…{name[-(LONGEST - 13) :]}"
        self.name.setText(f"{verb} {short}")
        self.name.setToolTip(tip(name))
        # As wide as it gets: it would be resized while it is seen otherwise, and its parts not.
        self.show_share(1, 1)
        self.percent.setMinimumWidth(0)
        self.percent.ensurePolished()
        self.percent.setMinimumWidth(self.percent.sizeHint().width())
        self.adjustSize()
        self.show_share(0, 1)
        self._appear.start()

    def end(self) -> None:
        """Hide the chip."""
        self._appear.stop()
        self.hide()

    def show_share(self, done: int, count: int) -> None:
        """Show that ``done`` of ``count`` steps are done."""
        self.bar.setRange(0, max(1, count))
        self.bar.setValue(done)
        percent = f"{100 * done // max(1, count)} %"
        self.percent.setText(percent)
        self.setAccessibleDescription(f"{self.name.text()}, {percent}")
