"""The update of one weight as arithmetic, next to what the optimizer makes of it."""

import math
from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QScrollArea,
    QWidget,
)

from gradscribe.engine.protocol.training import Parameter, RunStarted, ViewReply, ViewRequest
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.playback.explain.update import number, update_lines
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import spin_box, vbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import Label, plain_label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme, mono_font
from gradscribe.widgets.plots.training_view import SLOW_MS, ShownRun, TrainingView, size_note

TITLE = tr("Update of a weight")
CAPTION = tr("of the next step")
SKIPPED = tr("No update: its .grad is None, and the optimizer skips such a parameter")
NO_FORMULA = tr("There is no formula here for this optimizer; SGD and Adam have one")


class UpdateCheck(QWidget):
    """Arithmetic of an update: a parameter and one of its elements are chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(TITLE)
        self._theme = Theme.load("light")
        self._parameters: tuple[Parameter, ...] = ()
        self._arrays: Mapping[str, np.ndarray] = {}
        self._facts: Mapping[str, float] = {}
        self._step = 0
        self.parameter = Choice()
        self.parameter.setAccessibleName(tr("Parameter"))
        self.parameter.currentIndexChanged.connect(self._choose)
        self.element = spin_box()
        self.element.setAccessibleName(tr("Element"))
        self.element.setToolTip(tr("Number of the element, counted row by row from 0"))
        self.element.valueChanged.connect(self._show)
        self.place = Label("caption").fit_text()
        self.when = Label("caption", CAPTION).fit_text()
        inside = QWidget()
        column = vbox(inside, margins=(16, 8, 12, 10), spacing=6)
        column.addLayout(FlowLayout(self.parameter, self.element, self.place, self.when))
        self.result, self.made, self.all = _code_label(), Label("words"), Label("caption")
        self.steps = _code_label()
        for label in (self.result, self.made, self.all, self.steps):
            column.addWidget(label)
        column.addStretch(1)
        area = QScrollArea()
        area.setAccessibleName(TITLE)
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.viewport().setAutoFillBackground(False)
        inside.setAutoFillBackground(False)
        vbox(self).addWidget(area)
        self.set_theme(self._theme)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        for label, weight, ink in (
            (self.result, 600, theme.parameter),
            (self.steps, 400, theme.ink),
        ):
            font = mono_font(12 * theme.scale, weight)
            label.setStyleSheet(
                f"color: {ink.name()}; font-family: '{font.family()}'; "
                f"font-size: {font.pixelSize()}px; font-weight: {weight};"
            )

    def begin(self, begun: RunStarted) -> None:
        """Offer the parameters of a run that has begun."""
        self.when.say(size_note(begun, MAX_VIEW_PARAMETERS) or CAPTION)
        names = [parameter.name for parameter in begun.parameters]
        if names != [parameter.name for parameter in self._parameters]:
            with QSignalBlocker(self.parameter):
                self.parameter.clear()
                self.parameter.addItems(names)
        self._parameters = begun.parameters
        self._choose()

    def clear(self) -> None:
        """Show nothing."""
        self._arrays, self._facts = {}, {}
        self._show()

    def show_update(self, view: ViewReply) -> None:
        """Show an update that the engine has made and taken back."""
        self._arrays = {name: array.array() for name, array in view.arrays.items()}
        self._facts, self._step = view.facts, view.step
        self._show()

    def _chosen(self) -> Parameter | None:
        at = self.parameter.currentIndex()
        return self._parameters[at] if 0 <= at < len(self._parameters) else None

    def _choose(self) -> None:
        chosen = self._chosen()
        with QSignalBlocker(self.element):
            self.element.setMaximum(max(0, math.prod(chosen.shape) - 1) if chosen else 0)
        self._show()

    def numbers(self) -> dict[str, float]:
        """Return the numbers of the chosen weight, by the names of the engine's arrays."""
        chosen = self._chosen()
        if chosen is None:
            return {}
        at = chosen.start + self.element.value()
        return {name: float(flat[at]) for name, flat in self._arrays.items() if at < len(flat)}

    def _show(self) -> None:
        chosen, numbers = self._chosen(), self.numbers()
        lines = update_lines(numbers, self._facts) if numbers else []
        written = [f"{line.formula}\n  = {line.numbers}\n  = {line.result}" for line in lines]
        self.result.setText(written[-1] if written else "")
        self.result.setVisible(bool(written))
        self.steps.setText("\n".join(written[:-1]))
        self.steps.setVisible(len(written) > 1)
        self.place.say(_place(chosen, self.element.value()) if chosen else "")
        self.made.say(_outcome(numbers, bool(lines)) if numbers else "")
        self.all.say(_all_weights(self._facts))
        if self._arrays:
            self.when.say(tr("of step {value:,}", value=self._step + 1))


def _code_label() -> QLabel:
    label = plain_label()
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _place(parameter: Parameter, element: int) -> str:
    """Return an element's indices: ``[2, 0]``."""
    if not parameter.shape:
        return ""
    return f"[{', '.join(map(str, np.unravel_index(element, parameter.shape)))}]"


def _outcome(numbers: Mapping[str, float], has_lines: bool) -> str:
    after, formula = numbers.get("after", math.nan), numbers.get("formula", math.nan)
    if math.isnan(numbers.get("grad", math.nan)):
        return SKIPPED
    if not has_lines:
        return tr(
            "{no_formula}: {number} becomes {number_2}",
            no_formula=NO_FORMULA,
            number=number(numbers["before"]),
            number_2=number(after),
        )
    if after == formula:
        return tr("torch makes {number}, equal to the bit", number=number(after))
    apart = number(abs(after - formula))
    return tr("torch makes {number}, which is {apart} away", number=number(after), apart=apart)


def _all_weights(facts: Mapping[str, float]) -> str:
    weights, equal = int(facts.get("weights", 0)), int(facts.get("equal", 0))
    if not weights or not facts.get("kind"):
        return ""
    if equal == weights:
        return tr("All {weights:,} weights equal to the bit", weights=weights)
    return tr(
        "{equal:,} of {weights:,} weights equal to the bit; the others at most ",
        equal=equal,
        weights=weights,
    ) + number(facts.get("apart", math.nan))


def _show(check: UpdateCheck, _run: ShownRun, view: ViewReply) -> None:
    check.show_update(view)


ENTRY = TrainingView(
    tr("Update"),
    "steps",
    15,
    UpdateCheck,
    ("update",),
    wishes=lambda _check, _run: (ViewRequest("update", SLOW_MS),),
    show=_show,
    clear=UpdateCheck.clear,
    begin=UpdateCheck.begin,
)
