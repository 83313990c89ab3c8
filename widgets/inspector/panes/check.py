"""The check pane: comparison of a gradient with finite differences at one click."""

import math

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.messages import Checked
from gradscribe.engine.protocol.tape import Op, Value
from gradscribe.playback.tape import event_text
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting as texts
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes import titles
from gradscribe.widgets.inspector.panes.gradcheck import GradcheckBlock, custom_op
from gradscribe.widgets.inspector.panes.page import InspectorPage
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList

MAX_BLOCKS = 3
"""Maximum number of values offered at once."""
SAMPLE_SIZE = 8
"""Maximum number of elements of a tensor checked at once."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class CheckBlock(QWidget):
    """The check of a value's element: a button, and the result when it arrives."""

    def __init__(self, pane: Pane) -> None:
        super().__init__(pane)
        self._asked = (0, 0)
        self.words = Label("words", "", self)
        self.button = push_button(
            "",
            self,
            lambda: pane.check_requested.emit(*self._asked),
            tip=tr("Run again with this number a little larger and a little smaller"),
        )
        self.button.setMinimumWidth(1)
        self.rows = RowList(self, 0)
        self.good = Label("good", tr("✓ agrees"), self).fit_text()
        self.bad = Label("warning", tr("✗ differs"), self).fit_text()
        self._pane, self._sample = pane, (0, 0)
        tip = tr("Check elements spread evenly over the tensor")
        self.sampler = push_button("", self, self._ask_sample, tip=tip)
        self.sampler.setMinimumWidth(1)
        self.summary = Label("words", "", self)
        self.note = Label("caption", "", self)
        line = hbox(None, self.good, self.bad, self.button, STRETCH)
        sampler = (self.sampler, Qt.AlignmentFlag.AlignLeft)
        vbox(self, self.words, self.rows, line, self.note, self.summary, sampler, spacing=5)

    def show_check(self, page: InspectorPage, value: Value, element: int, only: bool) -> None:
        """Offer the check of a value's flat ``element``, or show its result.

        ``only``: no other value is offered.
        """
        self._asked = (value.id, element)
        name = element_name(page, value, element)
        done = page.checked.get(self._asked)
        waiting = ("check", *self._asked) in page.waiting
        own = page.value is not None and page.value.id == value.id
        brief = name if len(name) <= 20 else name[:19] + "…"
        what = tr("by finite differences") if own and not value.shape else brief
        self.button.setText(tr("Checking…") if waiting else tr("Check {what}", what=what))
        self.button.setEnabled(not waiting)
        self.button.setAccessibleName(
            tr("Check the gradient of {name} by finite differences", name=name)
        )
        self.button.setVisible(done is None or bool(done.problem))
        compared = done is not None and not done.problem
        self.good.setVisible(compared and done is not None and done.agrees)
        self.bad.setVisible(compared and done is not None and not done.agrees)
        self.rows.setVisible(compared)
        self.words.say(_intro(name, done))
        self.words.setVisible(bool(self.words.said()))
        self.note.say(translated(done.note) if done is not None and compared else "")
        self.note.setVisible(bool(self.note.said()))
        if done is not None and compared:
            self.rows.say(_numbers(titles.root_name(page), name, done))
        self._show_sample(page, value, own or bool(value.shape and only))

    def _show_sample(self, page: InspectorPage, value: Value, offered: bool) -> None:
        """Offer the check of several elements at once, or show its result."""
        size = int(np.prod(value.shape, dtype=np.int64))
        self._sample = (value.id, size)
        chosen = sample_indices(size)
        waiting = sum(("check", value.id, at) in page.waiting for at in chosen)
        results = [page.checked[value.id, at] for at in chosen if (value.id, at) in page.checked]
        whole = len(results) == len(chosen)
        failed = whole and any(check.problem for check in results)
        self.sampler.setVisible(offered and size > 1 and (failed or not whole))
        self.sampler.setEnabled(not waiting)
        every = tr("all") if len(chosen) == size else str(len(chosen))
        self.sampler.setText(
            tr("Checking…") if waiting else tr("Check {every} elements", every=every)
        )
        shown = offered and size > 1 and whole
        self.summary.say(sample_summary(results, chosen, size) if shown else "")
        self.summary.setVisible(shown)

    def _ask_sample(self) -> None:
        value, size = self._sample
        for at in sample_indices(size):
            self._pane.check_requested.emit(value, at)


