"""View of the computation graph of a step on the training page: heading, caption, graph."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.view import GraphView
from gradscribe.widgets.graph.viewport import NAMED_ZOOM, READABLE_ZOOM, whole_view
from gradscribe.widgets.plots.folded_switches import FoldedSwitches
from gradscribe.widgets.plots.plot import switch_button

EDGE, SPACING = 14, 6
"""Pixels at both sides, and between two switches."""
LAYERS = (tr("Values"), tr("Gradients"), tr("Shapes"))


class StepGraph(QWidget):
    """A graph with switches for the contents of its cards."""

    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading, self.caption = Heading(tr("Graph")), Label("caption")
        self.graph = GraphView(self)
        # It plays again and again: a camera that follows would never rest.
        self.graph.readable_zoom = NAMED_ZOOM
        self.layers: dict[str, QPushButton] = {}
        self._top = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._top.setSpacing(6)
        self._top.addWidget(self.heading, 1)
        self._switches = QWidget(self)
        switches = hbox(self._switches, spacing=SPACING)
        for name in LAYERS:
            button = self.layers[name] = switch_button(name, "", name != "Shapes")
            button.toggled.connect(self._set_layers)
            switches.addWidget(button)
        fit = QPushButton(tr("Fit"))
        fit.setProperty("crumb", True)
        fit.setToolTip(tr("Make all of the graph visible"))
        fit.clicked.connect(self.graph.fit)
        switches.addWidget(fit)
        switches.addStretch(1)
        self._fit, self._folded = fit, FoldedSwitches(switches)
        self._top.addWidget(self._switches)
        column = vbox(self, margins=(16, 12, 12, 12), spacing=6)
        column.addLayout(self._top)
        column.addWidget(self.caption)
        column.addWidget(self.graph, 1)
        self._set_layers()

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Put the switches below the heading if both do not fit in a row."""
        super().resizeEvent(happened)
        self._arrange()
        self.resized.emit()

    def _arrange(self) -> None:
        """Put the switches below the heading or into a menu, as the width demands."""
        buttons = (*self.layers.values(), self._fit)
        wide = sum(button.sizeHint().width() + SPACING for button in buttons)
        self._folded.fold(wide > self.width() - 2 * EDGE)
        needed = (
            self.heading.title_width() + self._top.spacing() + self._switches.sizeHint().width()
        )
        fits = needed <= self.width() - 2 * EDGE
        way = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        self._top.setDirection(way)

    def legible_calls(self, stage: Stage) -> frozenset[str] | None:
        """Return the modules to leave open, all but the innermost, for numbers to be legible.

        None if they are in the whole picture, or if only the outermost modules are open.
        """
        theme = self.graph.canvas.drawing.theme
        camera = whole_view(stage, self.graph.canvas.size, theme.scale)
        deepest = max(stage.depths.values(), default=0)
        outer = frozenset(key for key, depth in stage.depths.items() if depth < deepest)
        return outer if outer and camera.zoom < READABLE_ZOOM * theme.scale else None

    def prepare(self) -> None:
        """Prepare the visible part ahead of painting, which would be slow otherwise."""
        self.graph.prepare()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        set_sheet(self, sheet(theme))
        self.graph.set_theme(theme)
        self._arrange()

    def set_caption(self, text: str) -> None:
        """Set the caption."""
        self.caption.say(text)

    def _set_layers(self) -> None:
        on = [self.layers[name].isChecked() for name in LAYERS]
        self.graph.set_layers(*on)
