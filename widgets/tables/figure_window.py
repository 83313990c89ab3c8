"""A figure in a window of its own: zoomed, panned, read and taken away."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSaveFile, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QFileDialog, QLayout, QMenu, QVBoxLayout, QWidget

from gradscribe.engine.protocol.figures import Figure
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import hbox, push_button
from gradscribe.widgets.base.labels import plain_label, sheet
from gradscribe.widgets.base.menus import open_by_key, place_in
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.painting.pixmap_cache import PixmapCache
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.tabs import CompactTabs
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.figures.numbers import FigureNumbers, FigurePoint
from gradscribe.widgets.plots.figures.picture import FigurePicture, describe_figure
from gradscribe.widgets.plots.plot import Plot

WINDOW_SIZE = QSize(620, 430)
LONGEST_TITLE = 24
"""Most characters of a page's title."""
NOTCH = 1.25
"""Factor of the size per notch of the wheel or key."""
LARGEST_ZOOM = 60.0
PAN = 0.1
"""Share of the view that an arrow key pans."""
REACH = 12
"""Pixels within which a point is pointed at."""
MARGIN = 2
_PANS = {
    Qt.Key.Key_Left: (PAN, 0.0),
    Qt.Key.Key_Right: (-PAN, 0.0),
    Qt.Key.Key_Up: (0.0, PAN),
    Qt.Key.Key_Down: (0.0, -PAN),
}


