"""The only writer of the training page's state: user actions and the engine's messages.

Views connect to its signals and read `TrainSession.setup`, `run` and `runs`; they write nothing.
"""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.training.session.controls import RunControls
from gradscribe.app.training.session.reducer import apply_series
from gradscribe.app.training.session.state import RunState, TrainEngine, with_seeds_of
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.structs import replace


class TrainSession(RunControls):
    """Setup, runs and view of the training page, and the handling of the engine's messages."""

    catalogue_changed = Signal(object)
    curves_changed = Signal(object)
    """The curves of a `RunState` changed."""
    view_received = Signal(str)
    """Carries the kind of a view of the current run that arrived."""
    happened = Signal(object)
    """Carries a `EventDone` inside a step; None when the step is over."""
    taped = Signal(object)
    drawn = Signal(object)
    looked = Signal(object)
    exported = Signal(object)

    def __init__(self, link: TrainEngine, parent: QObject | None = None) -> None:
        super().__init__(link, parent)
        self.devices: tuple[str, ...] = ("cpu",)
        link.ready.connect(self._on_ready)
        link.received.connect(self.on_message)
        link.died.connect(self._on_engine_died)

    # Messages of the engine

    def _on_ready(self, message: object) -> None:
        if isinstance(message, protocol_messages.Ready):
            self.devices = message.devices or ("cpu",)
            self.said.emit("")

    def on_message(self, message: object) -> None:
        """Handle a message of the engine; those about a run that is gone are dropped."""
        match message:
            case messages.Catalogue():
                self.catalogue = message
                self.catalogue_changed.emit(message)
            case messages.FileSummary():
                self.looked.emit(message)
            case messages.TrainProblem():
                self._complain(message)
            case _:
                run = self.find(getattr(message, "run_id", -1))
                if run is not None and run.alive:
                    self._on_run_message(run, message)

    def _on_run_message(self, run: RunState, message: object) -> None:
        match message:
            case messages.RunStarted():
                self._begin(run, message)
            case messages.DataSample():
                run.data = message
                self.view_received.emit("data")
            case messages.SeriesChunk():
                apply_series(run, message)
                self.curves_changed.emit(run)
            case messages.ViewReply():
                run.views[message.kind] = message
                if run.run_id == self.look.run_id:
                    self.view_received.emit(message.kind)
            case messages.TrainState():
                self._state(run, message)
            case messages.EventDone():
                run.happened.append(message)
                self.happened.emit(message)
            case messages.SetupChanged():
                self._altered(run, message)
            case messages.SetupRestored():
                self._went_back(run, message)
            case messages.StepTape():
                (self.drawn if message.live else self.taped).emit(message)
            case messages.Exported(run_id, kind):
                # An export that was not requested must not open a file dialog.
                if (run_id, kind) in self._exports:
                    self._exports.remove((run_id, kind))
                    self.exported.emit(message)

    def _begin(self, run: RunState, message: messages.RunStarted) -> None:
        if run.begun is not None and not message.resumed:
            self._keep_curves(run)
        if not message.resumed:
            anew = message.parent is None or run.begun is not None
            run.series, run.ahead = {} if anew else run.series, {}
            run.furthest = message.parent_step
            if run.run_id == self.look.run_id:
                before, self.setup = self.setup, with_seeds_of(self.setup, message.setup)
                run.setup = self.setup if anew else run.setup
                if self.setup != before:
                    self.setup_changed.emit()
            elif run.run_id == self.right_id:
                run.setup = replace(self.setup, mistakes=())
            if message.parent is None:
                run.branch = None
                run.call(self._name_of(run))
        run.begun, run.problem = message, ""
        run.happened.clear()
        run.views.clear()
        self.error_changed.emit("", "")
        self._send_wishes()
        self.begun.emit(run)
        self.runs_changed.emit()
        if self._plays and run.run_id == self.look.run_id:
            self._link.send(messages.Play(run.run_id, self.look.rate, self.until))

    def _state(self, run: RunState, message: messages.TrainState) -> None:
        self._patience.stop()
        was, before = run.step, run.state
        run.state = message
        run.furthest = max(run.furthest, message.step)
        if message.event == 0 and run.happened and message.step != was:
            run.happened.clear()
            self.happened.emit(None)
        run.alive = run.alive and message.status != "gone"
        if message.problem is not None:
            run.problem = message.problem.message
        elif before is not None and before.problem is not None:
            run.problem = ""
        if run.run_id == self.look.run_id and (
            message.status in ("failed", "gone", "ended") or message.reached
        ):
            self._plays = False
        self.state_changed.emit(run)

    def _complain(self, message: messages.TrainProblem) -> None:
        words, line = message.problem.message, message.problem.place.line
        if message.place == "model.source" and line and not words.startswith("line "):
            words = f"line {line}: {words}"
        if message.problem.hint:
            words = f"{words} — {message.problem.hint}"
        self._patience.stop()
        run = self.find(message.run_id)
        if run is not None:
            run.problem = "" if message.place else words
            if run.begun is None:
                run.alive = False
            self.state_changed.emit(run)
        self.error_changed.emit(message.place, words)

    # The end of the engine

    def _on_engine_died(self, why: str) -> None:
        self._patience.stop()
        self._plays = False
        for run in self.runs:
            run.alive = False
            run.problem = why
            if run.state is not None:
                run.state = replace(run.state, status="gone", rate=0.0)
        self.error_changed.emit("", why)
        if self.run is not None:
            self.state_changed.emit(self.run)
        self.runs_changed.emit()
