"""A tensor in a window of its own: its picture, levels, slices, and what can be taken away."""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gradscribe.engine.protocol.regions import Part, ReadRegion, Region
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.boxes import hbox, push_button, spin_box, vbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.menus import open_by_key
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.levels import LevelsView
from gradscribe.widgets.charts.menu import ChartMenu, MenuEntry
from gradscribe.widgets.charts.tensor import TensorChart, TensorSubject
from gradscribe.widgets.charts.tensor_table import MOST_CELLS, TensorTable

SIZE = (980, 680)
LEAST_HEIGHT = 300
"""Least height of a window with a caption and the entries of the levels."""
TEXT_PART = 1 << 16
"""Characters of a table that are written at once."""
SHOWN = {"mean": tr("Mean"), "low": tr("Least"), "high": tr("Largest")}
PARTS = {"real": tr("Real part"), "imag": tr("Imaginary part"), "abs": tr("Magnitude")}


class TensorWindow(QWidget):
    """A window that shows a tensor at the playback position, or at one position only."""

    wanted = Signal(object)
    """Carries a `ReadRegion`; `show_region` takes the reply."""
    follow_changed = Signal(bool)
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.theme = Theme.load("light")
        self._reading: TensorTable | None = None
        """The table that is being read."""
        self._then: Callable[[], None] | None = None
        self._next_piece = single_shot(self, self._ask_piece)
        self._text = ""
        """The table that was read last, until it is taken."""
        self.levels = LevelsView(self)
        self.chart = TensorChart(self.levels, self)
        self.menu = ChartMenu(
            self,
            self.chart.view,
            self.chart.navigation,
            enlarges=False,
            pictured=self,
            fetch=self._fetch,
        )
        self.title, self.caption = Label("section", "", self), Label("caption", "", self)
        self.readout = Label("caption", "", self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.caption.setWordWrap(True)
        self.readout.setAccessibleName(tr("Number under the mouse"))
        self._spins: list[QSpinBox] = []
        self._make_controls()
        self._lay_out()
        self._connect()
        self.setAutoFillBackground(True)
        resize_within_screen(self, *SIZE)

    def _make_controls(self) -> None:
        self.part = self._choice(tr("Part of the complex numbers"), PARTS)
        self.block = self._choice(tr("Number shown of each block"), SHOWN)
        self.follow = QCheckBox(tr("Follow playback"), self)
        self.follow.setChecked(True)
        self.follow.setToolTip(tr("Show the tensor at the position of the playback"))
        self.low, self.high = self._entry(tr("Lower level")), self._entry(tr("Upper level"))
        self.reset = push_button(
            tr("Reset levels"),
            self,
            self.levels.reset,
            tip=tr("Colours around zero, for all numbers"),
        )
        self.whole = push_button(
            tr("Show all"), self, self.chart.navigation.fit, tip=tr("The whole slice (Home)")
        )

    def _choice(self, name: str, items: dict[str, str]) -> Choice:
        box = Choice(self)
        for key, words in items.items():
            box.addItem(words, key)
        box.setAccessibleName(name)
        box.setToolTip(name)
        return box

    def _entry(self, name: str) -> QLineEdit:
        entry = QLineEdit(self)
        entry.setAccessibleName(name)
        entry.setToolTip(name)
        entry.setFixedWidth(84)
        entry.editingFinished.connect(self._enter_levels)
        return entry

    def _lay_out(self) -> None:
        self._slices: QHBoxLayout = hbox(None, spacing=6)
        bar = hbox(None, spacing=8)
        bar.addWidget(self.part)
        bar.addWidget(self.block)
        bar.addWidget(self.whole)
        bar.addLayout(self._slices)
        bar.addStretch(1)
        bar.addWidget(self.follow)
        entries = hbox(None, spacing=8)
        entries.addWidget(self.readout, 1)
        entries.addWidget(self.low)
        entries.addWidget(self.high)
        entries.addWidget(self.reset)
        picture = hbox(None, spacing=0)
        picture.addWidget(self.chart, 1)
        picture.addWidget(self.levels)
        rows: QVBoxLayout = vbox(self, margins=(16, 12, 12, 12), spacing=8)
        # A minimum size would be sent to the window system; not every one accepts it.
        rows.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        rows.addWidget(self.title)
        rows.addWidget(self.caption)
        rows.addLayout(bar)
        rows.addLayout(picture, 1)
        rows.addLayout(entries)

    def _connect(self) -> None:
        self.chart.wanted.connect(self.wanted)
        self.chart.moved.connect(self._describe)
        self.chart.read.connect(self.readout.say)
        self.said.connect(self.readout.say)
        self.levels.changed.connect(self._show_levels)
        self.part.currentIndexChanged.connect(self._choose)
        self.block.currentIndexChanged.connect(
            lambda _at: self.chart.show_block(str(self.block.currentData()))
        )
        self.follow.toggled.connect(self.follow_changed)
        self.menu.said.connect(self.said)

    # The tensor

    def show_tensor(self, subject: TensorSubject | None, why: str = "") -> None:
        """Show a tensor at one moment; None shows ``why`` there is none at this moment."""
        before = self.chart.subject
        if subject == before and not why:
            return
        if subject is not None:
            self.title.say(subject.name)
            self.title.setToolTip(subject.name)
            self.setWindowTitle(subject.name)
            self.setAccessibleName(subject.name)
            if before is None or before.shape != subject.shape or not self._spins:
                self._make_slices(subject.shape[:-2])
            self.part.setVisible(subject.is_complex)
        self.chart.show_tensor(subject, why)
        self._describe()

    def _make_slices(self, sizes: tuple[int, ...]) -> None:
        for spin in self._spins:
            self._slices.removeWidget(spin)
            spin.hide()
            spin.deleteLater()
        self._spins = []
        for dimension, size in enumerate(sizes):
            spin = spin_box(self)
            spin.setRange(0, max(0, min(size, (1 << 31) - 1) - 1))
            spin.setPrefix(tr("dim {dimension}: ", dimension=dimension))
            spin.setSuffix(tr(" of {size:,}", size=size))
            spin.setAccessibleName(
                tr("Index of dimension {dimension}, of {size}", dimension=dimension, size=size)
            )
            spin.valueChanged.connect(self._choose)
            self._slices.addWidget(spin)
            self._spins.append(spin)

    def _choose(self) -> None:
        slices = tuple(spin.value() for spin in self._spins)
        self.chart.choose(slices, cast("Part", self.part.currentData()))

    def show_region(self, region: Region) -> None:
        """Take the reply to a request of the picture or of a table."""
        if region.serial >= 0:
            self.chart.show_region(region)
            if region.summary is not None:
                self._show_levels()
            return
        reading = self._reading
        asked = reading.asked if reading is not None else None
        if reading is None or asked is None:
            return
        # The reply to an earlier table may come last.
        if (asked.serial, asked.snapshot) != (region.serial, region.snapshot):
            return
        if not reading.take(region):
            self._drop_table()
            self.said.emit(translated(region.problem) or tr("The numbers are gone"))
        elif reading.asked is not None:
            # In a turn of its own: a table at hand would be read in a single, long one.
            self._next_piece.start()
        elif (then := self._then) is not None:
            self._reading, self._then, self._text = None, None, reading.text()
            then()

    def _describe(self) -> None:
        chart, subject = self.chart, self.chart.subject
        region = chart.region
        is_blocks = region is not None and region.exact is None
        self.block.setVisible(is_blocks and not chart.problem)
        if subject is None:
            self.caption.say(chart.words())
            return
        sizes = " × ".join(f"{size:,}" for size in subject.shape) or tr("a single number")
        words = [sizes, subject.dtype, subject.moment]
        if region is not None and not chart.words():
            if is_blocks:
                words.append(
                    tr(
                        "blocks of {block:,} × {block_2:,}",
                        block=region.block[0],
                        block_2=region.block[1],
                    )
                )
            if region.sampled:
                words.append(tr("blocks from a sample"))
        words += self._warnings
        self.caption.say(" · ".join(word for word in words if word))

    @property
    def _warnings(self) -> list[str]:
        summary = self.levels.summary
        if summary is None or self.chart.words():
            return []
        words = []
        if summary.nan:
            words.append(tr("{nan:,} NaN (pink)", nan=summary.nan))
        if summary.inf:
            words.append(f"{_infinities(summary.inf)} (green)")
        if summary.low == summary.high and summary.counts.shape[0]:
            words.append(
                tr("all finite numbers are {number}", number=formatting.number(summary.low))
            )
        if not summary.counts.shape[0]:
            words.append(tr("no finite numbers"))
        if summary.sampled:
            words.append(tr("histogram of a sample"))
        return words

    # Levels

    def _show_levels(self) -> None:
        for entry, level in zip((self.low, self.high), self.levels.levels, strict=True):
            if not entry.hasFocus() or not entry.isModified():
                entry.setText(f"{level:.6g}")
        self._describe()

    def _enter_levels(self) -> None:
        if not (self.low.isModified() or self.high.isModified()):
            return
        for entry in (self.low, self.high):
            entry.setModified(False)
        texts = self.low.text(), self.high.text()
        try:
            low, high = (float(text.replace("−", "-")) for text in texts)
        except ValueError:
            self.said.emit(
                tr(
                    "Levels are two numbers, not {texts!r} and {texts_2!r}",
                    texts=texts[0][:20],
                    texts_2=texts[1][:20],
                )
            )
            return
        if not self.levels.set_levels(low, high):
            self.said.emit(tr("The lower level has to be less than the upper one, both finite"))

    # What can be taken away

    def entries(self) -> Sequence[MenuEntry]:
        """Return what the menu offers besides what every chart has."""
        follows = self.follow.isChecked()
        return (
            MenuEntry(tr("Reset levels"), self.levels.reset),
            MenuEntry(tr("Follow playback"), lambda: self.follow.setChecked(not follows), follows),
        )

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw picture and levels without what the mouse points at."""
        painter.save()
        self.chart.draw_still(painter, area.adjusted(0, 0, -self.levels.width(), 0))
        painter.restore()
        painter.translate(area.right() - self.levels.width(), area.top())
        wide, high = self.levels.width(), area.height()
        if not self.chart.words():
            self.levels.draw_still(painter, QRectF(0, 0, wide, high))

    def sentences(self) -> Sequence[str]:
        """Return what the tensor is, and the number that is pointed at."""
        words = (self.title.said(), self.caption.said(), self.readout.said())
        return [text for text in words if text]

    def table(self) -> Iterator[str]:
        """Return the numbers in sight, as they were read last, as parts of a CSV file, once."""
        text, self._text = self._text, ""
        return (text[start : start + TEXT_PART] for start in range(0, len(text), TEXT_PART))

    def _fetch(self, then: Callable[[], None]) -> None:
        """Read the numbers in sight from the engine; then call ``then``."""
        subject = self.chart.subject
        if subject is None or self.chart.words():
            self.said.emit(self.chart.words())
            return
        table_of = ReadRegion(
            0, subject.snapshot, 0, (0, 0, 0, 0), self.chart.slices, (1024, 1024), self.chart.part
        )
        reading = TensorTable(table_of, self.chart.cells_in_sight())
        if reading.is_too_large:
            self.said.emit(
                tr(
                    "A table has at most {most_cells:,} numbers: zoom in first",
                    most_cells=MOST_CELLS,
                )
            )
            return
        self._reading, self._then = reading, then
        self.said.emit(tr("Reading the numbers…"))
        self.wanted.emit(reading.asked)

    def _ask_piece(self) -> None:
        if self._reading is not None and self._reading.asked is not None:
            self.wanted.emit(self._reading.asked)

    def _drop_table(self) -> None:
        self._reading, self._then = None, None

    # Looks

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self.theme = theme
        set_sheet(self, sheet(theme))
        # After the sheet, which would bring an earlier palette back.
        palette = self.palette()
        palette.setColor(self.backgroundRole(), theme.panel)
        self.setPalette(palette)
        self.chart.set_theme(theme)
        self.levels.set_theme(theme)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Leave a low window to the picture; called by Qt."""
        super().resizeEvent(happened)
        is_high = self.height() >= LEAST_HEIGHT
        self.title.setWordWrap(is_high)
        for part in (self.caption, self.readout, self.low, self.high, self.reset):
            part.setVisible(is_high)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Close with Escape; called by Qt."""
        if happened.key() == Qt.Key.Key_Escape:
            self.close()
        elif not open_by_key(happened):
            super().keyPressEvent(happened)


def _infinities(count: int) -> str:
    return ngettext("{count:,} infinity", "{count:,} infinities", count)