class FigureCanvas(QWidget):
    """A figure that is zoomed by wheel and keys and panned by the mouse; it stays sharp."""

    read = Signal(str)
    """The numbers under the mouse in words; empty outside the axes."""

    def __init__(self, figure: Figure, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture, self.numbers = FigurePicture(figure), FigureNumbers(figure)
        self.zoom = 1.0
        self._offset = QPointF()
        self._theme = theme
        self._dragged: QPointF | None = None
        self._point: FigurePoint | None = None
        self._cache = PixmapCache(self, self._draw)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(
            tr("Figure: {describe_figure}", describe_figure=describe_figure(figure))
        )

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme`` around the paper."""
        self._theme = theme
        self._cache.refresh()

    def area(self) -> QRectF:
        """Return the place of the whole figure, in pixels of the canvas."""
        fitted = self.picture.area_in(self._paper())
        place = QRectF(QPointF(), fitted.size() * self.zoom)
        place.moveCenter(fitted.center() + self._offset)
        return place

    def seen(self) -> QRectF:
        """Return the part of the figure in sight, in shares of it."""
        area = self.area()
        seen = area.intersected(self._paper())
        left, top = self.share_at(seen.topLeft()).toTuple()
        return QRectF(left, top, seen.width() / area.width(), seen.height() / area.height())

    def share_at(self, at: QPointF) -> QPointF:
        """Return the place in the figure of a pixel, in shares from its left and top."""
        area = self.area()
        return QPointF((at.x() - area.left()) / area.width(), (at.y() - area.top()) / area.height())

    def zoom_at(self, factor: float, at: QPointF) -> None:
        """Zoom by a factor; what is at the pixel stays there."""
        share = self.share_at(at)
        self.zoom = min(LARGEST_ZOOM, max(1.0, self.zoom * factor))
        area = self.area()
        there = area.topLeft() + QPointF(share.x() * area.width(), share.y() * area.height())
        self.pan(at - there)

    def pan(self, by: QPointF) -> None:
        """Move the figure by pixels, as far as it covers the view."""
        size, paper = self.area().size(), self._paper()
        most_x = max(0.0, (size.width() - paper.width()) / 2)
        most_y = max(0.0, (size.height() - paper.height()) / 2)
        moved = self._offset + by
        self._offset = QPointF(
            min(most_x, max(-most_x, moved.x())), min(most_y, max(-most_y, moved.y()))
        )
        self._point = None
        self._cache.refresh()

    def show_all(self) -> None:
        """Show the whole figure."""
        self.zoom, self._offset = 1.0, QPointF()
        self.pan(QPointF())

    def _paper(self) -> QRectF:
        return QRectF(self.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)

    def _draw(self, painter: QPainter) -> None:
        painter.setClipRect(self._paper().adjusted(-1, -1, 1, 1))
        self.picture.paint_in(painter, self.area(), self._theme)
        if self.hasFocus():
            painter.setClipping(False)
            painter.setPen(self._theme.selection)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the cached figure and the point under the mouse; called by Qt."""
        self._cache.paint(self.hasFocus())
        if self._point is not None:
            with QPainter(self) as painter:
                area, at = self.area(), self._point.at
                place = QPointF(at.x() * area.width(), at.y() * area.height()) + area.topLeft()
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(QColor("white"), 2))
                painter.setBrush(self._theme.selection)
                painter.drawEllipse(place, 5, 5)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the mouse; called by Qt."""
        self.zoom_at(NOTCH ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to pan; called by Qt."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragged = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan, or read the numbers under the mouse; called by Qt."""
        if self._dragged is not None:
            self.pan(event.position() - self._dragged)
            self._dragged = event.position()
        else:
            self._read(event.position())

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End to pan; called by Qt."""
        self._dragged = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole figure; called by Qt."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget what was pointed at; called by Qt."""
        self._point = None
        self.read.emit("")
        self.update()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pan with arrows, zoom with + and -, show all with Home; called by Qt."""
        key = Qt.Key(event.key())
        middle = QRectF(self.rect()).center()
        if key in _PANS:
            across, down = _PANS[key]
            self.pan(QPointF(across * self.width(), down * self.height()))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_at(NOTCH, middle)
        elif key == Qt.Key.Key_Minus:
            self.zoom_at(1 / NOTCH, middle)
        elif key == Qt.Key.Key_Home:
            self.show_all()
        else:
            super().keyPressEvent(event)

    def _read(self, at: QPointF) -> None:
        share, area = self.share_at(at), self.area()
        self._point = self.numbers.nearest(
            share, QPointF(REACH / area.width(), REACH / area.height())
        )
        if self._point is not None:
            name = f"{self._point.name}: " if self._point.name else ""
            words = f"{name}x = {self._point.x:.6g}, y = {self._point.y:.6g}"
        else:
            numbers = self.numbers.numbers_at(share)
            words = "" if numbers is None else "x = {:.4g}, y = {:.4g}".format(*numbers)
        self.read.emit(words.replace("-", formatting.MINUS))
        self.update()


class FigureWindow(QWidget):
    """A separate window with one figure to explore, and to save as a file."""

    def __init__(
        self,
        figure: Figure,
        theme: Theme,
        parent: QWidget,
        save: Callable[[FigurePicture, str], str],
        kinds: tuple[str, ...],
    ) -> None:
        """``save`` writes a picture to a path and returns a message; ``kinds`` are its formats."""
        super().__init__(parent, Qt.WindowType.Window)
        self._figure, self._write, self._kinds = figure, save, kinds
        self.setWindowTitle(figure.title or figure.name or tr("Figure"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.canvas = FigureCanvas(figure, theme)
        self.pages = CompactTabs()
        """The picture, and the numbers of each pair of axes."""
        self._show_all: dict[QWidget, Callable[[], object]] = {}
        self._plots: list[Plot] = []
        self.whole = push_button(tr("Show all"), self, self.show_all, tip=tr("Everything (Home)"))
        self.save = push_button(tr("Save picture…"), self, self._save_as)
        self.note = plain_label(translated(figure.note))
        self.canvas.read.connect(lambda words: self.note.setText(words or translated(figure.note)))
        below = hbox(None, (self.note, 1), self.whole, self.save)
        column = QVBoxLayout(self)
        # A minimum size would be sent to the window system; not every one accepts it.
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        column.addWidget(self.pages, 1)
        column.addLayout(below)
        self.pages.tabBar().hide()
        self._add_page(tr("Picture"), self.canvas, self.canvas.show_all)
        self.set_theme(theme)
        ratio = min(2.5, max(0.6, figure.width / figure.height))
        high = WINDOW_SIZE.height()
        resize_within_screen(self, round(high * ratio) + 24, high + 50)
        self.canvas.setFocus()

    @property
    def figure(self) -> Figure:
        """The figure that is shown."""
        return self._figure

    def add_plot(self, title: str, plot: Plot, show_all: Callable[[], object]) -> None:
        """Add a page with the numbers of a pair of axes."""
        self._plots.append(plot)
        plot.set_theme(self._theme)
        self._add_page(title, plot, show_all)
        self.pages.tabBar().show()

    def _add_page(self, title: str, page: QWidget, show_all: Callable[[], object]) -> None:
        self._show_all[page] = show_all
        self.pages.addTab(page, formatting.elide_middle(title, LONGEST_TITLE))

    def show_all(self) -> None:
        """Show the whole figure, or all of its axes."""
        page = self.pages.currentWidget()
        if page is not None:
            self._show_all[page]()

    def say(self, words: str) -> None:
        """Show a sentence below the figure."""
        self.note.setText(words)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        set_sheet(self, sheet(theme) + f"FigureWindow {{ background: {theme.panel.name()} }}")
        self.canvas.set_theme(theme)
        for plot in self._plots:
            plot.set_theme(theme)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the window on Escape, save on Ctrl+S, copy on Ctrl+C; called by Qt."""
        if open_by_key(event):
            return
        if event.matches(QKeySequence.StandardKey.Save):
            self._save_as()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_picture()
        elif event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer all that can be done; called by Qt."""
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place_in(self, event))

    def menu(self) -> QMenu:
        """Return a menu of what can be done."""
        menu = QMenu(self)
        menu.addAction(tr("Show all"), self.canvas.show_all)
        menu.addSeparator()
        menu.addAction(tr("Copy the picture"), self.copy_picture)
        menu.addAction(tr("Save the picture…"), self._save_as)
        menu.addSeparator()
        for name, do in (
            (tr("Copy the numbers in sight"), self.copy_numbers),
            (tr("Save the numbers in sight as CSV…"), self._save_table_as),
        ):
            menu.addAction(name, do).setEnabled(self.canvas.numbers.has_points)
        return menu

    def copy_picture(self) -> None:
        """Put an image of the whole figure on the clipboard."""
        QGuiApplication.clipboard().setImage(self.canvas.picture.image())
        self.note.setText(tr("The picture is on the clipboard"))

    def table(self) -> str:
        """Return the points in sight as CSV."""
        return "".join(self.canvas.numbers.table(self.canvas.seen()))

    def copy_numbers(self) -> None:
        """Put the points in sight on the clipboard, as CSV."""
        QGuiApplication.clipboard().setText(self.table())
        self.note.setText(self._with_missing(tr("The numbers in sight are on the clipboard")))

    def save_table(self, path: str) -> None:
        """Write the points in sight as a CSV file, wholly or not at all."""
        file, data = QSaveFile(path), self.table().encode()
        written = file.open(QSaveFile.OpenModeFlag.WriteOnly) and file.write(data) == len(data)
        if written and file.commit():
            self.note.setText(self._with_missing(tr("Saved as {path}", path=path)))
        else:
            self.note.setText(
                tr(
                    "{path} cannot be written: {errorstring}",
                    path=path,
                    errorstring=file.errorString(),
                )
            )

    def _with_missing(self, words: str) -> str:
        missing = tr("; lines with too many points are missing")
        return f"{words}{missing}" if self.canvas.numbers.is_cut else words

    def _save_table_as(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(
            self, tr("Save numbers"), f"{self._stem()}.csv", tr("CSV table (*.csv)")
        )
        if chosen:
            self.save_table(chosen)

    def _stem(self) -> str:
        name = self._figure.name.partition(".")[0] or self._figure.title or "figure"
        return name.lower().replace(" ", "_")

    def _save_as(self) -> None:
        name = self._figure.name if "." in self._figure.name else f"{self._stem()}.{self._kinds[0]}"
        filters = ";;".join(f"{kind.upper()} (*.{kind})" for kind in self._kinds)
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Save picture"), name, filters)
        if chosen:
            self.note.setText(self._write(self.canvas.picture, chosen))
