"""Which curves stand in which plot, in which colour, and when they are drawn anew."""

import math

from PySide6.QtCore import QObject

from app.training.room import TrainingRoom
from app.training.session import TrainSession
from app.training.state import Run
from playback import text
from widgets.once import once
from widgets.plots.colors import depth_color, run_color, run_dashes
from widgets.plots.lines import Curve, Lines
from widgets.theme import Theme

CURVES_MS = 60
"""Curves are drawn anew so often at most: thick smooth lines are dear."""

RIGHT = "right run"
"""What goes along with a run that makes mistakes."""


class RunCurves(QObject):
    """Keeps the plots over steps in step with the runs there are."""

    def __init__(
        self, session: TrainSession, room: TrainingRoom, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._room = session, room
        self.theme = Theme.load("light")
        self._listed: tuple[object, ...] = ()
        self._redraw = once(self, self._draw, CURVES_MS)
        session.viewed.connect(self._take_view)

    def grow(self) -> None:
        """Draw what has grown, soon."""
        if self._key() != self._listed:
            self.list()
        if not self._redraw.isActive():
            self._redraw.start()

    def rest(self) -> None:
        """Draw nothing, for nobody looks."""
        self._redraw.stop()

    def list(self) -> None:
        """Give each plot its curves."""
        self._listed = self._key()
        session, room, theme = self._session, self._room, self.theme
        losses: list[Curve] = []
        for one in session.runs:
            if one.run_id != session.look.run_id and one.run_id not in session.look.hidden:
                color = run_color(one.color, theme.dark)
                dashes = run_dashes(one.color)
                curve, label = one.whole("loss"), self._label(one)
                name = label or one.name
                losses.append(Curve(name, curve, color, dashes, shade=True, width=1.4, label=label))
        run = session.run
        if run is not None:
            losses.append(Curve("batch", run.curve("loss"), theme.forward, shade=True))
            val = run.curve("val")
            losses.append(Curve("validation", val, theme.data, dashes=(5, 3), width=1.8))
            losses += self._right_validation(run)
            room.rate.set_curves([Curve("learning rate", run.curve("lr"), theme.parameter)])
            self._list_flow(room.flow, run, "grad:")
            self._list_flow(room.ratios, run, "ratio:")
        room.loss.set_curves(losses)

    def say_loss(self, run: Run) -> None:
        """Say in numbers how well a run does now, and how fast it learns."""
        loss, val = run.curve("loss").latest, run.curve("val").latest
        words = [] if math.isnan(loss) else [f"batch {text.number(loss)}"]
        scores = run.views.get("scores")
        if run.setup.batch and scores is not None and "train_loss" in scores.facts:
            # A batch of a few examples jumps about.
            words.append(f"all {text.number(scores.facts['train_loss'])}")
        if not math.isnan(val):
            words.append(f"validation {text.number(val)} (dashed)")
        self._room.loss.set_caption(" · ".join(words))
        rate = run.curve("lr").latest
        self._room.rate.set_caption("" if math.isnan(rate) else f"now {rate:g}")

    def _take_view(self, kind: str) -> None:
        run = self._session.run
        if kind == "scores" and run is not None:
            self.say_loss(run)

    def _label(self, run: Run) -> str:
        """Return what is written at the end of a run's curve, nothing at most of them."""
        return RIGHT if run.run_id == self._session.right_id else ""

    def _right_validation(self, run: Run) -> tuple[Curve, ...]:
        """Return how the right run validates, where that is all a mistake changes."""
        right = self._session.find(self._session.right_id)
        if right is None or "validate_in_train_mode" not in run.setup.mistakes:
            return ()
        color = run_color(right.color, self.theme.dark)
        name = f"{self._label(right)}, validation"
        return (Curve(name, right.curve("val"), color, dashes=(5, 3), width=1.8),)

    def _draw(self) -> None:
        for plot in self._room.plots():
            plot.refresh()

    def _key(self) -> tuple[object, ...]:
        session = self._session
        shown = tuple(
            (run.run_id, run.color, len(run.series), bool(run.ahead)) for run in session.runs
        )
        return (shown, session.look, self.theme.name)

    def _list_flow(self, plot: Lines, run: Run, start: str) -> None:
        names = [name for name in run.series if name.startswith(start)]
        curves = []
        for place, name in enumerate(names):
            color = depth_color(place, len(names), self.theme.dark)
            dashes = run_dashes(1) if name.endswith("bias") else ()
            curves.append(Curve(name[len(start) :], run.series[name], color, dashes))
        plot.set_curves(curves)
