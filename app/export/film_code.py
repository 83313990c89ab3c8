"""The program next to the graph in a film: the editor itself, drawn for each position."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.code.lines import line_marks
from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.graph.paint.card.cards import Layers

MIN_WIDTH, MAX_WIDTH = 260.0, 540.0
"""Limits of the column's width in units of a frame."""
MARKS_WIDTH = 150.0
"""Space for values and gradients behind the longest line."""
_LINE_NUMBERS = 44.0
MAX_MEASURED = 2_000
"""Most lines that are measured for the width."""


class FilmCode:
    """A column with the program, the line that plays, and the values and gradients of its lines."""

    def __init__(self, tape: Tape, source: str, theme: Theme, layers: Layers) -> None:
        self._tape, self._layers = tape, layers
        self._editor = editor = CodeEdit(theme)
        editor.setReadOnly(True)
        for way in (editor.setHorizontalScrollBarPolicy, editor.setVerticalScrollBarPolicy):
            way(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        editor.set_source(source, fresh=True)
        metrics = editor.look.metrics
        lines = source.split("\n")[:MAX_MEASURED]
        longest = max((metrics.horizontalAdvance(line[:200]) for line in lines), default=0.0)
        wanted = _LINE_NUMBERS + longest + MARKS_WIDTH
        self.width = min(MAX_WIDTH, max(MIN_WIDTH, wanted))
        """Wanted width, in units of a frame."""
        self._drawn: tuple[object, ...] = ()
        self._image = QImage()

    def prepare(self) -> Iterator[None]:
        """Colour the program in steps."""
        while self._editor.colour_more():
            yield

    def paint(self, painter: QPainter, area: QRectF, position: int, shown: Look) -> None:
        """Paint the program at a position into ``area``; ``shown`` has the line that plays."""
        ratio = painter.device().devicePixelRatioF()
        key = (position, shown.line, shown.phase, area.width(), area.height(), ratio)
        if key != self._drawn:
            self._drawn = key
            self._draw(area, position, shown, ratio)
        painter.drawImage(area.topLeft(), self._image)

    def _draw(self, area: QRectF, position: int, shown: Look, ratio: float) -> None:
        editor, size = self._editor, area.size().toSize()
        if editor.size() != size:
            editor.resize(size)
            # A hidden widget is laid out when it is drawn, and scrolls only after that.
            editor.grab()
        editor.set_marks(
            line_marks(self._tape, position, self._layers.values, self._layers.gradients)
        )
        editor.set_playing_line(shown.line, shown.phase)
        self._image = QImage(size * ratio, QImage.Format.Format_RGB32)
        self._image.setDevicePixelRatio(ratio)
        self._image.fill(editor.look.theme.panel)
        with QPainter(self._image) as painter:
            editor.render(painter, QPoint())

    def close(self) -> None:
        """Delete the editor."""
        self._editor.deleteLater()
