"""Curves of the scalars that the program's loop computes: the tab, its offer, its playback."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.ui.loops.chart_making import make_loop_chart
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.messages import Computed
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops.loop_scalars import (
    LEAST_ROUNDS,
    GrowingScalars,
    ScalarSeries,
    find_loop_scalars,
)
from gradscribe.playback.tape.loops.step_curves import StepCurve, grown_curves, step_curves
from gradscribe.playback.tape.loops.steps import Steps, steps_of
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.base.time_slices import TimeSlices
from gradscribe.widgets.charts.preload import ChartImport

if TYPE_CHECKING:
    from gradscribe.widgets.charts.loop_chart import LoopChart

TURN_MS = 8
MOST_CHARACTERS = 10
"""Most characters of a name that the button says."""
TITLE = tr("Curves")
RUNNING = tr("The program runs")
NONE = tr(
    "No curve: no line of this program computes a single number in "
    "{least_rounds} steps or more. A loss that a loop computes is drawn here, "
    "step by step.",
    least_rounds=LEAST_ROUNDS,
)


class LoopCurves(QObject):
    """Find the series of each tape, offer their curves, and connect the chart to the playback."""

    said = Signal(str)
    found = Signal(object)
    """Carries the tape's series as curves over its steps (a tuple of `StepCurve`)."""
    grown = Signal(object)
    """Carries the losses of the running program, of which a draft is shown (`StepCurve`)."""

    def __init__(
        self, session: Session, clock: PlaybackClock, look: Theming, tabs: PanelTabs
    ) -> None:
        super().__init__(tabs)
        self._session, self._clock, self._look, self._tabs = session, clock, look, tabs
        self.series: tuple[ScalarSeries, ...] = ()
        self._steps = Steps((), 0)
        self.chart: LoopChart | None = None
        """Made when its tab is first shown."""
        self.offer = QPushButton()
        self.offer.setProperty("crumb", True)
        self.offer.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.offer.hide()
        self.offer.clicked.connect(self.show)
        self.words = Label("caption", NONE)
        self.page = QWidget(tabs)
        self.page.setObjectName("curves")
        self.words.setContentsMargins(12, 10, 12, 8)
        self._rows = vbox(self.page, self.words)
        self._rows.setAlignment(self.words, Qt.AlignmentFlag.AlignTop)
        self.page.hide()
        self._curves: tuple[StepCurve, ...] = ()
        self._same = self._is_quiet = False
        """True if the tape is of the same document as the one before."""
        self._growing: GrowingScalars | None = None
        self._growing_id = 0
        """The run whose scalars grow, 0 for none."""
        self._library = ChartImport(self)
        self._finding = TimeSlices(TURN_MS, self)
        self._making = TimeSlices(TURN_MS, self)
        session.begun.connect(self._begin)
        session.tape_changed.connect(self._find)
        session.computed.connect(self._grow)
        session.result_changed.connect(self._settle)
        session.moved.connect(self._follow)
        tabs.currentChanged.connect(self._turn)

    def set_quiet(self, quiet: bool) -> None:
        """Show no offer to open the curves, or again where there are any."""
        self._is_quiet = quiet
        self.offer.setVisible(bool(self.series) and not quiet)

    @property
    def is_busy(self) -> bool:
        """True while the series of the latest tape are being found."""
        return self._finding.busy

    def show(self) -> None:
        """Bring the curves to the front, with the keyboard in the chart."""
        self._add_tab()
        self._tabs.setCurrentWidget(self.page)
        self._turn()
        if self.chart is not None:
            self.chart.chart.view.setFocus()

    def close(self) -> None:
        """Stop all work."""
        self._finding.stop()
        self._making.stop()

    def _begin(self) -> None:
        self._same = False

    def _add_tab(self) -> None:
        # Only once there is something to say: the other tabs need the space of a narrow column.
        if self._tabs.indexOf(self.page) < 0:
            self._tabs.addTab(self.page, TITLE)

    # The series

    def _find(self) -> None:
        self._finding.run(self._found())

    def _found(self) -> Iterator[None]:
        result = self._session.result
        series = yield from find_loop_scalars(index_of(result.tape), result.source)
        self._steps = steps_of(result.tape)
        self._curves = step_curves(self._steps, series)
        self.found.emit(self._curves)
        if self._session.shows_draft and self._growing is not None:
            # The curves of the running program go on growing.
            return
        grew = self._growing is not None
        self._growing = None
        self.series = series
        if not series:
            self.offer.hide()
        if series:
            self._offer(series[0])
        elif not self._tabs.is_open(self.page) and self._tabs.indexOf(self.page) >= 0:
            self._tabs.removeTab(self._tabs.indexOf(self.page))
        self.words.say(NONE if not series else tr("The chart is being made…"))
        self._fill(grew)
        self._same = True
        self._turn()

    def _offer(self, first: ScalarSeries) -> None:
        self._add_tab()
        short = len(first.name) <= MOST_CHARACTERS
        self.offer.setVisible(not self._is_quiet)
        self.offer.setText(tr("Plot {name}", name=first.name) if short else tr("Plot curve"))
        self.offer.setToolTip(
            tr(
                "Show {name} of line {line} over the steps: {numbers_count:,} numbers",
                name=first.name,
                line=first.line,
                numbers_count=len(first.numbers),
            )
        )
        self._library.start()

    def _fill(self, grew: bool = False) -> None:
        """Show the series of the tape; with ``grew`` they replace those of the running program."""
        if self.chart is None:
            return
        self.words.setVisible(not self.series)
        self.chart.setVisible(bool(self.series))
        note = translated(self._session.result.tape.truncated)
        if grew and self.chart.is_growing:
            self.chart.grow(self.series, note, ended=True, steps=self._steps)
        else:
            self.chart.set_series(self.series, note, self._same, self._steps)
        self.chart.set_position(self._session.view.position)

    # While the program runs

    def _grow(self, message: Computed) -> None:
        """Show what the running program has computed so far."""
        if self._growing is None or self._growing_id != message.run_id:
            self._growing = GrowingScalars(self._session.sent)
            self._growing_id = message.run_id
        self._growing.add(message.scalars)
        series = self._growing.series()
        if not series:
            return
        if self._session.shows_draft and (curves := grown_curves(self._curves, series)):
            self.grown.emit(curves)
        self._offer(series[0])
        if not self._tabs.is_open(self.page):
            return
        if self.chart is None:
            self._turn()
            return
        self.words.hide()
        self.chart.show()
        if self.chart.is_growing:
            self.chart.grow(series, RUNNING)
        else:
            self.chart.set_series(series, RUNNING, self._same)
            self.chart.grow(series, RUNNING)

    def _settle(self) -> None:
        """Show the tape's own series again if the run has left it as it is."""
        result = self._session.result
        left = self._growing is not None and result.engine not in ("running", "stopping")
        if left and result.shown_id != self._growing_id:
            self._growing = None
            self.offer.setVisible(bool(self.series))
            if self.chart is not None and self.chart.is_growing:
                self._same = False
                self._fill()
                self._same = True

    # The chart

    def _turn(self) -> None:
        """Make the chart once its tab is shown and there is something to draw."""
        shown = self._tabs.is_open(self.page)
        some = self.series or self._growing is not None
        if shown and some and self.chart is None and not self._making.busy:
            self._making.run(self._make())
        elif shown:
            self._follow()

    def _make(self) -> Iterator[None]:
        chart = yield from make_loop_chart(self._rows, self._look, self._clock, self.said)
        self.chart = chart
        same, self._same = self._same, False
        if self._growing is not None:
            self.words.hide()
            chart.grow(self._growing.series(), RUNNING)
        else:
            self._fill()
        self._same = same

    def _follow(self) -> None:
        if self.chart is not None and self._tabs.is_open(self.page):
            self.chart.set_position(self._session.view.position)