def sample_indices(size: int) -> list[int]:
    """Return up to `SAMPLE_SIZE` flat indices, evenly spaced, including the first and the last."""
    if size <= SAMPLE_SIZE:
        return list(range(size))
    return [round(at * (size - 1) / (SAMPLE_SIZE - 1)) for at in range(SAMPLE_SIZE)]


def sample_summary(results: list[Checked], chosen: list[int], size: int) -> str:
    """Return a summary: how many elements agree, and which do not."""
    failed = [check.problem for check in results if check.problem]
    if failed:
        return tr("Not possible: {failed}", failed=translated(failed[0]))
    wrong = [at for check, at in zip(results, chosen, strict=True) if not check.agrees]
    whole = (
        tr("all")
        if len(chosen) == size
        else tr("{chosen_count} of {size:,}", chosen_count=len(chosen), size=size)
    )
    if not wrong:
        gap = max((abs(check.numeric - check.autograd) for check in results), default=0.0)
        return tr(
            "✓ {whole} elements agree; they differ by at most {number}",
            whole=whole,
            number=texts.number(gap),
        )
    places = ", ".join(map(str, wrong))
    return tr(
        "✗ {wrong_count} of {chosen_count} elements differ: number {places}, counted from 0",
        wrong_count=len(wrong),
        chosen_count=len(chosen),
        places=places,
    )


def _intro(name: str, done: Checked | None) -> str:
    if done is None:
        return ""
    if done.problem:
        return tr("Not possible for {name}: {problem}", name=name, problem=translated(done.problem))
    coarse = tr("; such differences are good to ±{number}", number=texts.number(done.tolerance, 2))
    is_coarse = done.tolerance > 0.01 * max(abs(done.autograd), abs(done.numeric))
    check = tr(
        "Check by a small nudge of {name} (ε = {power_text})",
        name=name,
        power_text=power_text(done.eps),
    )
    return f"{check}{coarse if is_coarse else ''}"


def _numbers(root: str, name: str, done: Checked) -> list[RowContent]:
    real, imaginary = (done.autograd, done.numeric), done.imaginary or (None, None)
    sent, moved = (_number_text(a, b) for a, b in zip(real, imaginary, strict=True))
    nudged = RowContent(f"Δ{root}/Δ{name}", "", moved)
    backward = RowContent(f"∂{root}/∂{name}", tr("by autograd"), sent)
    return [nudged] if done.agrees else [nudged._replace(text=tr("by nudging")), backward]


def _number_text(real: float, imaginary: float | None) -> str:
    return texts.number(real) if imaginary is None else texts.number(complex(real, imaginary))


def power_text(eps: float) -> str:
    """Return ``10⁻⁴`` for 1e-4; other numbers with two significant digits."""
    if eps > 0 and math.isfinite(eps):
        exponent = round(math.log10(eps))
        if math.isclose(eps, 10.0**exponent, rel_tol=1e-6):
            return "10" + str(exponent).translate(_RAISED)
        shift = math.floor(math.log10(eps))
        return f"{eps / 10.0**shift:.1f}·10" + str(shift).translate(_RAISED)
    return str(eps)


def element_name(page: InspectorPage, value: Value, element: int) -> str:
    """Return ``b``, or ``w[0, 1]`` for an element of a tensor."""
    index = page.index
    assert index is not None
    name = event_text.value_name(index, value.id)
    if not value.shape:
        return name
    at = ", ".join(str(int(i)) for i in np.unravel_index(element, value.shape))
    return f"{name}[{at}]"


