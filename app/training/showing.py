"""The training session shown in the training room, and what one does there taken back to it."""

import math
from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor

from app.training import matching, mistakes, network, own_module, pictures
from app.training.complaints import Complaints
from app.training.curves import RunCurves
from app.training.live_graph import LiveGraph
from app.training.own_data import OwnData
from app.training.room import TrainingRoom
from app.training.session import TrainSession
from app.training.state import Run, progress
from app.training.until import TrainUntil
from engine.setup import Plain, Setup
from engine.training import Catalogue, Happened, Wish
from widgets.plots.colors import run_color
from widgets.slices import Slices
from widgets.theme import Theme
from widgets.training.run_table import RunLine

TURN_MS = 12
"""The form is filled for so long at a time; then the interface has its turn."""
SLOW_MS = 200
SURFACE_MS = 1500
LONG_WAY_BACK = 100
DRAWING = "click draws, drag moves, right click takes away"


class TrainShowing(QObject):
    """Keeps the training room in step with its session."""

    commanded = Signal(str)
    """A button was pressed that stands for a command."""

    def __init__(
        self, session: TrainSession, room: TrainingRoom, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._room = session, room
        self._theme = Theme.load("light")
        self._visible = False
        self._data = ""
        """The data set that is shown."""
        self._blank = False
        self.offering, self.following = Slices(TURN_MS, self), Slices(TURN_MS, self)
        """The form being filled with what there is, and with another setup."""
        self._switching = mistakes.Switching()
        self.own = OwnData(session, room, self)
        self.live = LiveGraph(session, room.graph, self)
        self.curves = RunCurves(session, room, self)
        self.until = TrainUntil(session, room, self)
        self.complaints = Complaints(session, room, self.own, self)
        self._connect()
        self._listen()
        room.form.set_setup(session.setup)
        room.bar.set_words("PyTorch is starting…", "")

    def catch_up(self) -> Iterator[None]:
        """Show what the session knew before this was made, a part of it at each step."""
        session = self._session
        if session.catalogue is not None:
            yield from self._room.form.offer(session.catalogue, session.devices)
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
        if session.complaint[1]:
            self._complain(*session.complaint)
        self._show_runs()

    def _connect(self) -> None:
        session = self._session
        session.catalogue_changed.connect(self._show_catalogue)
        session.setup_changed.connect(self._show_setup)
        session.begun.connect(self._show_begun)
        session.stated.connect(self._show_state)
        session.grown.connect(self._show_curves)
        session.viewed.connect(self._show_view)
        session.happened.connect(self._show_event)
        session.runs_changed.connect(self._show_runs)
        session.complained.connect(self._complain)
        session.looked.connect(lambda _: self._complain(*session.complaint))
        self.complaints.changed.connect(self._show_run)

    def _listen(self) -> None:
        session, room = self._session, self._room
        room.form.edited.connect(self._edit)
        room.bar.pressed.connect(self.commanded)
        room.bar.rate_changed.connect(session.set_rate)
        room.axis.picked.connect(session.rewind)
        room.lines.next_pressed.connect(session.next_event)
        room.lines.tape_pressed.connect(lambda: self.commanded.emit("tape"))
        room.weights.refused.connect(session.said)
        for view in (room.weights.edited, room.units.weighed):
            view.connect(session.edit_weight)
        room.units.switched.connect(self._switch)
        room.table.picked.connect(session.select)
        room.table.hidden.connect(session.hide)
        room.table.dropped.connect(session.drop)
        room.table.renamed.connect(session.rename)
        room.again.clicked.connect(lambda: session.begin(play=True))
        room.back.clicked.connect(self._go_back)
        for plot in room.plots():
            plot.step_picked.connect(session.rewind)
        for tab in (room.says, room.below, room.numbers):
            tab.currentChanged.connect(self._turn)
        room.spread_of.currentIndexChanged.connect(lambda _at: self.want())
        room.directions.currentIndexChanged.connect(lambda _at: self.want())
        for chosen in (room.across.chosen, room.up.chosen, room.units.sampled):
            chosen.connect(self.want)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme`` everywhere."""
        self._room.set_theme(theme)
        self.follow(theme)

    def follow(self, theme: Theme) -> None:
        """Draw what takes its colours from here in those of ``theme``."""
        self._theme = self.curves.theme = theme
        self._room.table.show_lines(())
        self._show_runs()

    def set_visible(self, visible: bool) -> None:
        """Ask for views only while the room is seen."""
        self._visible = visible
        if visible:
            self.complaints.look()
        else:
            self.curves.rest()
        self.want()

    def want(self) -> None:
        """Ask for the views whose tabs are open."""
        room, run = self._room, self._session.run
        self.live.set_seen(self._visible and room.says.currentWidget() is room.graph)
        if not self._visible or run is None or run.begun is None:
            self._session.watch(())
            return
        wishes = [Wish("scores", SLOW_MS)]
        if run.setup.mistakes:
            wishes.append(Wish("beside", SLOW_MS))
        kind = pictures.kind_of(run)
        if room.says.currentWidget() is room.picture:
            options: dict[str, Plain] = {"side": pictures.SIDE} if kind == "boundary" else {}
            if kind == "boundary" and (held := room.boundary.held) is not None:
                options["around"] = [*held]
            wishes.append(Wish(kind, 33, options))
        elif room.says.currentWidget() is room.units:
            wishes += [Wish("units", 50, {"sample": room.units.sample}), Wish("weights", 100)]
        elif room.says.currentWidget() is room.surface:
            wishes.append(Wish("surface", SURFACE_MS, self._directions()))
        if room.below.currentWidget() is room.weights and Wish("weights", 100) not in wishes:
            wishes.append(Wish("weights", 100))
        pages: dict[object, Wish] = {
            room.gradients: Wish("gradients", 50),
            room.histograms: Wish("histograms", 100, {"of": room.spread_of.currentText()}),
            room.optimizer: Wish("optimizer", SLOW_MS),
        }
        page = pages.get(room.numbers.currentWidget())
        self._session.watch([*wishes, page] if page is not None else wishes)

    def _edit(self, setup: Setup) -> None:
        """Take a changed setup over; a mistake that could not show brings what shows it."""
        session = self._session
        setup = own_module.chosen(session.setup, setup, session.source, session.foreign)
        if setup.seed != session.setup.seed:
            # New weights and new data have seeds of their own, which would hide this one.
            setup = replace(setup, weight_seed=None, data_seed=None)
        if session.catalogue is not None:
            setup = self._match(setup, session.catalogue)
        if setup.mistakes != session.setup.mistakes and session.catalogue is not None:
            setup, words = self._switching.switched(session.setup, setup, session.catalogue)
            if words:
                session.said.emit(words)
        session.change(setup)

    def _match(self, setup: Setup, catalogue: Catalogue) -> Setup:
        """Return the setup with a model that takes its data, and tell where that is another."""
        fitting = matching.matched(self._session.setup, setup, catalogue)
        if fitting != setup:
            self._session.said.emit(f"To fit the data: {self._session.differs(fitting, setup)}")
        return fitting

    def _switch(self, name: str) -> None:
        """Give the model a feature, or take it away."""
        setup = network.switched(self._session.setup, name)
        if setup == self._session.setup:
            self._session.said.emit("A model needs one input at least")
        self._session.change(setup)

    def _directions(self) -> dict[str, Plain]:
        """Return which plane of the weights is looked at."""
        room = self._room
        chosen = room.directions.currentData()
        for pick in (room.across, room.up):
            pick.setVisible(chosen == "parameters")
        if chosen != "parameters":
            return {"directions": chosen}
        return {"directions": chosen, "x": room.across.flat(), "y": room.up.flat()}

    # The session to the widgets

    def _show_catalogue(self, catalogue: object) -> None:
        listed = self._session.catalogue
        if listed is catalogue and listed is not None:
            self.offering.run(self._room.form.offer(listed, self._session.devices))

    def _show_setup(self) -> None:
        self.following.run(self._room.form.follow(self._session.setup))
        run, was_blank, self._blank = self._session.run, self._blank, self.own.is_blank
        if was_blank and not self._blank and run is not None:
            self._show_data(run)
            for view in run.views.values():
                pictures.show_view(self._room, run, view)

    def _show_begun(self, run: Run) -> None:
        if run.run_id != self._session.look.run_id or run.begun is None:
            return
        room = self._room
        if self._data != run.begun.setup.data.name:
            self._data = run.begun.setup.data.name
            room.boundary.refit()
        self.own.show_note(run.begun.note)
        room.lines.set_lines(run.begun.lines)
        room.weights.set_parameters(run.begun.parameters)
        room.offer_directions(run.begun.parameters)
        room.confusion.show_counts(np.zeros((0, 0), np.intp))
        room.fit.show_curve(np.empty(0), np.empty(0))
        if not run.begun.units:
            # Else what was seen before stays until there is another: it would flicker.
            room.units.show_layers(())
        room.histograms.show_spreads(())
        room.optimizer.show_spreads(())
        pictures.tell_left_out(room, run)
        self._show_data(run)
        for view in run.views.values():
            pictures.show_view(room, run, view)
        self.want()
        self._show_state(run)

    def _show_data(self, run: Run) -> None:
        room, begun, data = self._room, run.begun, run.data
        kind = pictures.kind_of(run)
        places = {"boundary": room.boundary, "fit": room.fit, "residuals": room.fit}
        shown = places.get(kind, room.confusion)
        room.picture.setCurrentWidget(shown)
        if begun is None or data is None:
            return
        room.form.offer_features(data.x_names)
        is_regression = begun.task in ("regression", "any")
        if kind == "boundary":
            points = pictures.points_of(data, begun.classes, is_regression)
            points = pictures.redrawn(points, self.own.drawn())
            room.boundary.show_points(points)
            room.units.show_points(points)
            words = [pictures.legend_of(begun.task, begun.classes, points.targets, data.y_names)]
            words += [DRAWING] if room.boundary.editable else pictures.axes_of(data.x_names)
            room.boundary.set_caption(" · ".join(words))
            room.boundary.show_note("")
        elif kind == "fit" and data.x.shape[0]:
            pictures.show_curve_data(room, data, self.own.drawn())

    def _show_view(self, kind: str) -> None:
        run = self._session.run
        if run is None:
            return
        if kind == "data":
            self._show_data(run)
            self.want()
        elif kind == "beside":
            self._show_beside(run)
        elif kind in run.views and not self.own.is_blank:
            pictures.show_view(self._room, run, run.views[kind])

    def _show_state(self, run: Run) -> None:
        if run.run_id != self._session.look.run_id:
            return
        room, state = self._room, run.state
        room.bar.set_playing(self._session.plays)
        room.units.set_flowing(run.running)
        step = run.step
        epoch = state.epoch if state is not None else None
        room.axis.set_steps(step, run.furthest, self._forks(run), epoch)
        if state is not None and not state.event:
            room.lines.leave(step)
        if run.begun is not None:
            room.lines.take_lines(run.begun.lines)
        room.bar.set_words(run.name, progress(run, self._session.plays))
        problem = state.problem if state is not None else None
        why = problem.message if problem is not None else run.problem or self.complaints.above
        hint = f" — {problem.hint}" if problem is not None and problem.hint else ""
        room.message.say(f"{why}{hint}" if why else "")
        room.strip.setVisible(bool(why))
        room.back.setVisible(run.alive and step > 0)
        room.again.setVisible(not run.alive and not self.complaints.above)
        self._show_beside(run)
        room.back.setText(f"Go back to step {max(0, step - LONG_WAY_BACK):,}")
        for plot in room.plots():
            plot.position = float(step) if step < run.furthest else None
        self.curves.say_loss(run)
        if not run.running:
            # While it runs its curves grow, and take the table along.
            self._show_lines()

    def _show_beside(self, run: Run) -> None:
        """Tell in a line what the mistakes of a run cost."""
        state, view = run.state, run.views.get("beside")
        problem = state.problem.message if state is not None and state.problem is not None else ""
        words = mistakes.told(run.setup, view.facts, problem) if view is not None else problem
        shown = bool(words) and bool(run.setup.mistakes)
        self._room.beside.say(words if shown else "")
        self._room.beside_strip.setVisible(shown)

    def _forks(self, run: Run) -> tuple[int, ...]:
        found = (one.begun for one in self._session.runs if one.begun is not None)
        return tuple(b.parent_step for b in found if b.parent == run.run_id)

    def _show_event(self, happened: Happened | None) -> None:
        if happened is not None:
            led_to = happened.step + 1 if happened.done else None
            self._room.lines.happen(happened.index, happened.changed, led_to)

    def _show_curves(self, run: Run) -> None:
        self.curves.grow()
        if run.run_id == self._session.look.run_id:
            self.curves.say_loss(run)
        self._show_lines()

    def _show_runs(self) -> None:
        # A run that is to train as soon as it has begun can be kept from it.
        self._room.bar.set_playing(self._session.plays)
        self.curves.list()
        self._show_lines()

    def _turn(self) -> None:
        """Show and ask for what is on the page that was turned to."""
        self.want()
        self._show_lines()

    def _show_lines(self) -> None:
        session = self._session
        if self._room.below.currentWidget() is not self._room.table:
            return
        rows, current = [], session.run
        for run in reversed(session.runs):
            is_current = run is current
            color = self._theme.forward if is_current else run_color(run.color, self._theme.dark)
            rows.append(self._line(run, color, is_current))
        self._room.table.show_lines(rows)

    def _line(self, run: Run, color: QColor, is_current: bool) -> RunLine:
        # The plot shows the run that is driven as it stood, another as far as it went.
        find = run.curve if is_current else run.whole
        loss, val = find("loss"), find("val")
        best = float(val.thinned(0, val.last, 1)[1].min()) if len(val) else math.nan
        return RunLine(
            run_id=run.run_id,
            name=run.name,
            color=color,
            steps=int(loss.last) if len(loss) else run.step,
            loss=loss.latest,
            validation=val.latest,
            best=best,
            differs="driven now" if is_current else self._session.differs(run.setup),
            shown=is_current or run.run_id not in self._session.look.hidden,
            current=is_current,
            alive=run.alive,
        )

    def _complain(self, place: str, why: str) -> None:
        if why:
            self.following.finish()  # It is told beside a setting, which has to be there.
        self.complaints.tell(place, why)

    def _show_run(self) -> None:
        run = self._session.run
        if run is not None:
            self._show_state(run)

    def _go_back(self) -> None:
        run = self._session.run
        if run is not None:
            self._session.rewind(max(0, run.step - LONG_WAY_BACK))
