"""Presenter of the training page: session to widgets, and user actions back to the session."""

import math
from collections.abc import Iterator

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor

from gradscribe.app.training.page.announcer import TrainingAnnouncer
from gradscribe.app.training.page.live_graph import LiveGraph
from gradscribe.app.training.page.page import TrainingPage
from gradscribe.app.training.page.parameters import parameter_rows
from gradscribe.app.training.page.step_menu import StepMenu
from gradscribe.app.training.page.tensor_history import GRADIENTS, history_of
from gradscribe.app.training.session.curves import RunCurves, show_spread
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState, progress_text
from gradscribe.app.training.session.stop_conditions import StopConditionController
from gradscribe.app.training.setup import mistakes, model_fit, user_module
from gradscribe.app.training.setup.errors import SetupErrors
from gradscribe.app.training.setup.own_data import OwnData
from gradscribe.app.training.setup.setup_advice import SetupAdvice
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import Catalogue, EventDone, ViewRequest
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.base.time_slices import TimeSlices
from gradscribe.widgets.plots.drawing.colors import run_color
from gradscribe.widgets.plots.plot import Plot
from gradscribe.widgets.plots.training_view import SLOW_MS, ShownRun
from gradscribe.widgets.plots.views import network
from gradscribe.widgets.plots.views.loss_surface import LossSurface
from gradscribe.widgets.training.run_table import RunTableRow

TURN_MS = 12
"""Longest time that the form is filled in one turn of the event loop."""
REWIND_STEPS = 100

SPREAD_MS = 500
"""Interval of the quantiles that are collected since the first step."""


