"""The menu of a chart: views of it, and everything that can be taken out of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QBuffer, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
)
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.menus import place_in
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.base.time_slices import TimeSlices
from gradscribe.widgets.charts.navigation import Navigation
from gradscribe.widgets.charts.view import ChartView
from gradscribe.widgets.graph.paint.svg import DPI, fix_svg
from gradscribe.widgets.graph.snapshot import png_bytes
from gradscribe.widgets.plots.numbers_window import ChartNumbers
from gradscribe.widgets.plots.plot import ENLARGE_KEYS, TABLE_KEY

SCALE = 2
"""Pixels of a saved picture per pixel of the screen."""
TURN_MS = 12
LONGEST_FILE_NAME = 60
"""Most characters of the name that is suggested for a file."""
MOST_COPIED = 50 << 20
"""Most characters of a table that go to the clipboard; a file takes any number."""


@dataclass(frozen=True)
class MenuEntry:
    """An entry of a chart's menu; ``is_on`` is None unless it can be switched on and off."""

    name: str
    do: Callable[[], object]
    is_on: bool | None = None


class MenuChart(Protocol):
    """A plot with a menu."""

    @property
    def theme(self) -> Theme:
        """Return the theme in use."""

    def accessibleName(self) -> str:
        """Return the title."""

    def entries(self) -> Sequence[MenuEntry]:
        """Return what the menu offers besides what every chart has."""

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw the chart without what the mouse points at."""

    def sentences(self) -> Sequence[str]:
        """Return a summary of what is in sight."""

    def table(self) -> Iterator[str]:
        """Yield the numbers in sight as parts of a CSV file."""


class ChartMenu(QObject):
    """Opens the menu of a chart, and shows, saves and copies its picture and numbers.

    ``chart`` is the widget itself, which is a `MenuChart`, too; ``pictured`` is the widget whose
    picture is taken, by default the parent of ``view``. ``fetch`` calls its argument once the
    chart's table has the numbers in sight, by default at once; never if they cannot be read.
    """

    said = Signal(str)
    """A sentence for the user: where a file was written, or why not."""
    enlarged = Signal()
    """The user wishes to see the chart in a window of its own."""

    def __init__(
        self,
        chart: MenuChart,
        view: ChartView,
        navigation: Navigation,
        *,
        enlarges: bool = True,
        pictured: QWidget | None = None,
        fetch: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        super().__init__(view)
        self.enlarges = enlarges
        """True to offer a window of its own."""
        self._chart, self._view, self._navigation = chart, view, navigation
        self._fetch = fetch or (lambda then: then())
        self._pictured: QWidget = pictured or view.parentWidget()
        self.writing = TimeSlices(TURN_MS, self)
        self.numbers = ChartNumbers(chart, view, self._fetch)
        view.asked.connect(self._open)
        view.keyed.connect(self._press)

    def _press(self, happened: QKeyEvent) -> None:
        if happened.key() == TABLE_KEY:
            self.numbers.open()
        elif happened.key() in ENLARGE_KEYS and self.enlarges:
            self.enlarged.emit()
        else:
            return
        happened.accept()

    def _open(self, happened: QContextMenuEvent) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place_in(self._view, happened))

    def menu(self) -> QMenu:
        """Return a menu of what can be done now."""
        menu, navigation = QMenu(self._view), self._navigation
        menu.addAction(tr("Show all"), navigation.fit)
        if self.enlarges:
            _show_key(menu.addAction(tr("Enlarge"), self.enlarged.emit), ENLARGE_KEYS[0])
        _show_key(menu.addAction(tr("Show the numbers"), self.numbers.open), TABLE_KEY)
        menu.addSeparator()
        frozen = navigation.is_frozen
        freeze = MenuEntry(tr("Freeze the axes"), lambda: navigation.freeze(not frozen), frozen)
        for entry in (freeze, *self._chart.entries()):
            action = menu.addAction(entry.name)
            if entry.is_on is not None:
                action.setCheckable(True)
                action.setChecked(entry.is_on)
            action.triggered.connect(lambda _checked=False, do=entry.do: do())
        menu.addSeparator()
        menu.addAction(tr("Copy the picture"), self.copy_picture)
        menu.addAction(tr("Save the picture as PNG…"), lambda: self._ask(tr("PNG picture"), "png"))
        menu.addAction(tr("Save the picture as SVG…"), lambda: self._ask(tr("SVG picture"), "svg"))
        menu.addSeparator()
        menu.addAction(tr("Copy the numbers in sight"), self.copy_numbers)
        menu.addAction(
            tr("Save the numbers in sight as CSV…"), lambda: self._ask(tr("CSV table"), "csv")
        )
        return menu

    def picture(self) -> QImage:
        """Return an image of the chart with its heading."""
        chart = self._pictured
        buttons = [b for b in self._view.findChildren(QPushButton) if b.isVisible()]
        for button in buttons:
            button.hide()
        image = QImage(chart.size() * SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(SCALE)
        image.fill(self._chart.theme.panel)
        chart.render(image, chart.rect().topLeft(), renderFlags=QWidget.RenderFlag.DrawChildren)
        for button in buttons:
            button.show()
        return image

    def svg(self) -> bytes:
        """Return axes and curves as an SVG file."""
        # Imported here: few charts are ever saved.
        from PySide6.QtSvg import QSvgGenerator

        chart, buffer, generator = self._chart, QBuffer(), QSvgGenerator()
        size: QSize = self._view.size()
        area = QRect(0, 0, size.width(), size.height())
        generator.setOutputDevice(buffer)
        generator.setResolution(DPI)
        generator.setSize(size)
        generator.setViewBox(area)
        generator.setTitle(chart.accessibleName())
        painter = QPainter(generator)
        try:
            painter.fillRect(area, chart.theme.panel)
            chart.draw_still(painter, area.toRectF())
        finally:
            painter.end()
        return fix_svg(bytes(buffer.data().data()).decode()).encode()

    def copy_picture(self) -> None:
        """Put an image of the chart on the clipboard."""
        QGuiApplication.clipboard().setImage(self.picture())
        self.said.emit(tr("The picture is on the clipboard"))

    def copy_numbers(self) -> None:
        """Put the numbers in sight on the clipboard, as CSV."""
        self._fetch(lambda: self.writing.run(self._copy(self._chart.table())))

    def _copy(self, table: Iterator[str]) -> Iterator[None]:
        parts, size = [], 0
        for part in table:
            parts.append(part)
            size += len(part)
            if size > MOST_COPIED:
                self.said.emit(tr("Too many numbers for the clipboard: save them as a file"))
                return
            yield
        QGuiApplication.clipboard().setText("".join(parts))
        self.said.emit(tr("The numbers in sight are on the clipboard"))

    def _ask(self, title: str, kind: str) -> None:
        words = self._chart.accessibleName().lower()
        plain = "".join(sign if sign.isalnum() else "_" for sign in words)[:LONGEST_FILE_NAME]
        name = f"{plain or 'chart'}.{kind}"
        chosen, _ = QFileDialog.getSaveFileName(
            self._view, tr("Save as {title}", title=title), name, f"{title} (*.{kind})"
        )
        if chosen:
            path = Path(chosen)
            self.save(path if path.suffix else path.with_suffix(f".{kind}"), kind)

    def save(self, path: Path, kind: str) -> None:
        """Write the chart as ``png``, ``svg`` or ``csv``; report where, or why not."""
        if kind == "csv":
            chart = self._chart
            self._fetch(lambda: self.writing.run(self._write(path, chart.table())))
        elif kind == "svg":
            self.writing.run(self._write(path, iter([self.svg()])))
        else:
            self.writing.run(self._write(path, iter([png_bytes(self.picture())])))

    def _write(self, path: Path, parts: Iterator[str] | Iterator[bytes]) -> Iterator[None]:
        """Write a file part by part; an earlier one is replaced once the new one is whole."""
        partial = path.with_name(f"{path.name}.part")
        try:
            with partial.open("wb") as file:
                for part in parts:
                    file.write(part.encode() if isinstance(part, str) else part)
                    yield
            partial.replace(path)
            self.said.emit(tr("Saved as {path}", path=path))
        except OSError as error:
            self.said.emit(
                tr("{path} cannot be written: {value}", path=path, value=error.strerror or error)
            )
        finally:
            partial.unlink(missing_ok=True)


def _show_key(action: QAction, key: Qt.Key) -> None:
    """Show a key next to an entry; the chart itself takes it."""
    action.setShortcut(QKeySequence(key))
    action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    action.setShortcutVisibleInContextMenu(True)
