"""The curves of each plot over steps, their colours, and when they are redrawn."""

import math

from PySide6.QtCore import QObject
from PySide6.QtGui import QColor

from gradscribe.app.training.page.page import TrainingPage
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState, step_words
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.plots.drawing.colors import depth_color, run_color, run_dashes
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import PALE, PlotCurve

CURVES_MS = 60
"""Least time between two redraws of the curves: thick antialiased lines are expensive."""

CORRECT_RUN = "right run"
"""Label of the correct run that is trained in parallel with a run with mistakes."""


class RunCurves(QObject):
    """Keeps the plots over steps up to date with the runs."""

    def __init__(self, session: TrainSession, page: TrainingPage, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._page = session, page
        self.theme = Theme.load("light")
        self._listed: tuple[object, ...] = ()
        self._redraw = single_shot(self, self._draw, CURVES_MS)
        session.view_received.connect(self._take_view)

    def schedule_redraw(self) -> None:
        """Schedule a redraw of curves that have grown."""
        if self._key() != self._listed:
            self.list()
        if not self._redraw.isActive():
            self._redraw.start()

    def rest(self) -> None:
        """Stop redrawing: the page is hidden."""
        self._redraw.stop()

    def list(self) -> None:
        """Set the curves of each plot."""
        self._listed = self._key()
        session, page, theme = self._session, self._page, self.theme
        look = session.store.look
        losses: list[PlotCurve] = []
        for earlier in session.runs:
            if earlier.run_id != look.run_id and earlier.run_id not in look.hidden:
                color = run_color(earlier.color, theme.dark)
                dashes = run_dashes(earlier.color)
                curve, label = earlier.whole("loss"), self._label(earlier)
                name = label or earlier.name
                losses.append(
                    PlotCurve(name, curve, color, dashes, shade=True, width=1.4, label=label)
                )
        run = session.run
        if run is not None:
            losses += later_steps(run, "val", "validation", theme.data, (5, 3))
            losses += later_steps(run, "loss", "", theme.forward)
            losses.append(PlotCurve(tr("batch"), run.curve("loss"), theme.forward, shade=True))
            val = run.curve("val")
            losses.append(PlotCurve(tr("validation"), val, theme.data, dashes=(5, 3), width=1.8))
            losses += self._right_validation(run)
            rate = PlotCurve(tr("learning rate"), run.curve("lr"), theme.parameter)
            page.rate.set_curves([*later_steps(run, "lr", rate.name, rate.color), rate])
            self._list_flow(page.flow, run, "grad:")
            self._list_flow(page.ratios, run, "ratio:")
            show_spread(page, run)
        page.loss.set_curves(losses)
        self._list_flags(run)

    def update_captions(self, run: RunState) -> None:
        """Write the current losses and learning rate of a run into the captions."""
        loss, val = run.curve("loss").latest, run.curve("val").latest
        words = [] if math.isnan(loss) else [tr("batch {number}", number=formatting.number(loss))]
        scores = run.views.get("scores")
        if run.setup.batch and scores is not None and "train_loss" in scores.facts:
            # The loss of a small batch is noisy.
            words.append(tr("all {number}", number=formatting.number(scores.facts["train_loss"])))
        if not math.isnan(val):
            words.append(tr("validation {number} (dashed)", number=formatting.number(val)))
        self._page.loss.set_caption(" · ".join(words))
        rate = run.curve("lr").latest
        self._page.rate.set_caption("" if math.isnan(rate) else tr("now {rate:g}", rate=rate))

    def _take_view(self, kind: str) -> None:
        run = self._session.run
        if kind == "spread" and run is not None:
            show_spread(self._page, run)
        if kind == "scores" and run is not None:
            self.update_captions(run)

    def _label(self, run: RunState) -> str:
        """Return the text at the end of a run's curve, empty for most runs."""
        if run.run_id == self._session.store.right_id and run is not self._session.run:
            return CORRECT_RUN
        return step_words(run.setup)

    def _right_validation(self, run: RunState) -> tuple[PlotCurve, ...]:
        """Return the validation curve of the correct run, where a mistake changes only that."""
        right = self._session.store.find(self._session.store.right_id)
        if right is None or "validate_in_train_mode" not in run.setup.mistakes:
            return ()
        color = run_color(right.color, self.theme.dark)
        name = f"{self._label(right)}, validation"
        return (PlotCurve(name, right.curve("val"), color, dashes=(5, 3), width=1.8),)

    def _list_flags(self, run: RunState | None) -> None:
        """Show where the settings of the current run changed."""
        flags = (*run.flags, *run.flags_ahead) if run is not None else ()
        for plot in self._page.plots():
            plot.set_flags(flags)

    def _draw(self) -> None:
        for plot in self._page.plots():
            plot.refresh()

    def _key(self) -> tuple[object, ...]:
        session = self._session
        shown = tuple(
            (run.run_id, run.color, len(run.series), bool(run.ahead), run.turns, tuple(run.flags))
            for run in session.runs
        )
        return (shown, session.store.look, self.theme.name)

    def _list_flow(self, plot: CurveChart, run: RunState, start: str) -> None:
        names = [name for name in run.series if name.startswith(start)]
        curves: list[PlotCurve] = []
        for place, name in enumerate(names):
            color = depth_color(place, len(names), self.theme.dark)
            dashes = run_dashes(1) if name.endswith("bias") else ()
            title = name[len(start) :]
            curves[:0] = later_steps(run, name, title, color, dashes)
            curves.append(PlotCurve(title, run.series[name], color, dashes))
        plot.set_curves(curves)


def later_steps(
    run: RunState, name: str, title: str, color: QColor, dashes: tuple[float, ...] = ()
) -> tuple[PlotCurve, ...]:
    """Return a curve from before a run went back, after the step where it is, pale."""
    before = run.ahead.get(name)
    if before is None:
        return ()
    drawn, count = run.curve(name), len(before)
    start = before.index(drawn.last) if len(drawn) else 0
    later = StepSeries()
    later.extend(before.steps(start, count), before.numbers(start, count))
    words = tr("{title} before going back", title=title).lstrip()
    pale = faded(color, PALE)
    return (PlotCurve(words, later, pale, dashes, name == "loss", 1.4, is_listed=False),)


def show_spread(page: TrainingPage, run: RunState) -> None:
    """Show the quantiles of a run, and pale those from before it went back."""
    page.spread.show_run(run.begun, run.spread, run.spread_ahead if run.ahead else None)
