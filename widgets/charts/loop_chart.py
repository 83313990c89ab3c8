"""Chart of the scalars that a program's loop computes, over the loop's steps."""

import math
from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from gradscribe.playback.tape.loops.loop_scalars import (
    MOST_SERIES,
    ScalarSeries,
    common_rounds,
)
from gradscribe.playback.tape.loops.step_curves import steps_of_series
from gradscribe.playback.tape.loops.steps import Steps
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.open_windows import OpenWindows
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.charts.enlarged import ChartWindow, enlarge_curves
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import PlotCurve

DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2), (6, 2, 2, 2), (9, 3), (3, 5))
"""Dashes of the curves, so that colour is not the only sign."""
LEAST_HEIGHT = 190
"""Pixels below which the numbers are said in the tooltip; scaled with the text size."""
EDGE, SPACING = 12, 4
"""Pixels beside the chips, and between them."""
MOST_CHARACTERS = 18
"""Most characters on a chip; a long name is cut in its middle, as its ends differ."""
SAMPLE, SCALE = (16, 8), 2
"""Width and height of the piece of a curve on its chip, and pixels of each."""
PALE = 0.4
"""Opacity of the curves of the previous run."""


class LoopChart(QWidget):
    """Curves of scalars over steps; a click or a drag of the position line moves the playback."""

    position_picked = Signal(int)
    """Carries the position of the tape right after the picked step's number was computed."""

    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.series: tuple[ScalarSeries, ...] = ()
        self._note = ""
        self._steps = Steps((), 0)
        """The steps that the axis counts; while there are none, it counts the numbers."""
        self._along: list[float] = []
        """Places of the reference's numbers on the axis."""
        self.is_growing = False
        """True while the program runs: there is no tape yet to go to a place of."""
        self._position = 0
        self._chosen: dict[str, bool] = {}
        """Name -> shown, as the user chose; it outlives a run."""
        self._drawn: dict[str, StepSeries] = {}
        self._previous: dict[str, StepSeries] = {}
        self.chart = CurveChart(tr("Loop curves"), "", parent=self)
        self.chart.is_trained = False
        self.chart.is_titled = False
        self.chart.heading.hide()
        self._large = OpenWindows[str, ChartWindow]()
        self.chips = [QPushButton(self) for _ in range(MOST_SERIES)]
        for chip in self.chips:
            chip.setProperty("crumb", True)
            chip.setCheckable(True)
            chip.setMinimumWidth(1)  # its column may be narrower; then it is hidden
            chip.hide()
            chip.clicked.connect(self._choose)
        self.more = QPushButton(tr("More"), self)
        self.more.setProperty("crumb", True)
        self.more.setToolTip(tr("Choose among all curves"))
        self.more.setAccessibleName(tr("All curves"))
        self.more.hide()
        self.more.clicked.connect(self._open_more)
        self.words = Label("caption")
        self.words.setContentsMargins(EDGE, 0, EDGE, 6)
        choice = hbox(
            None, *self.chips, self.more, STRETCH, margins=(EDGE, 4, EDGE, 0), spacing=SPACING
        )
        vbox(self, choice, (self.chart, 1), self.words, margins=(0, 0, 0, 0), spacing=0)
        self.chart.step_picked.connect(self._pick)
        self.chart.menu.enlarged.connect(self._enlarge)
        self.chart.menu.said.connect(self.said)

    # The curves

    def set_series(
        self, series: Sequence[ScalarSeries], note: str, again: bool, steps: Steps | None = None
    ) -> None:
        """Show these series, the likeliest loss first, over the ``steps`` of their tape.

        ``note`` is said below the curves. With ``again``, they are of another run of the same
        document, and the curves so far stay, pale.
        """
        self._previous = self._drawn if again else {}
        if not again:
            self._chosen = {}
        self.series, self._note, self.is_growing = tuple(series), note, False
        self._steps = steps or Steps((), 0)
        self._list()

    def grow(
        self,
        series: Sequence[ScalarSeries],
        note: str,
        *,
        ended: bool = False,
        steps: Steps | None = None,
    ) -> None:
        """Replace the series by what they have grown to, or by the exact ones of the ``ended`` run.

        Only an ended run has ``steps``. The choice and the pale curves of the run before stay.
        """
        self.series, self._note, self.is_growing = tuple(series), note, not ended
        self._steps = steps or Steps((), 0)
        self._list()

    def shown(self) -> list[ScalarSeries]:
        """Return the series that are chosen, in the order of the choice."""
        return [one for place, one in enumerate(self.series) if self._is_shown(place, one)]

    def _is_shown(self, place: int, one: ScalarSeries) -> bool:
        # A gradient of the loss has another scale than what it is the gradient of.
        usual = place == 0 or ("loss" in one.name.lower() and "∂" not in one.name)
        return self._chosen.get(self._name(one), usual)

    def _name(self, one: ScalarSeries) -> str:
        alike = [other for other in self.series if other.name == one.name]
        return (
            one.name if len(alike) == 1 else tr("{name}, line {line}", name=one.name, line=one.line)
        )

    def _choose(self) -> None:
        for chip, one in zip(self.chips, self.series, strict=False):
            if chip.isChecked() != self._is_shown(self.series.index(one), one):
                self._chosen[self._name(one)] = chip.isChecked()
        self._list()

    def _list(self) -> None:
        """Fill chips and chart."""
        shown, reference = self.shown(), self.reference()
        self._along = self._places(reference, reference) if reference is not None else []
        self._drawn = {}
        old: list[PlotCurve] = []
        new: list[PlotCurve] = []
        for place, chip in enumerate(self.chips):
            if place >= len(self.series):
                chip.hide()
                continue
            one = self.series[place]
            name = self._name(one)
            chip.setText(_elided(name))
            chip.setAccessibleName(name)
            chip.setChecked(one in shown)
            chip.setToolTip(
                tr(
                    "{name}: line {line}, {numbers_count:,} numbers, {dtype}",
                    name=name,
                    line=one.line,
                    numbers_count=len(one.numbers),
                    dtype=one.dtype,
                )
            )
            color, dashes = self._color(place), DASHES[place]
            chip.setIcon(_sample(color, dashes))
            if one not in shown or reference is None:
                continue
            curve = self._drawn[name] = StepSeries()
            curve.extend(self._places(reference, one), one.numbers)
            if name in self._previous:
                before = self._previous[name]
                pale = faded(color, PALE)
                old.append(
                    PlotCurve(tr("{name}, run before", name=name), before, pale, dashes, width=1.2)
                )
            new.append(PlotCurve(name, curve, color, dashes))
        self._fit_chips()
        self.chart.placeholder = tr("Choose a curve above") if self.series else self._note
        self.chart.setAccessibleName(
            tr("Curves over steps: {join}", join=", ".join(c.name for c in new))
        )
        self.chart.set_curves([*old, *reversed(new)])
        self.set_position(self._position)

    def _color(self, place: int) -> QColor:
        theme = self.theme
        colors = (theme.forward, theme.data, theme.parameter, theme.module, theme.constant)
        return (*colors, theme.ink2)[place]

    def reference(self) -> ScalarSeries | None:
        """Return the shown series with the most numbers, which the axis follows."""
        return max(self.shown(), key=lambda one: len(one.numbers), default=None)

    def _places(self, reference: ScalarSeries, one: ScalarSeries) -> list[float]:
        """Return the place of each number of a series on the axis: step k from k on."""
        if not self._steps.starts:
            return common_rounds(reference, one)
        inside, share = steps_of_series(self._steps, one)
        places: list[float] = (inside + share).tolist()
        return places

    def _step(self, one: ScalarSeries, round_: int) -> int:
        """Return the step in which a series got a number, counted from 1."""
        if one.steps:
            return one.steps[round_ - 1]
        return self._steps.number_at(one.positions[round_ - 1]) or round_

    # The position

    def set_position(self, position: int) -> None:
        """Mark the step that the playback is in, and write its exact numbers."""
        self._position = position
        if self.is_growing:
            # The position is that of another run.
            position = max((one.positions[-1] for one in self.shown()), default=0)
        reference = self.reference()
        at = reference.rounds_at(position) if reference is not None else 0
        self.chart.position = None
        if reference is not None and at and not self.is_growing:
            self.chart.position = self._along[at - 1]
        self.words.say(" · ".join(filter(None, (self._numbers(position), *self._troubles()))))
        self.setAccessibleDescription(self.words.said())
        self._fit_words()

    def _numbers(self, position: int) -> str:
        parts = []
        for one in self.shown():
            at = one.rounds_at(position)
            if at:
                parts.append(
                    tr(
                        "{name} = {exact} in step {step:,}",
                        name=self._name(one),
                        exact=one.exact(at),
                        step=self._step(one, at),
                    )
                )
        return ", ".join(parts) or (tr("Click a step to go to it") if self.shown() else "")

    def _troubles(self) -> list[str]:
        found = []
        for one in self.shown():
            bad = one.first_bad
            if bad:
                kind = "NaN" if math.isnan(one.numbers[bad - 1]) else "infinite"
                step = self._step(one, bad)
                found.append(
                    tr(
                        "{name} is {kind} first in step {step:,}",
                        name=self._name(one),
                        kind=kind,
                        step=step,
                    )
                )
        return [*found, self._note] if self.series else []

    def _pick(self, step: int) -> None:
        reference = self.reference()
        if reference is not None and not self.is_growing:
            # The first number of that step, else the latest before it.
            places = self._along
            at = bisect_right(places, step - 0.5)
            is_there = at < len(places) and places[at] < step + 1
            self.position_picked.emit(reference.position_of(at + 1 if is_there else at))

    def _enlarge(self) -> None:
        self._large.show("curves", lambda: enlarge_curves(self.chart))

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Leave a low pane to the curves: the words go to the tooltip; called by Qt."""
        super().resizeEvent(happened)
        self._fit_chips()
        self._fit_words()

    def _fit_chips(self) -> None:
        """Show as many chips as fit whole; the button after them lists all."""
        chips = self.chips[: len(self.series)]
        wide = [chip.sizeHint().width() + SPACING for chip in chips]
        free = self.width() - 2 * EDGE
        crowded = sum(wide) > free
        free -= self.more.sizeHint().width() if crowded else 0
        for place, chip in enumerate(chips):
            # The first stays, so that the keyboard has somewhere to go.
            chip.setVisible(place == 0 or sum(wide[: place + 1]) <= free)
        self.more.setVisible(crowded)

    def all_curves(self) -> QMenu:
        """Return a menu of all curves, each with its choice."""
        menu = QMenu(self)
        for chip, one in zip(self.chips, self.series, strict=False):
            name = self._name(one).replace("&", "&&")
            action = menu.addAction(chip.icon(), name, chip.click)
            action.setCheckable(True)
            action.setChecked(chip.isChecked())
        return menu

    def _open_more(self) -> None:
        menu = self.all_curves()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _fit_words(self) -> None:
        low = self.height() < LEAST_HEIGHT * self.theme.scale
        self.words.setVisible(not low and bool(self.words.said()))
        self.chart.setToolTip(self.words.said() if low else "")
        # The chips tell the curves apart where there is no space for a legend.
        keyed = len(self._drawn) > 1 and not low
        if keyed != self.chart.is_keyed:
            self.chart.is_keyed = keyed
            self.chart.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self.theme = theme
        self.chart.set_theme(theme)
        self._list()


def _elided(name: str) -> str:
    name = name.replace("&", "&&")
    half = MOST_CHARACTERS // 2
    return name if len(name) <= MOST_CHARACTERS else f"{name[:half]}…{name[1 - half :]}"


def _sample(color: QColor, dashes: tuple[float, ...]) -> QIcon:
    """Return a short piece of a curve."""
    wide, high = SAMPLE
    drawn = QPixmap(SCALE * wide, SCALE * high)
    drawn.setDevicePixelRatio(SCALE)
    drawn.fill(Qt.GlobalColor.transparent)
    pen = QPen(color, 2.5)
    if dashes:
        pen.setDashPattern([dash / 2.5 for dash in dashes])
    painter = QPainter(drawn)
    painter.setPen(pen)
    painter.drawLine(0, high // 2, wide, high // 2)
    painter.end()
    return QIcon(drawn)
