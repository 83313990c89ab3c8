"""The legend: meanings of the graph's shapes and colours."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QLinearGradient, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from gradscribe.playback.text import formatting as words
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, vbox
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.painting.pixmap_cache import PixmapCache
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.legend_samples import SAMPLES, DrawSample
from gradscribe.widgets.graph.paint import heat

WIDTH, HEIGHT = 40.0, 22.0
TWO_COLUMNS_FROM = 330
"""Width, times the text scale, from which the legend has two columns."""
ENTRY_HEIGHT = 32
"""Height of an entry in two columns: its text may take two lines."""


class _Sample(QWidget):
    """One drawn sample."""

    def __init__(self, draw: DrawSample, parent: QWidget) -> None:
        super().__init__(parent)
        self._draw = draw
        self._cache = PixmapCache(self, self._paint)
        self.theme = Theme.load("light")
        self.setFixedSize(QSize(round(WIDTH) + 2, round(HEIGHT) + 2))

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._cache.refresh()

    def _paint(self, painter: QPainter) -> None:
        self._draw(painter, self.theme, QRectF(1, 1, WIDTH, HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:
        self._cache.paint()


class _Scale(QWidget):
    """The colour bar of values, with its ends and zero."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.limit: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(36)
        self.setMaximumWidth(240)

    def ends(self) -> tuple[str, str, str]:
        """Return the texts under the left end, the middle and the right end."""
        if self.limit is None:
            return words.MINUS, "0", "+"
        size = f"{self.limit:.3g}"
        return words.MINUS + size, "0", "+" + size

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            bar = QRectF(1, 1, self.width() - 2, 12)
            blend = QLinearGradient(bar.topLeft(), bar.topRight())
            for step in range(17):
                share = step / 16
                blend.setColorAt(share, heat.color(2 * share - 1, 1.0, self.theme.dark))
            painter.setPen(QPen(self.theme.line, self.theme.stroke(1)))
            painter.setBrush(blend)
            painter.drawRoundedRect(bar, 3, 3)
            painter.setPen(self.theme.ink2)
            below = QRectF(1, 15, self.width() - 2, 20)
            aligns = (
                Qt.AlignmentFlag.AlignLeft,
                Qt.AlignmentFlag.AlignHCenter,
                Qt.AlignmentFlag.AlignRight,
            )
            for text, align in zip(self.ends(), aligns, strict=True):
                painter.drawText(below, align | Qt.AlignmentFlag.AlignVCenter, text)


class _Entry(QWidget):
    """A sample with its meaning."""

    def __init__(self, text: str, draw: DrawSample, parent: QWidget) -> None:
        super().__init__(parent)
        self.sample = _Sample(draw, self)
        hbox(self, self.sample, (Label("caption", text, self), 1), spacing=10)


class Legend(QWidget):
    """The legend as a panel of one or two columns; `set_range` labels the ends of its bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Legend"))
        self.heading = Heading(tr("Legend"), tr("shape first, colour second"), self)
        self._entries = [_Entry(text, draw, self) for text, draw in SAMPLES]
        self._scale = _Scale(self)
        self._scale.setAccessibleName(tr("Colours of values: orange negative, blue positive"))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(10)
        vbox(self, self.heading, self._grid, STRETCH, margins=(16, 8, 10, 6), spacing=4)
        self._columns = 0
        self._text_scale = 1.0
        self._arrange(1)
        self.set_theme(Theme.load("light"))

    def _arrange(self, columns: int) -> None:
        """Lay out the entries and the colour bar in ``columns``, read downwards."""
        if columns == self._columns:
            return
        self._columns = columns
        cells: list[QWidget] = [*self._entries, self._scale]
        deep = -(-len(cells) // columns)
        self._grid.setVerticalSpacing(2 if columns > 1 else 3)
        for number, cell in enumerate(cells):
            cell.setMinimumHeight(ENTRY_HEIGHT if columns > 1 else 0)
            self._grid.addWidget(cell, number % deep, number // deep)
        for number in range(2):
            self._grid.setColumnStretch(number, int(number < columns))

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Switch to two columns where they fit."""
        super().resizeEvent(happened)
        self._fit()

    def _fit(self) -> None:
        self._arrange(2 if self.width() >= TWO_COLUMNS_FROM * self._text_scale else 1)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        set_sheet(self, sheet(theme))
        for entry in self._entries:
            entry.sample.set_theme(theme)
        self._scale.theme = theme
        self._scale.update()
        self._text_scale = theme.scale
        if self.isVisible():
            self._fit()

    def columns(self) -> int:
        """Return the number of columns."""
        return self._columns

    def set_range(self, limit: float | None) -> None:
        """Label the ends of the colour bar -``limit`` and +``limit``; None: only the signs."""
        self._scale.limit = limit
        self._scale.update()

    def ends(self) -> tuple[str, str, str]:
        """Return the texts under the colour bar, left to right."""
        return self._scale.ends()