def uncheckable_reason(index: Index, value: Value) -> str:
    """Return the reason why a value cannot be checked; empty if it can."""
    if not value.requires_grad:
        return tr("Nothing to check: it does not require a gradient")
    if not value.dtype.startswith(("float", "bfloat", "complex")):
        return tr("Only real and complex numbers can be nudged, not {dtype}", dtype=value.dtype)
    if 0 in value.shape:
        return tr("Nothing to check: it is empty")
    if _is_hidden(index, value):
        return titles.HIDDEN
    if _has_gradient(index, value):
        return ""
    return tr("Nothing to check: no gradient ever reaches it")


def _is_hidden(index: Index, value: Value) -> bool:
    """Return whether the gradient of a value is to be found by the user."""
    found = index.snapshot(index.gradient(value.id, len(index.tape.events)).snapshot)
    return found is not None and found.is_hidden


def _has_gradient(index: Index, value: Value) -> bool:
    """Return whether a pass of the run brings a gradient to a value."""
    if value.node is None:
        home = index.first_version(value.id)
        return any(grad.snapshot is not None for grad in index.grads.get(home, []))
    ran = (index.tape.executions[number] for _, number in index.node_runs.get(value.node, []))
    return any(
        run.received[value.output_nr] is not None
        for run in ran
        if value.output_nr < len(run.received)
    )


def checkable_values(page: InspectorPage) -> list[Value]:
    """Return the values whose gradients can be checked.

    They are the selected value, and of an op also the leaves among its inputs.
    """
    index = page.index
    if index is None:
        return []
    found = [page.value] if page.value is not None else []
    op = page.op if page.selection is not None else current_op(index, page.position)
    if op is not None and not (found and found[0].is_leaf):
        inputs = [index.values[number] for number in dict.fromkeys(op.inputs)]
        found += [leaf for leaf in inputs if leaf.is_leaf]
        if not found:
            found = [index.values[number] for number in op.outputs[:1]]
    return [value for value in found if not uncheckable_reason(index, value)][:MAX_BLOCKS]


def current_op(index: Index, position: int) -> Op | None:
    """Return the op of the latest event: the op that ran, or whose backward node ran."""
    if not 0 < position <= len(index.tape.events):
        return None
    event = index.tape.events[position - 1]
    if event.kind == "op":
        return index.op(event.ref)
    if event.kind == "node":
        number = index.node_ops.get(index.tape.executions[event.ref].node)
        return None if number is None else index.op(number)
    return None


class CheckPane(Pane):
    """The possible checks of the selection, or the reason why there are none."""

    order = 15
    ruled = True

    def __init__(self) -> None:
        super().__init__()
        self._reason = Label("caption", "", self)
        self.column.addWidget(self._reason)
        self.blocks = [CheckBlock(self) for _ in range(MAX_BLOCKS)]
        for block in self.blocks:
            self.column.addWidget(block)
        self.gradcheck = GradcheckBlock(self)
        self.column.addWidget(self.gradcheck)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        for block in self.blocks:
            block.rows.set_theme(theme)
        self.gradcheck.set_theme(theme)

    def begin(self) -> None:
        """Request the checks that are offered and were not made yet."""
        for block in self.blocks:
            if not block.isHidden() and not block.button.isHidden() and block.button.isEnabled():
                block.button.click()

    def show_page(self, page: InspectorPage) -> bool:
        """Offer checks; for a selected value that cannot be checked, show the reason first."""
        index, values = page.index, checkable_values(page)
        value = page.value
        reason = ""
        if index is not None and value is not None and value not in values:
            reason = uncheckable_reason(index, value)
        self._reason.say(reason)
        self._reason.setVisible(bool(reason))
        for place, block in enumerate(self.blocks):
            block.setVisible(place < len(values))
            if place < len(values):
                offered = values[place]
                own = value is not None and offered.id == value.id
                size = int(np.prod(offered.shape, dtype=np.int64))
                element = page.element if own and page.element < size else 0
                block.show_check(page, offered, element, len(values) == 1)
        op = custom_op(page)
        self.gradcheck.setVisible(op is not None)
        if op is not None:
            self.gradcheck.show_check(page, op)
        return bool(values) or bool(reason) or op is not None


ENTRY = CheckPane
