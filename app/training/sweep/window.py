"""The window of a sweep: its options, its trials as a table, their curves and results."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QShortcut
from PySide6.QtWidgets import QLayout, QWidget

from gradscribe.app.training.sweep import curves, rows
from gradscribe.app.training.sweep.curves import TrialCurves
from gradscribe.app.training.sweep.form import SweepForm
from gradscribe.app.training.sweep.process import SweepProcess
from gradscribe.app.training.sweep.rows import TrialRow
from gradscribe.app.training.sweep.trials import short
from gradscribe.app.ui.layout import GUTTER, Panel
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.boxes import hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.splitter import GripSplitter
from gradscribe.widgets.base.tabs import CompactTabs
from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.plots.drawing.colors import depth_color
from gradscribe.widgets.plots.trials import PlottedTrial, TrialParallels, TrialScatter
from gradscribe.widgets.plots.views.curve_plot import PlotCurve
from gradscribe.widgets.tables.trial_table import TrialTable, TrialTableRow

SIZE = (1180, 720)
REST_MS = 150
"""Pause between two repaints while trials run."""
RESULTS = (tr("Validation"), tr("Loss"), tr("Steps"), tr("State"))
STATES = {
    "waiting": "",
    "running": tr("runs"),
    "ok": tr("done"),
    "nan": tr("diverged"),
    "error": tr("failed"),
    "refused": tr("refused"),
    "died": tr("died"),
    "interrupted": tr("stopped"),
}


class SweepWindow(QWidget):
    """Trains a set-up many times; a click on a trial opens it on the training page."""

    opened = Signal(object)
    """Carries the path of a trial's set-up."""

    def __init__(self, owner: QWidget, look: Theming) -> None:
        super().__init__(owner, Qt.WindowType.Window)
        self.setWindowTitle(tr("Sweep"))
        self._look = look
        self.rows: list[TrialRow] = []
        self._curves = TrialCurves()
        self._left: float | None = None
        self._left_at = 0.0
        self._setup, self._options = Setup(), tuple[str, ...]()
        self.process = SweepProcess(self)
        self.form = SweepForm(self)
        self.table = TrialTable(self)
        self.table.wide = frozenset(RESULTS[:2])
        self.chart = CurveChart(tr("Validation loss"), "", log=True)
        self.chart.is_trained = False
        self.chart.placeholder = tr("No trial runs yet")
        self.scatter, self.parallels = TrialScatter(), TrialParallels()
        self.progress = Label("caption", "")
        self.open = push_button(tr("Open trial"), self, self._open_selected)
        self.open.setToolTip(tr("Train this trial on the training page, to the same bits"))
        self.open.setEnabled(False)
        self._place()
        self._rest = single_shot(self, self._show, REST_MS)
        self._connect()
        look.add(self.form, self.table, self.chart, self.scatter, self.parallels)
        resize_within_screen(self, *SIZE)
        QShortcut(Qt.Key.Key_Escape, self, self.close)

    def _place(self) -> None:
        self.setAutoFillBackground(True)
        self.tabs = CompactTabs()
        for title, plot in (
            (tr("Curves"), self.chart),
            (tr("Scatter"), self.scatter),
            (tr("Parallel"), self.parallels),
        ):
            plot.is_titled = False
            self.tabs.addTab(plot, title)
        below = QWidget()
        vbox(
            below,
            hbox(None, (self.progress, 1), self.open, margins=(12, 8, 10, 4), spacing=8),
            (self.table, 1),
        )
        right = GripSplitter(Qt.Orientation.Vertical, GUTTER)
        right.addWidget(Panel(self.tabs, tr("Charts")))
        right.addWidget(Panel(below, tr("Trials")))
        right.setSizes([390, 290])
        columns = GripSplitter(Qt.Orientation.Horizontal, GUTTER)
        columns.addWidget(Panel(self.form, tr("Options")))
        columns.addWidget(right)
        columns.setSizes([320, 840])
        columns.setStretchFactor(1, 1)
        whole = vbox(self, (columns, 1), margins=(GUTTER, GUTTER, GUTTER, GUTTER))
        whole.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)

    def _connect(self) -> None:
        self.form.started.connect(self.start)
        self.form.stopped.connect(self._stop)
        self.process.begun.connect(self._begin)
        self.process.changed.connect(self._change)
        self.process.timed.connect(self._time)
        self.process.ended.connect(self._end)
        self.table.opened.connect(self.open_trial)
        self.table.selected.connect(self._select)
        for plot in (self.scatter, self.parallels):
            plot.picked.connect(self.open_trial)

    # The sweep

    def set_setup(
        self,
        setup: Setup,
        entries: Sequence[CatalogueEntry],
        steps: int,
        out: Path,
        options: Sequence[str],
    ) -> None:
        """Offer to sweep this setup; one that runs stays."""
        if self.process.is_running:
            return
        self._setup, self._options = setup, tuple(options)
        if not self.form.out.text():
            self.form.out.setText(str(out))
        self.form.set_setup(setup, entries, steps)

    def start(self) -> None:
        """Run the trials that have no result in the results' file yet."""
        if self.process.is_running or self.form.sweep is None:
            return
        path = Path(self.form.out.text().strip())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.form.say(
                tr(
                    "{parent} cannot be made: {strerror}",
                    parent=path.parent,
                    strerror=error.strerror,
                ),
                is_error=True,
            )
            return
        self.rows, self._curves, self._left = [], TrialCurves(), None
        self.form.set_running(True)
        self.form.say(tr("Starting…"))
        self.process.start(self._setup, self.form.texts(), [*self.form.arguments(), *self._options])

    def _stop(self) -> None:
        self.form.say(tr("Stopping…"))
        self.process.stop()

    def _begin(self, found: list[TrialRow]) -> None:
        self.rows = found
        for row in found:
            if row.setup:
                self._curves.read(row, self.process.folder)
        self.form.say(tr("Training…"))
        self._show()

    def _change(self, row: TrialRow) -> None:
        if not 0 < row.number <= len(self.rows):
            return
        self.rows[row.number - 1] = row
        if row.status == "running":
            self._curves.add(row)
        else:
            self._curves.read(row, self.process.folder)
        if not self._rest.isActive():
            self._rest.start()

    def _time(self, seconds: float | None) -> None:
        self._left, self._left_at = seconds, time.monotonic()

    def _end(self, reason: str) -> None:
        self.form.set_running(False)
        self._left = None
        self._show()
        if reason:
            self.form.say(reason, is_error=True)
        else:
            best = rows.best(self.rows)
            words = (
                tr("The best: {title}", title=best.title)
                if best is not None
                else tr("No trial ended well")
            )
            self.form.say(words, is_error=best is None)

    # What is shown

    def _show(self) -> None:
        names = tuple(self.rows[0].values) if self.rows else ()
        best = rows.best(self.rows)
        number = None if best is None else best.number
        self.table.show_trials(
            (tr("Trial"), *names, *RESULTS), [_table_row(row, number) for row in self.rows]
        )
        trials = [_plotted(row) for row in self.rows]
        for plot in (self.scatter, self.parallels):
            plot.show_trials(names, trials)
        self._show_curves(number)
        done = sum(row.status not in ("waiting", "running") for row in self.rows)
        parts = (
            [
                tr(
                    "{done:,} of {trials}",
                    done=done,
                    trials=ngettext("{count:,} trial", "{count:,} trials", len(self.rows)),
                )
            ]
            if self.rows
            else []
        )
        if self._left is not None and self.process.is_running:
            left = max(0.0, self._left - (time.monotonic() - self._left_at))
            parts.append(tr("{duration} left", duration=duration(left)))
        if best is not None:
            parts.append(tr("best {score:.4g} ({title})", score=best.score, title=best.title))
        self.progress.say(" · ".join(parts))

    def _show_curves(self, best: int | None) -> None:
        theme, listed = self._look.theme(), curves.shown(self.rows)
        ended = [row for row in self.rows if row.score == row.score]
        is_validated = not ended or any(row.validation_loss is not None for row in ended)
        words = "" if is_validated else tr("Training loss: there is no data to validate on")
        ranks = {row.number: at for at, row in enumerate(reversed(rows.ranked(ended)))}
        drawn = []
        for row in reversed(listed):
            series = self._curves.series.get(row.number)
            if series is not None and len(series):
                is_best = row.number == best
                color = theme.ink3
                if row.number in ranks:
                    color = depth_color(ranks[row.number], max(2, len(ranks)), theme.dark)
                color = theme.ink if is_best else color
                name = f"{row.number}: {row.title}"
                drawn.append(PlotCurve(name, series, color, width=2.6 if is_best else 1.3))
        self.chart.set_curves(drawn)
        if len(self.rows) > len(listed) == curves.SHOWN:
            words = tr(
                "{listed_count} of {rows_count:,}: the best, and those that run",
                listed_count=len(listed),
                rows_count=len(self.rows),
            )
        self.chart.set_caption(words)

    def _select(self, number: int | None) -> None:
        for plot in (self.scatter, self.parallels):
            plot.select(number)
        self.open.setEnabled(number is not None and bool(self.rows[number - 1].setup))

    def _open_selected(self) -> None:
        if self.scatter.selected is not None:
            self.open_trial(self.scatter.selected)

    def open_trial(self, number: int) -> None:
        """Open a trial that has ended on the training page."""
        row = self.rows[number - 1]
        self.table.select(number)
        if row.setup:
            self.opened.emit(self.process.folder.parent / row.setup)
            self.form.say(tr("Trial {number} trains on the training page", number=number))
        else:
            self.form.say(tr("Trial {number} has not ended yet", number=number))

    def closeEvent(self, happened: QCloseEvent) -> None:
        """Let a sweep that runs go on; called by Qt."""
        happened.accept()


