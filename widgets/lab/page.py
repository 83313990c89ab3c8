"""The shape lab: a few lines of PyTorch, their tensors, and how the cells are related."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QTextEdit,
    QWidget,
)

from gradscribe.engine.protocol.messages import Probed
from gradscribe.engine.protocol.tape import Problem
from gradscribe.playback.lab import dtypes
from gradscribe.playback.lab.explain import explain_shapes
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import STRETCH, hbox, vbox
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.source_edit import SourceEdit
from gradscribe.widgets.lab.axes_view import AxesView
from gradscribe.widgets.lab.canvas import LabCanvas
from gradscribe.widgets.lab.error_underline import error_selections
from gradscribe.widgets.lab.jacobian_view import JacobianView
from gradscribe.widgets.lab.memory_view import MemoryView

REST_MS = 200
"""Delay after the last keystroke before the lines run."""


class ShapeLab(QWidget):
    """Example operations on the left, the editor and its results on the right."""

    asked = Signal(str)
    """The source lines to run."""

    def __init__(
        self, theme: Theme, starts: Sequence[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        # Before there are children, which would be styled again.
        set_sheet(self, sheet(theme))
        self._starts = list(starts)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Operations"))
        self.list.setProperty("bare", True)
        for title, _ in starts:
            self.list.addItem(QListWidgetItem(title))
        self.list.setFixedWidth(224)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.editor = SourceEdit(theme)
        self.editor.setAccessibleName(tr("Lines of the shape lab"))
        self.editor.setFixedHeight(112)
        self.problem = Label("error")
        self.sentence = Label("words")
        self.axes, self.canvas, self.memory = AxesView(), LabCanvas(), MemoryView()
        self.jacobians = JacobianView()
        self.cell_sentence = Label("words", tr("Hover over a cell to see where it comes from"))
        self.numbers = QPushButton(tr("Numbers"))
        self.numbers.setCheckable(True)
        self.numbers.setChecked(True)
        self.numbers.setToolTip(tr("Show the numbers in the cells, or only the shapes"))
        self.numbers.toggled.connect(self._show_numbers)
        self.note = Label("caption")
        self.kinds = Label("caption")
        self._run_timer = single_shot(self, self.ask, REST_MS)
        self._asked = ""
        self._build_layout()
        # Not the current row: a list that gets the focus makes its first row current, and what was
        # typed would be lost.
        self.list.itemSelectionChanged.connect(self._take_selection)
        self.editor.edited.connect(lambda _: self._run_timer.start())
        self.canvas.description_changed.connect(self._show_sentence)
        self.canvas.cell_changed.connect(self.memory.look_at)
        self.canvas.cell_changed.connect(self.jacobians.look_at)
        self._apply_theme(theme)

    def _build_layout(self) -> None:
        # In their final layout from the start: reparented widgets are styled and measured again.
        page = self._build_page()
        self.memory_heading = Heading(
            tr("Memory"), tr("which elements are stored where, and which tensors share them")
        )
        self.jacobian_heading = Heading(
            tr("Jacobian"), tr("how much each cell of the result changes with each input cell")
        )
        vbox(
            page,
            *(self.problem, self.sentence, self.axes),
            hbox(None, (self.cell_sentence, 1), (self.numbers, Qt.AlignmentFlag.AlignRight)),
            *(self.canvas, self.note, self.kinds, self.jacobian_heading, self.jacobians),
            *(self.memory_heading, self.memory, STRETCH),
            margins=(4, 4, 12, 4),
            spacing=10,
        )

    def _build_page(self) -> QWidget:
        """Lay out list and editor; return the page below the editor."""
        lines = QFrame(self)
        lines.setProperty("panel", True)
        vbox(lines, self.editor, margins=(8, 8, 8, 8))
        scroll = QScrollArea(self)
        scroll.setAccessibleName(tr("Shape lab"))
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        page = QWidget(scroll)
        scroll.setWidget(page)
        scroll.viewport().setAutoFillBackground(False)
        page.setAutoFillBackground(False)
        hbox(self, self.list, (vbox(None, lines, (scroll, 1), spacing=8), 1), spacing=14)
        return page

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        set_sheet(self, sheet(theme))
        self._apply_theme(theme)

    def _apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.editor.set_theme(theme)
        for view in (self.axes, self.canvas, self.jacobians, self.memory):
            view.set_theme(theme)

    def start(self, source: str = "") -> None:
        """Show ``source``, or the first example."""
        # Rows measured before the style sheet was applied are too low.
        self.list.ensurePolished()
        self.list.doItemsLayout()
        if source:
            self.list.setCurrentRow(-1)
            self._set_source(source)
        elif self._starts:
            self.list.setCurrentRow(0)
            self._take_selection()

    def _take_selection(self) -> None:
        """Show the lines of the selected starting point."""
        for item in self.list.selectedItems():
            self._set_source(self._starts[self.list.row(item)][1])

    def _set_source(self, source: str) -> None:
        if self.editor.toPlainText() != source:
            self.editor.setPlainText(source)
        self.canvas.look_at(None)
        self.ask()

    def ask(self) -> None:
        """Request a run of the lines."""
        self._run_timer.stop()
        self._asked = self.editor.toPlainText()
        self.asked.emit(self._asked)

    def show_probed(self, probed: Probed) -> None:
        """Show the tensors of a run; if it failed, the reason and the input tensors."""
        shapes = {cells.name: cells.snapshot.shape for cells in probed.inputs}
        results = [cells.snapshot.shape for cells in probed.results]
        axes = explain_shapes(self._asked, shapes, results)
        self._show_problem(probed.problem)
        sentence = tr("The result is {text}", text=probed.text) if probed.text else axes.sentence
        self.sentence.say(sentence)
        self.sentence.setVisible(bool(sentence))
        self.axes.show_axes(axes)
        self.axes.setVisible(bool(axes.rows))
        self.canvas.show_probed(probed)
        self.memory.show_probed(probed)
        self.jacobians.show_probed(probed)
        self._has_jacobians = bool(probed.jacobians)
        self._show_numbers(self.numbers.isChecked())
        self.numbers.setVisible(bool(probed.inputs or probed.results))
        self.note.say(translated(probed.note))
        self.note.setVisible(bool(probed.note))
        kinds = dict.fromkeys(cells.snapshot.dtype for cells in (*probed.inputs, *probed.results))
        self.kinds.say("\n".join(dtypes.describe(kind) for kind in kinds))
        self.cell_sentence.setVisible(bool(probed.links))
        self.memory_heading.setVisible(bool(probed.inputs or probed.results))

    _has_jacobians = False

    def _show_numbers(self, shown: bool) -> None:
        self.canvas.show_numbers(shown)
        for part in (self.jacobian_heading, self.jacobians):
            part.setVisible(shown and self._has_jacobians)

    def _show_problem(self, problem: Problem | None) -> None:
        """Show an error message and underline its place."""
        self.problem.setVisible(problem is not None)
        marks: list[QTextEdit.ExtraSelection] = []
        if problem is not None:
            place = tr("Line {line}: ", line=problem.place.line) if problem.place.line else ""
            parts = [translated(part).rstrip(".。") for part in (problem.message, problem.hint)]
            self.problem.say(f"{place}{'. '.join(part for part in parts if part)}")
            marks = error_selections(self.editor, problem.place, self._theme.error)
        self.editor.setExtraSelections(marks)

    def _show_sentence(self, sentence: str) -> None:
        self.cell_sentence.say(sentence or tr("Hover over a cell to see where it comes from"))
