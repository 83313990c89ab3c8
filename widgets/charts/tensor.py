"""Picture of a tensor to explore: from the whole of it down to single numbers.

The numbers come in regions that fit the pixels in sight, on request.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradscribe.engine.protocol.regions import (
    INFINITE,
    MAX_SIDE,
    NAN,
    Box,
    Part,
    ReadRegion,
    Region,
    matrix_shape,
)
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.theme import Theme, contrast
from gradscribe.widgets.charts.levels import LevelsView, colored, pixel_image
from gradscribe.widgets.charts.navigation import Navigation
from gradscribe.widgets.charts.view import ChartView
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.drawing.colors import rgb_of
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

NUMBERS_FROM = (44.0, 15.0)
"""Width and height in pixels of a cell from which its number is written into it."""
LEAST_CELLS = 2.0
"""Fewest rows and columns that can be zoomed to."""
LATER_MS = 30
"""Pause after a move before numbers are requested."""
WAITING = tr("Reading the numbers…")


@dataclass(frozen=True)
class TensorSubject:
    """A tensor at one moment, as far as the window knows it."""

    snapshot: int
    shape: tuple[int, ...]
    dtype: str
    name: str
    moment: str
    run: int = 0
    """Distinguishes the snapshots of different runs."""

    @property
    def is_complex(self) -> bool:
        """True if the numbers have two parts."""
        return self.dtype.startswith("complex")


class TensorChart(QWidget):
    """A slice of a tensor as a picture, which is zoomed, panned and read by hand."""

    wanted = Signal(object)
    """Carries a `ReadRegion`, whose reply `show_region` takes."""
    moved = Signal()
    """Other rows or columns are in sight, or other numbers have come."""
    read = Signal(str)
    """Describes the number under the mouse, or in the middle for moves by keyboard."""

    def __init__(self, levels: LevelsView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.levels = levels
        self.subject: TensorSubject | None = None
        self.slices: tuple[int, ...] = ()
        self.part: Part = "real"
        self.shown: str = "mean"
        """Number of a block that is shown: ``mean``, ``low`` or ``high``."""
        self.region: Region | None = None
        self.problem = ""
        """Reason for which there are no numbers."""
        self._mouse: QPointF | None = None
        self._serial = 0
        self._pending: ReadRegion | None = None
        self._summarized: object = None
        self._image: QImage | None = None
        self.view = ChartView(self._draw, self._draw_over, self)
        self.view.setAccessibleName(
            tr("Picture of the tensor: arrows move it, plus and minus zoom, Home shows all")
        )
        # Rows grow downwards, axes upwards: the vertical axis counts them below zero.
        self.navigation = Navigation(
            self.view,
            self._fitted,
            self,
            is_bounded=True,
            least=LEAST_CELLS,
            least_height=LEAST_CELLS,
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self._later: QTimer = single_shot(self, self._request, LATER_MS)
        self._connect()

    def _connect(self) -> None:
        view = self.view
        view.moved.connect(self._hover)
        view.left.connect(lambda: self._hover(None))
        view.keyed.connect(self._press)
        self.navigation.changed.connect(self._move)
        self.levels.changed.connect(self._recolor)

    # The tensor

    def show_tensor(self, subject: TensorSubject | None, why: str = "") -> None:
        """Show a tensor; None shows ``why`` there is none. The same rows stay in sight."""
        before = self.subject
        self.subject, self.problem = subject, why
        if subject is None:
            self.region, self._pending = None, None
        elif before is None or before.shape != subject.shape:
            self.slices, self.region = (0,) * max(0, len(subject.shape) - 2), None
            self.navigation.fit()
        self._image = None
        self._renew()

    def choose(self, slices: tuple[int, ...], part: Part) -> None:
        """Show another slice, or another part of complex numbers."""
        if (slices, part) != (self.slices, self.part):
            self.slices, self.part = slices, part
            self._renew()

    def show_block(self, shown: str) -> None:
        """Show ``mean``, ``low`` or ``high`` of each block."""
        self.shown = shown
        self._recolor()

    def _renew(self) -> None:
        self._pending = None
        self._request()
        self.view.refresh()
        self.moved.emit()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the slice."""
        subject = self.subject
        if subject is None or 0 in subject.shape:
            return (0, 0)
        return matrix_shape(subject.shape)

    def _key(self) -> tuple[object, ...]:
        subject = self.subject
        assert subject is not None
        return subject.run, subject.snapshot, self.slices, self.part

    # The range

    def in_sight(self) -> tuple[float, float, float, float]:
        """Return top, bottom, left and right of what is in sight, in rows and columns."""
        x, y = self.navigation.axes()
        return -y.high, -y.low, x.low, x.high

    def _fitted(self, _x: Axis | None) -> tuple[Axis, Axis] | None:
        rows, columns = self.shape
        return (Axis(0.0, columns), Axis(-rows, 0.0)) if rows and columns else None

    def cells_in_sight(self) -> Box:
        """Return the box of all cells of which a part is in sight."""
        top, bottom, left, right = self.in_sight()
        return math.floor(top), math.ceil(bottom), math.floor(left), math.ceil(right)

    def look_at(self, top: float, bottom: float, left: float, right: float) -> None:
        """Show these rows and columns, as far as there are any."""
        rows, columns = self.shape
        (top, bottom), (left, right) = _inside(top, bottom, rows), _inside(left, right, columns)
        self.navigation.show(Axis(left, right), Axis(-bottom, -top))

    def _move(self) -> None:
        self._later.start()
        self.view.refresh()
        self.moved.emit()

    # The numbers

    def _request(self) -> None:
        """Request what is in sight, unless it is there or on its way."""
        subject = self.subject
        if subject is None or 0 in self.shape:
            return
        tall, wide = self._most()
        box = self.cells_in_sight()
        block = -(-(box[1] - box[0]) // tall), -(-(box[3] - box[2]) // wide)
        is_fresh = self._summarized != self._key()
        if not is_fresh and self._has(box, block):
            return
        rows, columns = self.shape
        # A margin, so that the next moves need no new numbers.
        down = min((box[1] - box[0]) // 2, max(0, (tall * block[0] - (box[1] - box[0])) // 2))
        across = min((box[3] - box[2]) // 2, max(0, (wide * block[1] - (box[3] - box[2])) // 2))
        wider = (
            max(0, box[0] - down),
            min(rows, box[1] + down),
            max(0, box[2] - across),
            min(columns, box[3] + across),
        )
        self._serial += 1
        slices = self.slices
        request = ReadRegion(
            0, subject.snapshot, self._serial, wider, slices, (tall, wide), self.part, is_fresh
        )
        if self._pending is None:
            self._pending = request
            self.wanted.emit(request)

    def _most(self) -> tuple[int, int]:
        """Return the most rows and columns: two a pixel."""
        size = self.view.size() * self.devicePixelRatioF()
        return min(MAX_SIDE, max(16, 2 * size.height())), min(MAX_SIDE, max(16, 2 * size.width()))

    def _has(self, box: Box, block: tuple[int, int]) -> bool:
        region = self.region
        if region is None:
            return False
        top, bottom, left, right = region.box
        covers = top <= box[0] and bottom >= box[1] and left <= box[2] and right >= box[3]
        return covers and region.block[0] <= block[0] and region.block[1] <= block[1]

    def show_region(self, region: Region) -> None:
        """Show the reply to a request; replies to others are dropped."""
        pending = self._pending
        if pending is None or region.serial != pending.serial or self.subject is None:
            return
        self._pending, self.problem = None, translated(region.problem)
        if region.problem:
            self.view.refresh()
            self.moved.emit()
            return
        self.region, self._image = region, None
        if region.summary is not None:
            self.levels.show_summary(region.summary)
            self._summarized = self._key()
        self.view.refresh()
        self.moved.emit()
        self._request()

    def numbers(self) -> NDArray[np.generic] | None:
        """Return the numbers of the region, exact or of blocks."""
        region = self.region
        if region is None:
            return None
        raw = region.exact or {"low": region.low, "high": region.high}.get(self.shown, region.mean)
        return None if raw is None else raw.array()

    # The picture

    def _recolor(self) -> None:
        self._image = None
        self.view.refresh()
        self.moved.emit()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self.theme = theme
        self._recolor()

    def pixels(self) -> NDArray[np.uint8] | None:
        """Return the colours of the region, (rows, columns, 3)."""
        numbers, region = self.numbers(), self.region
        if numbers is None or region is None:
            return None
        pixels = colored(numbers, self.levels.levels, self.theme.dark)
        if region.marks is not None:
            marks = region.marks.array()
            nan, infinite = (marks & NAN) > 0, (marks & INFINITE) > 0
        elif numbers.dtype.kind == "f":
            nan, infinite = np.isnan(numbers), np.isinf(numbers)
        else:
            return pixels
        pixels[infinite] = rgb_of(self.theme.data)
        pixels[nan] = rgb_of(self.theme.backward)
        return pixels

    def words(self) -> str:
        """Return a sentence in place of the picture; empty if there is a picture."""
        subject = self.subject
        if subject is None or self.problem:
            return self.problem or tr("Nothing is selected")
        if 0 in self.shape:
            return tr("A tensor of shape {tuple} has no numbers", tuple=tuple(subject.shape))
        return WAITING if self.region is None else ""

    def _draw(self, painter: QPainter, area: QRectF) -> None:
        frame = self.draw_still(painter, area)
        self.view.box.setVisible(frame is not None)
        if frame is not None:
            self.view.place(frame)
            self.view.box.setRange(xRange=(0, 1), yRange=(0, 1), padding=0)

    def draw_still(self, painter: QPainter, area: QRectF) -> QRectF | None:
        """Draw picture and axes; return where the numbers are, None if there are only words."""
        if words := self.words():
            painter.setPen(self.theme.ink2)
            painter.setFont(self.theme.font(13))
            inside = area.adjusted(24, 8, -24, -8)
            middle = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(inside, middle, words)
            return None
        rows = self.shape[0]
        wide = painter.fontMetrics().horizontalAdvance(f"{rows:,}") + 16
        frame = area.adjusted(max(40, wide), 8, -8, -24)
        self._draw_image(painter, frame)
        self._draw_axes(painter, frame)
        self._draw_numbers(painter, frame)
        return frame

    def _target(self, frame: QRectF, box: Box) -> QRectF:
        """Return where a box of cells is drawn."""
        top, bottom, left, right = self.in_sight()
        across, down = frame.width() / (right - left), frame.height() / (bottom - top)
        return QRectF(
            frame.left() + (box[2] - left) * across,
            frame.top() + (box[0] - top) * down,
            (box[3] - box[2]) * across,
            (box[1] - box[0]) * down,
        )

    def _draw_image(self, painter: QPainter, frame: QRectF) -> None:
        region = self.region
        assert region is not None
        if self._image is None and (pixels := self.pixels()) is not None:
            self._image = pixel_image(pixels)
        if self._image is None or self._image.isNull():
            return
        top, _, left, _ = region.box
        tall, wide = region.block
        size = self._image.size()
        painter.save()
        painter.setClipRect(frame & self._target(frame, region.box))
        # The last blocks reach beyond the tensor.
        whole = (top, top + tall * size.height(), left, left + wide * size.width())
        target = self._target(frame, whole)
        # Smooth only where numbers share a pixel: else each is a box with sharp edges.
        painter.setRenderHint(
            QPainter.RenderHint.SmoothPixmapTransform,
            target.width() < size.width() or target.height() < size.height(),
        )
        painter.drawImage(target, self._image)
        painter.restore()

    def _draw_axes(self, painter: QPainter, frame: QRectF) -> None:
        top, bottom, left, right = self.in_sight()
        painter.setPen(self.theme.ink2)
        painter.setFont(self.theme.font(11))
        middle = Qt.AlignmentFlag.AlignVCenter
        for number, _ in Axis(left, right).ticks(max(2, round(frame.width() / 80))):
            cell = self._target(frame, (0, 1, int(number), int(number) + 1))
            if number == int(number) and frame.left() <= cell.center().x() <= frame.right():
                place = QRectF(cell.center().x() - 50, frame.bottom() + 3, 100, 18)
                painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, f"{int(number):,}")
        for number, _ in Axis(top, bottom).ticks(max(2, round(frame.height() / 50))):
            cell = self._target(frame, (int(number), int(number) + 1, 0, 1))
            if number == int(number) and frame.top() <= cell.center().y() <= frame.bottom():
                place = QRectF(0, cell.center().y() - 9, frame.left() - 6, 18)
                label = f"{int(number):,}"
                painter.drawText(place, Qt.AlignmentFlag.AlignRight | middle, label)

    def _draw_numbers(self, painter: QPainter, frame: QRectF) -> None:
        region, pixels = self.region, None
        if region is None or region.exact is None:
            return
        cell = self._target(frame, (0, 1, 0, 1))
        if cell.width() < NUMBERS_FROM[0] or cell.height() < NUMBERS_FROM[1]:
            return
        numbers, pixels = region.exact.array(), self.pixels()
        assert pixels is not None
        inks = (self.theme.ink, self.theme.panel)
        painter.save()
        painter.setClipRect(frame)
        painter.setFont(self.theme.font(min(13, max(9, round(cell.height() / 2)))))
        first, _, start, _ = region.box
        for row, column in self._cells():
            color = pixels[row - first, column - start].tolist()
            back = self.theme.ink.fromRgb(*color)
            painter.setPen(max(inks, key=lambda ink: contrast(ink, back)))
            text = formatting.number(numbers[row - first, column - start].item())
            place = self._target(frame, (row, row + 1, column, column + 1))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()

    def _cells(self) -> Iterator[tuple[int, int]]:
        """Yield the cells in sight of which there are exact numbers."""
        region = self.region
        assert region is not None
        top, bottom, left, right = self.cells_in_sight()
        for row in range(max(top, region.box[0]), min(bottom, region.box[1])):
            for column in range(max(left, region.box[2]), min(right, region.box[3])):
                yield row, column

    def resizeEvent(self, _happened: QResizeEvent) -> None:
        """Request numbers for the new pixels; called by Qt."""
        self._later.start()

    # Hands and eyes

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Return row and column under a point of the view; None outside."""
        frame = self.view.box.geometry()
        if self.words() or not frame.contains(at):
            return None
        top, bottom, left, right = self.in_sight()
        row = top + (at.y() - frame.top()) / frame.height() * (bottom - top)
        column = left + (at.x() - frame.left()) / frame.width() * (right - left)
        rows, columns = self.shape
        return min(rows - 1, int(row)), min(columns - 1, int(column))

    def read_cell(self, row: int, column: int) -> list[str]:
        """Describe a cell: its indices and its number, or those of its block."""
        region = self.region
        if region is None:
            return []
        top, bottom, left, right = region.box
        if not (top <= row < bottom and left <= column < right):
            return [tr("row {row:,}, column {column:,}", row=row, column=column), WAITING]
        if region.exact is not None:
            number = region.exact.array()[row - top, column - left]
            return [tr("row {row:,}, column {column:,}", row=row, column=column), str(number)]
        tall, wide = region.block
        y, x = (row - top) // tall, (column - left) // wide
        ends = (
            (top + y * tall, min(bottom, top + (y + 1) * tall) - 1),
            (left + x * wide, min(right, left + (x + 1) * wide) - 1),
        )
        lines = [f"{_span('row', *ends[0])}, {_span('column', *ends[1])}"]
        for name, raw in (("mean", region.mean), ("least", region.low), ("largest", region.high)):
            if raw is not None:
                lines.append(f"{name} {formatting.number(float(raw.array()[y, x]))}")
        bits = int(region.marks.array()[y, x]) if region.marks is not None else 0
        lines += [
            word
            for bit, word in ((NAN, tr("has NaN")), (INFINITE, tr("has infinities")))
            if bits & bit
        ]
        return lines

    def _hover(self, at: QPointF | None) -> None:
        self._mouse = at
        cell = self.cell_at(at) if at is not None else None
        self.read.emit(" · ".join(self.read_cell(*cell)) if cell is not None else "")
        self.view.viewport().update()

    def _draw_over(self, painter: QPainter) -> None:
        cell = self.cell_at(self._mouse) if self._mouse is not None else None
        if cell is None or self._mouse is None:
            return
        lines = self.read_cell(*cell)
        colors = [self.theme.surface, *[self.theme.forward] * (len(lines) - 1)]
        draw_bubble(painter, self.view.box.geometry(), self._mouse, lines, colors, self.theme)

    def _press(self, happened: QKeyEvent) -> None:
        if not self.navigation.press(happened.key()):
            return
        happened.accept()
        if not self.words():
            top, bottom, left, right = self.in_sight()
            middle = int((top + bottom) / 2), int((left + right) / 2)
            self.read.emit(" · ".join(self.read_cell(*middle)))


def _inside(low: float, high: float, size: int) -> tuple[float, float]:
    """Return a range moved into 0 to ``size``, and at least `LEAST_CELLS` wide if there are."""
    least = min(LEAST_CELLS, size)
    wide = min(float(size), max(least, high - low))
    middle = (low + high) / 2
    start = low if wide == high - low else middle - wide / 2
    start = min(max(0.0, start), size - wide)
    return start, start + wide


def _span(name: str, first: int, last: int) -> str:
    return f"{name} {first:,}" if first == last else f"{name}s {first:,}–{last:,}"
