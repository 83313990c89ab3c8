"""Memory of the tensors: a strip per storage, with offset and strides of its tensors."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.messages import Cells, Probed
from gradscribe.playback.lab import cells as lab_cells
from gradscribe.playback.lab.cells import Cell
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.theme import Theme, faded, mono_font, ui_font

MAX_ELEMENTS = 64
"""Maximum number of elements drawn for a storage."""
STRIP, LINE, GAP = 20.0, 18.0, 12.0
CELL = 22.0


class MemoryView(QWidget):
    """Storages with the tensors that share them; the current cell is marked in its storage."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self._groups: list[list[tuple[str, Cells]]] = []
        self._cell: Cell | None = None
        self.setAccessibleName(tr("Memory"))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.theme = theme
        self.update()

    def show_probed(self, probed: Probed) -> None:
        """Show the storages of other tensors."""
        results = [
            (lab_cells.result_key(probed, i), cells) for i, cells in enumerate(probed.results)
        ]
        named_inputs = ((cells.name, cells) for cells in (*probed.inputs, *probed.sharing))
        tensors = [*named_inputs, *results]
        groups: dict[int, list[tuple[str, Cells]]] = {}
        for key, cells in tensors:
            if cells.storage and cells.kind != "number":
                groups.setdefault(cells.storage, []).append((key, cells))
        self._groups = list(groups.values())
        self.setAccessibleDescription("; ".join(sharing_text(group) for group in self._groups))
        self.setFixedHeight(round(sum(self._height(group) for group in self._groups)) + 2)
        self.updateGeometry()
        self.update()

    def look_at(self, cell: object) -> None:
        """Mark the element of a `Cell`; None marks nothing."""
        self._cell = cell if isinstance(cell, Cell) else None
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size at which every storage fits."""
        return QSize(300, self.minimumHeight())

    def _height(self, group: Sequence[tuple[str, Cells]]) -> float:
        return LINE + STRIP + LINE * len(group) + GAP

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw each storage, and a line about each tensor that uses it."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            y = 0.0
            for group in self._groups:
                self._paint_group(painter, group, y)
                y += self._height(group)

    def _paint_group(self, painter: QPainter, group: Sequence[tuple[str, Cells]], y: float) -> None:
        theme = self.theme
        painter.setFont(ui_font(12, 600))
        painter.setPen(theme.ink)
        painter.drawText(QRectF(0, y, self.width(), LINE), sharing_text(group))
        self._paint_strip(painter, group, y + LINE)
        painter.setFont(mono_font(11))
        metrics = QFontMetricsF(painter.font())
        for number, (key, cells) in enumerate(group):
            box = QRectF(0, y + LINE + STRIP + 3 + number * LINE, self.width(), LINE)
            painter.setPen(theme.ink2)
            line = metrics.elidedText(
                stride_text(key, cells), Qt.TextElideMode.ElideRight, box.width()
            )
            painter.drawText(box, line)

    def _paint_strip(self, painter: QPainter, group: Sequence[tuple[str, Cells]], y: float) -> None:
        theme = self.theme
        size = min(max(cells.storage_size for _, cells in group), MAX_ELEMENTS)
        wide = min(CELL, (self.width() - 2) / max(1, size))
        here = self._here(group)
        painter.setFont(mono_font(9))
        for at in range(size):
            box = QRectF(at * wide, y, wide, STRIP).adjusted(0.5, 1, -0.5, -1)
            lit = at == here
            painter.setPen(QPen(theme.selection if lit else theme.line, 2.0 if lit else 1.0))
            painter.setBrush(faded(theme.selection, 0.25) if lit else theme.panel2)
            painter.drawRoundedRect(box, 3, 3)
            if wide > 15:
                painter.setPen(theme.ink2)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(at))

    def _here(self, group: Sequence[tuple[str, Cells]]) -> int | None:
        for key, cells in group:
            if self._cell is not None and self._cell.tensor == key:
                return lab_cells.storage_offset(cells, self._cell.flat)
        return None


def sharing_text(group: Sequence[tuple[str, Cells]]) -> str:
    """Return the users of a storage: ``x and y share 6 elements``."""
    names = [key.strip() for key, _ in group]
    size = max(cells.storage_size for _, cells in group)
    many = ngettext("{count:,} element", "{count:,} elements", size)
    if len(names) == 1:
        return tr("{names}: {many} of its own", names=names[0], many=many)
    return tr(
        "{join} and {names} share {many}", join=", ".join(names[:-1]), names=names[-1], many=many
    )


def stride_text(key: str, cells: Cells) -> str:
    """Return strides and offset of a tensor, both in elements."""
    strides = ", ".join(map(str, cells.stride))
    order = "contiguous" if cells.contiguous else tr("not contiguous")
    kind = tr("  numpy array") if cells.kind == "array" else ""
    return tr(
        "{strip}{kind}  stride ({strides})  offset {offset}  {order}",
        strip=key.strip(),
        kind=kind,
        strides=strides,
        offset=cells.offset,
        order=order,
    )