def duration(seconds: float) -> str:
    """Return a duration as text: ``40 s``, ``3 min``, ``2 h 5 min``."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return (
        tr("{value} min", value=whole // 60)
        if whole < 3600
        else tr("{value:,} h {value_2} min", value=whole // 3600, value_2=whole % 3600 // 60)
    )


def _plotted(row: TrialRow) -> PlottedTrial:
    values = tuple(
        float(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else value
        if isinstance(value, str)
        else json.dumps(value)
        for value in row.values.values()
    )
    result = (
        tr("loss {score:.6g}", score=row.score) if math.isfinite(row.score) else STATES[row.status]
    )
    lines = [tr("Trial {number}: {result}", number=row.number, result=result)]
    lines += [f"{name} {short(value)}" for name, value in row.values.items()]
    return PlottedTrial(row.number, values, row.score, "\n".join(lines))


def _table_row(row: TrialRow, best: int | None) -> TrialTableRow:
    values = [*row.values.values()]
    state = STATES[row.status] + (f": {translated(row.problem)}" if row.problem else "")
    losses = (row.validation_loss, row.loss)
    cells = (
        str(row.number),
        *map(short, values),
        *("" if loss is None else f"{loss:.6g}" for loss in losses),
        f"{row.step:,}" if row.step else "",
        state,
    )
    keys: list[float | str] = [row.number]
    keys += [float(v) if isinstance(v, int | float) else short(v) for v in values]
    keys += [math.inf if loss is None else loss for loss in losses]
    return TrialTableRow(row.number, cells, (*keys, row.step, state), row.number == best)
