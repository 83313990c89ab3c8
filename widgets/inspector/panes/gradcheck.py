"""Comparison of a custom Function's backward with finite differences, entry by entry."""

import math

from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.messages import Gradchecked, JacobianPair
from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.tape import event_text
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting as texts
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList

MAX_COLUMNS = 4
"""Jacobians with more columns are described by their worst entry only."""
_ATOL, _RTOL = 1e-5, 1e-3


class GradcheckBlock(QWidget):
    """A button for torch's gradcheck, and its result."""

    def __init__(self, pane: Pane) -> None:
        super().__init__(pane)
        self._op = 0
        self.words = Label("words", "", self)
        tip = tr("Compare its backward with finite differences of its forward")
        self.button = push_button(
            "", self, lambda: pane.gradcheck_requested.emit(self._op), tip=tip
        )
        self.button.setMinimumWidth(1)
        self.good = Label("good", tr("✓ agrees"), self).fit_text()
        self.bad = Label("warning", tr("✗ differs"), self).fit_text()
        self.rows = RowList(self, 0)
        self.matrices = Label("code", "", self)
        self.note = Label("caption", "", self)
        line = hbox(None, self.good, self.bad, self.button, STRETCH)
        vbox(self, self.words, line, self.rows, self.matrices, self.note, spacing=5)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.rows.set_theme(theme)

    def show_check(self, page: InspectorPage, number: int) -> None:
        """Offer the check of the custom Function that an op called, or show its result."""
        index = page.index
        assert index is not None
        self._op = number
        op, done = index.op(number), page.gradchecked.get(number)
        waiting = ("gradcheck", number, 0) in page.waiting
        compared = done is not None and bool(done.pairs)
        self.button.setText(
            tr("Checking…") if waiting else tr("Check {op} with gradcheck", op=op.op)
        )
        self.button.setEnabled(not waiting)
        self.button.setVisible(done is None or not (compared or done.agrees))
        agrees = done is not None and done.agrees
        self.good.setVisible(agrees)
        self.bad.setVisible(compared and not agrees)
        self.words.say("" if done is None else result_text(done))
        worst = [] if done is None else sorted(done.pairs, key=lambda p: not p.differ)[:MAX_COLUMNS]
        self.rows.say([row for pair in worst for row in result_rows(index, op, pair)])
        shown = worst[:1] if not agrees else []
        self.matrices.say("\n".join(jacobians_text(pair) for pair in shown))
        self.note.say(_note(done))
        for part in (self.words, self.matrices, self.note):
            part.setVisible(bool(part.said()))
        self.rows.setVisible(compared)


def custom_op(page: InspectorPage) -> int | None:
    """Return the page's op if it called a custom Function whose backward can be checked."""
    index, chosen = page.index, page.selection
    if index is None or (page.position == 0 and chosen is None):
        return None
    if chosen is not None:
        number = chosen.op if chosen.kind == "op" else None
    else:
        number = _current(index, page.position)
    if number is None or not 0 <= number < len(index.tape.ops):
        return None
    return number if is_custom(index, index.op(number)) else None


def _current(index: Index, position: int) -> int | None:
    event = index.tape.events[min(position, len(index.tape.events)) - 1]
    if event.kind == "op":
        return event.ref
    return (
        index.node_ops.get(index.tape.executions[event.ref].node) if event.kind == "node" else None
    )


def is_custom(index: Index, op: Op) -> bool:
    """Return whether a user-defined Function made the op; torch's own nodes are numbered."""
    return op.node is not None and index.nodes[op.node].name == f"{op.op}Backward"


def result_text(done: Gradchecked) -> str:
    """Return the result as text."""
    if not done.pairs:
        return (
            tr("{function} passes gradcheck", function=done.function)
            if done.agrees
            else tr("Not possible: {problem}", problem=translated(done.problem))
        )
    step = tr("step {eps:.0e}", eps=done.eps).replace("e-0", "e-").replace("-", texts.MINUS)
    head = tr(
        "{function}.backward against central differences in {dtype}, {step}",
        function=done.function,
        dtype=done.dtype,
        step=step,
    )
    entries, differ = (sum(getattr(p, key) for p in done.pairs) for key in ("entries", "differ"))
    of = ngettext("{count:,} entry of the Jacobian", "{count:,} entries of the Jacobian", entries)
    if differ:
        return tr("{head}: {differ} of {of} differ", head=head, differ=differ, of=of)
    tail = (
        tr("; but gradcheck objects: {problem}", problem=translated(done.problem))
        if done.problem
        else ""
    )
    return tr("{head}: {of} agree{tail}", head=head, of=of, tail=tail)


def result_rows(index: Index, op: Op, pair: JacobianPair) -> list[RowContent]:
    """Return rows for the entry with the largest difference: by backward and by differences."""
    inputs = [i for i in op.inputs if index.values[i].requires_grad]
    source = (
        event_text.value_name(index, inputs[pair.input]) if pair.input < len(inputs) else "input"
    )
    out = (
        event_text.value_name(index, op.outputs[pair.output])
        if pair.output < len(op.outputs)
        else "out"
    )
    name = f"∂{out}{_at(pair.of_output)}/∂{source}{_at(pair.of_input)}"
    numeric = texts.number(pair.by_differences)
    if not pair.differ:
        return [RowContent(name, "", numeric)]
    return [
        RowContent(name, tr("by differences"), numeric),
        RowContent("", tr("by backward"), texts.number(pair.by_backward), "warning"),
    ]


def _at(place: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, place))}]" if place else ""


def jacobians_text(pair: JacobianPair) -> str:
    """Return both Jacobians as text, a row per element of the output; empty if too wide."""
    if not pair.backward_rows or len(pair.backward_rows[0]) > MAX_COLUMNS:
        return ""
    cells = [
        [texts.number(b, 3) + ("✗" if _differ(b, d) else "") for b, d in zip(bs, ds, strict=True)]
        for bs, ds in zip(pair.backward_rows, pair.difference_rows, strict=True)
    ]
    moved = [[texts.number(d, 3) for d in row] for row in pair.difference_rows]
    width = max(len(cell) for row in (*cells, *moved) for cell in row)
    both = [(tr("by backward"), cells), (tr("by differences"), moved)]
    return "\n".join(
        "\n".join([head, *("  ".join(cell.rjust(width) for cell in row) for row in rows)])
        for head, rows in both
    )


def _differ(backward: float, numeric: float) -> bool:
    if math.isnan(backward) or math.isnan(numeric):
        return True
    return abs(backward - numeric) > _ATOL + _RTOL * abs(numeric)


def _note(done: Gradchecked | None) -> str:
    if done is None or done.agrees or not done.pairs:
        return ""
    factor = _factor([pair for pair in done.pairs if pair.differ])
    if factor:
        return tr(
            "Where they differ, the differences are {factor} times what backward sends",
            factor=factor,
        )
    return tr("At a kink, and for a stand-in gradient chosen on purpose, both can be right")


def _factor(pairs: list[JacobianPair]) -> str:
    """Return the common factor of all entries that differ; empty if there is none."""
    ratios = [
        d / b if b else math.nan
        for pair in pairs
        for bs, ds in zip(pair.backward_rows, pair.difference_rows, strict=True)
        for b, d in zip(bs, ds, strict=True)
        if _differ(b, d)
    ]
    if not ratios or any(not math.isclose(r, ratios[0], rel_tol=1e-3) for r in ratios):
        return ""
    return f"{ratios[0]:.4g}".replace("-", texts.MINUS)
