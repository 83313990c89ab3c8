"""The start pane: the number or the vector that a backward pass starts from.

It is there when backward failed at a tensor of several elements, and at the root of a pass that
starts from a vector, which is edited in place.
"""

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from gradscribe.playback.code import root_edits
from gradscribe.playback.code.root_edits import Reduction
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import push_button, vbox
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.return_edit import ReturnEdit
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane


class PassStart(NamedTuple):
    """A call that starts a pass: its line, root and vector as texts."""

    line: int
    root: str
    keyword: str
    vector: str
    """The vector in the text; empty if the call failed for want of one."""


class StartPane(Pane):
    """Buttons for the sum and the mean of the root, and a field for the vector."""

    order = 5
    uses_program = True

    def __init__(self) -> None:
        super().__init__()
        self._start: PassStart | None = None
        frame = QFrame(self)
        frame.setProperty("row", "soft")
        self.words = Label("words", "", frame)
        self._reductions = QWidget(frame)
        self.sum = self._button("sum")
        self.mean = self._button("mean")
        flow = FlowLayout(self.sum, self.mean, spacing=6)
        self._reductions.setLayout(flow)
        self.keyword = Label("code", "", frame)
        self.vector = ReturnEdit(frame)
        self.vector.setAccessibleName(tr("Vector v that backward starts from"))
        self.vector.setToolTip(
            tr("An expression with the shape of the root, in the program's names")
        )
        self.vector.returnPressed.connect(self._use_vector)
        self.use = push_button(
            tr("Use v"),
            frame,
            self._use_vector,
            tip=tr("Put v into the text and run; Ctrl+Z takes it back"),
        )
        self.problem = Label("error", "", frame)
        self.problem.hide()
        self.vector.textEdited.connect(self.problem.hide)
        use = (self.use, Qt.AlignmentFlag.AlignLeft)
        parts = self.words, self._reductions, self.keyword, self.vector, self.problem, use
        vbox(frame, *parts, margins=(10, 8, 10, 9), spacing=6)
        self.column.addWidget(frame)

    def _button(self, reduction: Reduction) -> QPushButton:
        return push_button(
            f".{reduction}()",
            self._reductions,
            lambda: self._use_reduction(reduction),
            tip=tr(
                "Start at the {reduction} of its elements: edit the line and run",
                reduction=reduction,
            ),
        )

    def show_page(self, page: InspectorPage) -> bool:
        """Show the start of the pass that failed or is selected; hidden without one."""
        start = pass_start(page)
        if start is None:
            self._start = None
            return False
        if start == self._start:
            # A vector that is being typed stays.
            return True
        self._start = start
        root = start.root if len(start.root) <= 40 else start.root[:39] + "…"
        self._reductions.setVisible(not start.vector)
        if start.vector:
            words = tr(
                "Backward starts at {root} from this vector v: it computes vᵀ · Jacobian.",
                root=root,
            )
        else:
            words = tr(
                "{root} is no scalar. Start at one number made of it, or from a vector v.",
                root=root,
            )
        self.words.say(words)
        self.keyword.say(f"{start.keyword}=")
        self.vector.setText(start.vector or f"torch.ones_like({start.root})")
        self.vector.setCursorPosition(0)
        self.problem.hide()
        return True

    def _use_reduction(self, reduction: Reduction) -> None:
        if self._start is not None:
            self.start_requested.emit(self._start.line, reduction, "")

    def _use_vector(self) -> None:
        vector = self.vector.text().strip()
        if self._start is None:
            return
        if not root_edits.is_expression(vector):
            self.problem.say(tr("This is no expression") if vector else tr("Type a vector"))
            self.problem.show()
            return
        if vector != self._start.vector:
            self.start_requested.emit(self._start.line, "", vector)


def pass_start(page: InspectorPage) -> PassStart | None:
    """Return the start of the pass that failed, else of the one that is selected or shown."""
    state = page.program
    if root_edits.ERROR in state.failed and state.may_edit:
        found = _start_on(state.text, state.failed_line)
        return found if found is not None and not found.vector else None
    if page.index is None or not state.may_edit or page.source != state.text:
        return None
    line = _line_of_pass(page)
    found = _start_on(state.text, line) if line else None
    return found if found is not None and found.vector else None


def _line_of_pass(page: InspectorPage) -> int:
    """Return the line of the pass that starts at the selection, or without one of the latest."""
    index = page.index
    assert index is not None
    begun = [
        made
        for run, made in enumerate(index.tape.passes)
        if run in index.passes and index.passes[run][0] < page.position
    ]
    if page.selection is not None:
        begun = [made for made in begun if page.selection.value in made.roots]
    return begun[-1].line if begun else 0


def _start_on(source: str, line: int) -> PassStart | None:
    root = root_edits.root_text(source, line)
    if not root:
        return None
    keyword = root_edits.vector_keyword(source, line)
    return PassStart(line, root, keyword, root_edits.vector_text(source, line))


ENTRY = StartPane