class TrainPresenter(QObject):
    """Keeps the training page in sync with its session."""

    commanded = Signal(str)
    """Carries the command of a button that was pressed."""

    def __init__(self, session: TrainSession, page: TrainingPage, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._page = session, page
        self._theme = Theme.load("light")
        self._visible = False
        self._blank = False
        self.offering, self.following = TimeSlices(TURN_MS, self), TimeSlices(TURN_MS, self)
        """Pending work on the form: offering the catalogue, and showing another setup."""
        self._switching = mistakes.MistakeSwitcher()
        self.own = OwnData(session, page, self)
        self.live = LiveGraph(session, page.graph, self)
        self.curves = RunCurves(session, page, self)
        TrainingAnnouncer(session, page.bar)
        self.until = StopConditionController(session, page, self)
        self.complaints = SetupErrors(session, page, self.own, self)
        self.advice = SetupAdvice(session, page, self._edit, self)
        self._connect()
        self._listen()
        page.form.set_setup(session.setup)
        page.bar.set_words(tr("PyTorch is starting…"), "")

    def show_existing(self) -> Iterator[None]:
        """Show the existing state of the session, a part at each step."""
        session = self._session
        if session.store.catalogue is not None:
            yield from self._page.form.offer(session.store.catalogue, session.devices)
        self._show_setup()
        self.own.show_setup()
        yield
        run = session.run
        if run is not None and run.begun is not None:
            self._show_begun(run)
            yield
        if run is not None and (run.begun is not None or run.problem):
            self._show_state(run)
            self._show_curves(run)
            yield
        if session.store.error[1]:
            self._complain(*session.store.error)
        self._show_runs()

    def _connect(self) -> None:
        session = self._session
        session.catalogue_changed.connect(self._show_catalogue)
        session.store.setup_changed.connect(self._show_setup)
        session.store.begun.connect(self._show_begun)
        session.store.state_changed.connect(self._show_state)
        session.curves_changed.connect(self._show_curves)
        session.view_received.connect(self._show_view)
        session.happened.connect(self._show_event)
        session.store.runs_changed.connect(self._show_runs)
        session.store.error_changed.connect(self._complain)
        session.looked.connect(lambda _: self._complain(*session.store.error))
        self.complaints.changed.connect(self._show_run)

    def _listen(self) -> None:
        session, page = self._session, self._page
        page.form.edited.connect(self._edit)
        page.bar.pressed.connect(self.commanded)
        page.bar.rate_changed.connect(session.controller.set_rate)
        session.store.rate_changed.connect(page.bar.set_rate)
        page.bar.set_rate(session.store.look.rate)
        page.axis.picked.connect(session.controller.rewind)
        page.lines.next_pressed.connect(session.controller.next_event)
        page.lines.tape_pressed.connect(lambda: self.commanded.emit("tape"))
        page.weights.refused.connect(session.said)
        for view in (page.weights.edited, page.units.weighed):
            view.connect(session.controller.edit_weight)
        page.units.switched.connect(self._switch)
        page.table.picked.connect(session.controller.select)
        page.table.hidden.connect(session.store.hide)
        page.table.dropped.connect(session.controller.drop)
        page.table.renamed.connect(session.store.rename)
        page.again.clicked.connect(lambda: session.controller.begin(play=True))
        page.back.clicked.connect(self._go_back)
        for plot in page.plots():
            plot.step_picked.connect(session.controller.rewind)
            plot.retrained.connect(session.controller.retrain)
            plot.menu.said.connect(session.said)
        for hands in page.planes:
            hands.menu.said.connect(session.said)
        page.view(LossSurface).step_picked.connect(session.controller.rewind)
        for tab in (page.says, page.below, page.numbers):
            tab.currentChanged.connect(self._turn)
        page.arrangement.changed.connect(self._turn)
        page.graph.graph.picked.connect(self._show_history)
        StepMenu(session, page.graph, self.live, self._show_history)
        page.parameters.picked.connect(self._show_parameter_history)
        self.live.played.connect(page.loss.set_played)
        for _, widget in page.views:
            if isinstance(widget, Plot):
                widget.wished.connect(self.want)

    def follow(self, theme: Theme) -> None:
        """Redraw the parts that take their colours from here."""
        self._theme = self.curves.theme = theme
        self._page.table.show_runs(())
        self._show_runs()

    def set_visible(self, visible: bool) -> None:
        """Request the views of a page that is visible."""
        self._visible = visible
        if visible:
            self.complaints.look()
            self.advice.look()
        else:
            self.curves.rest()
        self.want()

    def want(self) -> None:
        """Request the views whose tabs are open; of a hidden page, what is collected over time."""
        page, run = self._page, self._session.run
        self.live.set_seen(self._visible and page.is_graph_shown)
        if run is None or run.begun is None:
            self._session.controller.watch(())
            return
        if not self._visible:
            self._session.controller.watch((ViewRequest("spread", SPREAD_MS),))
            return
        wishes = [ViewRequest("scores", SLOW_MS), ViewRequest("spread", SPREAD_MS)]
        if run.setup.deviates:
            wishes.append(ViewRequest("beside", SLOW_MS))
        for entry, widget in page.open_views():
            wishes += [wish for wish in entry.wishes(widget, _shown(run)) if wish not in wishes]
        is_listed = page.below.is_open(page.parameters)
        if is_listed and not any(wish.kind == "gradients" for wish in wishes):
            wishes.append(ViewRequest("gradients", SLOW_MS))
        self._session.controller.watch(wishes)

    def _show_history(self, key: str) -> None:
        """Show the numbers of a card's tensor over the steps, or say why there are none."""
        found, run = self.live.card(key), self._session.run
        if found is None or run is None or run.begun is None:
            return
        tape, card = found
        kind, name, reason = history_of(
            card, tape, run.begun, self._page.spread.kind.currentIndex()
        )
        # The chart follows its run only while it is visible.
        show_spread(self._page, run)
        if reason or not self._page.show_history(kind, name):
            self._session.said.emit(
                reason or tr("{name} is not collected over the steps", name=name)
            )

    def _edit(self, setup: Setup) -> None:
        """Apply a changed setup, with the other changes that its mistakes need."""
        session = self._session
        setup = user_module.fill_in_program_module(
            session.setup, setup, session.controller.source, session.controller.foreign
        )
        if setup.seed != session.setup.seed:
            # Separate seeds of weights and data would override this one.
            setup = replace(setup, weight_seed=None, data_seed=None)
        if session.store.catalogue is not None:
            setup = self._match(setup, session.store.catalogue)
        if setup.mistakes != session.setup.mistakes and session.store.catalogue is not None:
            setup, words = self._switching.switched(session.setup, setup, session.store.catalogue)
            if words:
                session.said.emit(words)
        session.controller.change(setup)

    def _match(self, setup: Setup, catalogue: Catalogue) -> Setup:
        """Return the setup with a model that accepts its data, and report a different one."""
        fitting = model_fit.with_matching_model(self._session.setup, setup, catalogue)
        if fitting != setup:
            words = self._session.store.differs(fitting, setup)
            self._session.said.emit(tr("To fit the data: {words}", words=words))
        return fitting

    def _switch(self, name: str) -> None:
        """Toggle a feature of the model."""
        setup = network.toggle_feature(self._session.setup, name)
        if setup == self._session.setup:
            self._session.said.emit(tr("A model needs at least one input"))
        self._session.controller.change(setup)

    # From the session to the widgets

    def _show_catalogue(self, catalogue: object) -> None:
        listed = self._session.store.catalogue
        if listed is catalogue and listed is not None:
            self.offering.run(self._page.form.offer(listed, self._session.devices))

    def _show_setup(self) -> None:
        self.following.run(self._page.form.follow(self._session.setup))
        run, was_blank, self._blank = self._session.run, self._blank, self.own.has_no_points
        if was_blank and not self._blank and run is not None:
            self._show_all(run)

    def _show_begun(self, run: RunState) -> None:
        if run.run_id != self._session.store.look.run_id or run.begun is None:
            return
        page = self._page
        self.own.show_note(run.begun.note)
        page.lines.set_lines(run.begun.lines)
        page.form.frozen.offer(run.begun.parameters)
        for entry, widget in page.views:
            entry.begin(widget, run.begun)
        self._show_all(run)
        self.advice.show_run(run)
        self.want()
        self._show_state(run)

    def _show_all(self, run: RunState) -> None:
        self._show_data(run)
        for view in run.views.values():
            self._page.show_view(_shown(run), view)

    def _show_data(self, run: RunState) -> None:
        self._page.show_data(_shown(run), self.own.drawn())
        if run.begun is not None and run.data is not None:
            self._page.form.offer_features(run.data.x_names)

    def _show_view(self, kind: str) -> None:
        run = self._session.run
        if run is None:
            return
        if kind == "data":
            self._show_data(run)
            self.want()
        elif kind == "beside":
            self._show_beside(run)
        elif kind in run.views and not self.own.has_no_points:
            self._page.show_view(_shown(run), run.views[kind])
            if kind == "gradients":
                self._show_parameters(run)

    def _show_parameters(self, run: RunState) -> None:
        """List the parameters, once the engine has sent their norms."""
        view, table = run.views.get("gradients"), self._page.parameters
        if self._page.below.is_open(table):
            table.set_rows(() if view is None else parameter_rows(run, view))
            self._page.show_steps(_shown(run))

    def _show_parameter_history(self, name: str) -> None:
        run = self._session.run
        if run is not None:
            show_spread(self._page, run)
            self._page.show_history(GRADIENTS, name)

    def _show_state(self, run: RunState) -> None:
        if run.run_id != self._session.store.look.run_id:
            return
        page, state = self._page, run.state
        page.bar.set_playing(self._session.controller.plays)
        page.units.set_animated(run.running)
        step = run.step
        epoch = state.epoch if state is not None else None
        page.axis.set_steps(step, run.furthest, self._forks(run), epoch)
        if state is not None and not state.event:
            page.lines.leave(step)
        if run.begun is not None:
            page.lines.update_lines(run.begun.lines)
        is_named = self._session.store.catalogue is not None
        name = run.name if is_named else tr("PyTorch is starting…")
        page.bar.set_words(name, progress_text(run, self._session.controller.plays))
        problem = state.problem if state is not None else None
        why = (
            translated(problem.message)
            if problem is not None
            else run.problem or self.complaints.above
        )
        hint = f" — {translated(problem.hint)}" if problem is not None and problem.hint else ""
        page.message.say(f"{why}{hint}" if why else "")
        page.strip.setVisible(bool(why))
        page.back.setVisible(run.alive and step > 0)
        page.again.setVisible(not run.alive and not self.complaints.above)
        self._show_beside(run)
        page.back.setText(tr("Go back to step {max:,}", max=max(0, step - REWIND_STEPS)))
        for plot in page.plots():
            plot.position = float(step) if step < run.furthest else None
        self.curves.update_captions(run)
        if not run.running:
            # While it runs, growing curves update the table.
            self._show_lines()

    def _show_beside(self, run: RunState) -> None:
        """Show a line with the cost of a run's mistakes."""
        state, view = run.state, run.views.get("beside")
        problem = (
            translated(state.problem.message)
            if state is not None and state.problem is not None
            else ""
        )
        facts = view.facts if view is not None else {}
        words = mistakes.describe_cost(run.setup, facts, problem)
        shown = bool(words) and run.setup.deviates
        self._page.beside.say(words if shown else "")
        self._page.mistake_strip.setVisible(shown)

    def _forks(self, run: RunState) -> tuple[int, ...]:
        found = (other.begun for other in self._session.runs if other.begun is not None)
        return tuple(b.parent_step for b in found if b.parent == run.run_id)

    def _show_event(self, happened: EventDone | None) -> None:
        if happened is not None:
            led_to = happened.step + 1 if happened.done else None
            self._page.lines.mark_executed(happened.index, happened.changed, led_to)

    def _show_curves(self, run: RunState) -> None:
        self.curves.schedule_redraw()
        if run.run_id == self._session.store.look.run_id:
            self.curves.update_captions(run)
        self._show_lines()

    def _show_runs(self) -> None:
        # A run that will train as soon as it has begun can already be paused.
        self._page.bar.set_playing(self._session.controller.plays)
        self.curves.list()
        self._show_lines()

    def _turn(self) -> None:
        """Request and show the contents of the tab that was opened."""
        self.want()
        if self._session.run is not None:
            self._page.show_steps(_shown(self._session.run))
            self._show_parameters(self._session.run)
        self._show_lines()

    def _show_lines(self) -> None:
        session = self._session
        if not self._page.below.is_open(self._page.table):
            return
        rows, current = [], session.run
        for run in reversed(session.runs):
            is_current = run is current
            color = self._theme.forward if is_current else run_color(run.color, self._theme.dark)
            rows.append(self._line(run, color, is_current))
        self._page.table.show_runs(rows)

    def _line(self, run: RunState, color: QColor, is_current: bool) -> RunTableRow:
        # The plot shows the current run up to its step, another as far as it went.
        find = run.curve if is_current else run.whole
        loss, val = find("loss"), find("val")
        best = float(val.summary(0, val.last, 1)[1].min()) if len(val) else math.nan
        return RunTableRow(
            run_id=run.run_id,
            name=run.name,
            color=color,
            steps=int(loss.last) if len(loss) else run.step,
            loss=loss.latest,
            validation=val.latest,
            best=best,
            differs=tr("current") if is_current else self._session.store.differs(run.setup),
            shown=is_current or run.run_id not in self._session.store.look.hidden,
            current=is_current,
            alive=run.can_go_on,
        )

    def _complain(self, place: str, why: str) -> None:
        if why:
            self.following.finish()  # The error is shown at a setting, which has to exist.
        self.complaints.show(place, why)

    def _show_run(self) -> None:
        run = self._session.run
        if run is not None:
            self._show_state(run)

    def _go_back(self) -> None:
        run = self._session.run
        if run is not None:
            self._session.controller.rewind(max(0, run.step - REWIND_STEPS))


def _shown(run: RunState) -> ShownRun:
    return ShownRun(run.begun, run.data, run.views)
