"""Figures that a program plotted: small next to its output, large in a separate window."""

import contextlib

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSaveFile, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFileDialog,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gradscribe.engine.protocol.figures import Figure
from gradscribe.widgets.base.boxes import hbox, push_button
from gradscribe.widgets.base.labels import plain_label, sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.figure import describe_figure, draw_figure, figure_image

THUMBNAIL_SIZE = QSize(230, 150)
LEAST_WIDTH, LEAST_HEIGHT = 160, 84
WINDOW_SIZE = QSize(620, 430)


class FigureView(QAbstractButton):
    """One figure, drawn to fit; a click opens it large."""

    def __init__(self, figure: Figure, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figure, self._theme = figure, theme
        self.setAccessibleName(f"Figure: {describe_figure(figure)}")
        self.setToolTip("Open this figure")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size at which curves are distinguishable: wider for axes in several columns."""
        return QSize(
            THUMBNAIL_SIZE.width() * min(2, max(1, self.figure.columns)), THUMBNAIL_SIZE.height()
        )

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the figure, and a frame around it while it has the focus."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_figure(painter, QRectF(self.rect()), self.figure, self._theme)
            if self.hasFocus():
                painter.setPen(self._theme.selection)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)


class FigureWindow(QWidget):
    """A separate window with one figure and a button to save it as an image."""

    def __init__(self, figure: Figure, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._theme = theme
        self.setWindowTitle(figure.title or figure.axes[0].title or figure.name or "Figure")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setStyleSheet(sheet(theme) + f"FigureWindow {{ background: {theme.panel.name()} }}")
        self.view = FigureView(figure, theme, self)
        self.view.setEnabled(False)
        self.view.setToolTip("")
        self.save = push_button("Save picture…", self, self._save_as)
        self.note = plain_label(_note(figure))
        below = hbox(None, (self.note, 1), self.save)
        column = QVBoxLayout(self)
        # A minimum size would be sent to the window system; not every one accepts it.
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        column.addWidget(self.view, 1)
        column.addLayout(below)
        self.resize(WINDOW_SIZE.width() * min(2, max(1, figure.columns)), WINDOW_SIZE.height())

    def _save_as(self) -> None:
        figure = self.view.figure
        name = figure.name or f"{(figure.axes[0].title or 'figure').lower().replace(' ', '_')}.png"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save picture", name, "Pictures (*.png)")
        if chosen:
            self.note.setText(save_png(figure, self._theme, chosen))


class FigureStrip(QScrollArea):
    """All figures of a run in a row; hidden if there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._figures: tuple[Figure, ...] = ()
        self.views: list[FigureView] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Figures of the script")
        self.viewport().setAutoFillBackground(False)
        self._container = QWidget()
        self._row = hbox(self._container, spacing=10)
        self.setWidget(self._container)
        self._container.setAutoFillBackground(False)
        self.setMinimumHeight(LEAST_HEIGHT)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        for view in self.views:
            view.set_theme(theme)

    def set_figures(self, figures: tuple[Figure, ...]) -> None:
        """Replace the figures shown."""
        if figures == self._figures:
            return
        self._figures = figures
        while self.views:
            view = self.views.pop()
            self._row.removeWidget(view)
            view.deleteLater()
        for figure in figures:
            view = FigureView(figure, self._theme, self._container)
            view.setMinimumWidth(LEAST_WIDTH * min(2, max(1, figure.columns)))
            view.clicked.connect(lambda _on=False, figure=figure: self.open(figure))
            self.views.append(view)
            self._row.addWidget(view, 1)
        self.setVisible(bool(figures))

    def open(self, figure: Figure) -> FigureWindow:
        """Show a figure large; return its window."""
        large = FigureWindow(figure, self._theme, self.window())
        large.show()
        return large


def save_png(figure: Figure, theme: Theme, path: str) -> str:
    """Write a figure as a PNG atomically; return a message for the user."""
    path = path if path.lower().endswith(".png") else f"{path}.png"
    data = QByteArray()
    with contextlib.closing(QBuffer(data)) as buffer:
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        figure_image(figure, theme).save(buffer, "PNG")  # type: ignore[call-overload]
    file = QSaveFile(path)
    written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) == data.size()
    if written and file.commit():
        return f"Saved as {path}"
    return f"{path} cannot be written: {file.errorString()}"


def _note(figure: Figure) -> str:
    left = ", ".join(figure.left_out[:6])
    return f"Not drawn here: {left}" if left else ""
