"""The training page's session: its store, its controller, and the engine's messages."""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.training.session import reducer
from gradscribe.app.training.session.controller import TrainController
from gradscribe.app.training.session.run_store import RunStore
from gradscribe.app.training.session.state import (
    RunState,
    TrainEngine,
    revert_changes,
    with_seeds_of,
)
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.setup_changes import rebase
from gradscribe.playback.translation import tr


class TrainSession(QObject):
    """Owns `store` and `controller`, and applies the engine's messages to the store.

    Views read the store, listen to its signals and to these, and call the controller.
    """

    said = Signal(str)
    withdrawn = Signal(str)
    """Carries what was said and holds no more."""
    catalogue_changed = Signal(object)
    curves_changed = Signal(object)
    """The curves of a `RunState` changed."""
    view_received = Signal(str)
    """Carries the kind of a view of the current run that arrived."""
    advised = Signal(object)
    """The advice on a `RunState` changed."""
    happened = Signal(object)
    """Carries a `EventDone` inside a step; None when the step is over."""
    taped = Signal(object)
    drawn = Signal(object)
    looked = Signal(object)
    exported = Signal(object)
    file_progressed = Signal(str, float)
    """(path, share) of a file that is being read; 1 when that is over."""

    def __init__(self, link: TrainEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = RunStore(link.next_id, self)
        self.controller = TrainController(self.store, link, self)
        self.controller.forgotten.connect(
            lambda name: self.said.emit(tr("Forgot “{name}”; Undo brings it back", name=name))
        )
        self.devices: tuple[str, ...] = ("cpu",)
        self.link = link
        link.progressed.connect(self.file_progressed)
        link.ready.connect(self._on_ready)
        link.received.connect(self.on_message)
        link.died.connect(self._on_engine_died)

    @property
    def setup(self) -> Setup:
        """The setup of the store."""
        return self.store.setup

    @property
    def runs(self) -> list[RunState]:
        """The runs of the store."""
        return self.store.runs

    @property
    def run(self) -> RunState | None:
        """The current run of the store."""
        return self.store.run

    def close(self) -> None:
        """End the engine."""
        self.controller.close()
        self.link.close()

    # Messages of the engine

    def _on_ready(self, message: object) -> None:
        if isinstance(message, protocol_messages.Ready):
            self.devices = message.devices or ("cpu",)
            self.said.emit("")

    def on_message(self, message: object) -> None:
        """Handle a message of the engine; those about a run that is gone are dropped."""
        match message:
            case messages.Catalogue():
                self.store.catalogue = message
                self.store.name_all()
                self.catalogue_changed.emit(message)
            case messages.FileSummary():
                self.looked.emit(message)
            case messages.TrainProblem():
                self._on_problem(message)
            case _:
                run = self.store.find(getattr(message, "run_id", -1))
                if run is not None and run.alive and not _is_older(run, message):
                    self._on_run_message(run, message)

    def _on_run_message(self, run: RunState, message: object) -> None:
        match message:
            case messages.RunStarted():
                self._on_started(run, message)
            case messages.DataSample():
                run.data = message
                self.view_received.emit("data")
            case messages.SeriesChunk():
                self._on_series(run, message)
            case messages.ViewReply():
                reducer.apply_view(run, message)
                if self._is_current(run):
                    self.view_received.emit(message.kind)
            case messages.TrainState():
                self._on_state(run, message)
            case messages.RunAdvice(_, advice):
                run.advice = advice
                self.advised.emit(run)
            case messages.EventDone():
                run.happened.append(message)
                self.happened.emit(message)
            case messages.SetupChanged():
                self._on_setup_changed(run, message)
            case messages.SetupRestored():
                self._on_setup_restored(run, message)
            case messages.StepTape():
                (self.drawn if message.live else self.taped).emit(message)
            case messages.Exported(run_id, kind):
                # An export that was not requested must not open a file dialog.
                if (run_id, kind) in self.controller.exports:
                    self.controller.exports.remove((run_id, kind))
                    self.exported.emit(message)

    def _is_current(self, run: RunState) -> bool:
        return run.run_id == self.store.look.run_id

    def _on_started(self, run: RunState, message: messages.RunStarted) -> None:
        store = self.store
        if not message.resumed:
            self._restart(run, message)
        reducer.apply_started(run, message)
        store.set_error("", "")
        self.controller.send_wishes()
        store.begun.emit(run)
        store.runs_changed.emit()
        self.controller.on_started(run)

    def _restart(self, run: RunState, message: messages.RunStarted) -> None:
        """Prepare a run that begins at step 0, or as a fork; its earlier curves are kept."""
        store = self.store
        if run.begun is not None:
            store.keep_curves(run)
        is_anew = message.parent is None or run.begun is not None
        reducer.clear_curves(run, message, is_anew)
        if is_anew:
            run.setup = with_seeds_of(run.restarts_with or run.setup, message.setup)
            run.restarts_with = None
            if self._is_current(run) and (
                (setup := with_seeds_of(store.setup, message.setup)) != store.setup
            ):
                store.set_setup(setup)
        elif run.follows_source:
            self._follow_source(run)
        if message.parent is None:
            run.branch = run.origin = None
            run.edited = ""
        elif run.branch is not None:
            run.branch = run.branch[0], message.parent_step
        run.call(store.name_of(run))

    def _follow_source(self, run: RunState) -> None:
        """Give a fork the settings of the step where it left its source."""
        source, run.follows_source = self.store.find(run.branch[0] if run.branch else 0), False
        if source is not None:
            self._set_run_setup(run, source.setup)

    def _set_run_setup(self, run: RunState, setup: Setup) -> None:
        """Take over a setup that the engine reports; what was edited since then stays."""
        before, run.setup = run.setup, setup
        run.sent = [rebase(setup, before, sent) for sent in run.sent]
        if self._is_current(run) and self.store.setup != (
            edited := rebase(setup, before, self.store.setup)
        ):
            self.store.set_setup(edited)

    def _on_series(self, run: RunState, message: messages.SeriesChunk) -> None:
        flags = sorted({*run.flags, *run.flags_ahead})
        setup = run.setup_ahead or run.setup
        lost = reducer.apply_series(run, message)
        self.curves_changed.emit(run)
        if lost:
            self.store.keep_lost(run, lost, setup, flags)
            self.store.runs_changed.emit()

    def _on_state(self, run: RunState, message: messages.TrainState) -> None:
        self.controller.on_reply()
        if run.rejoins:
            run.rejoins = False
            if self._is_current(run) and message.status == "running":
                self.controller.on_going_on()
        if reducer.apply_state(run, message):
            self.happened.emit(None)
        if not run.ahead:
            run.setup_ahead = None
        if self._is_current(run) and (
            message.status in ("failed", "gone", "ended") or message.reached
        ):
            self.controller.on_stopped()
        self.store.state_changed.emit(run)

    def _on_setup_changed(self, run: RunState, message: messages.SetupChanged) -> None:
        """Take over a setup that the engine applied or restarts the run with."""
        store, before = self.store, run.setup
        run.problem = ""
        if run.sent:
            run.sent.pop(0)
        asked = message.setup or (store.setup if self._is_current(run) else run.setup)
        setup = rebase(before, message.base or before, asked)
        if message.restarts:
            run.restarts_with = setup
            if self._is_current(run):
                names = ("split" if name == "train" else name for name in message.restarts)
                what = ", ".join(name.replace("_", " ").replace(".", " ") for name in names)
                self.said.emit(
                    tr("Restarted with the new {what}; the earlier curves are kept", what=what)
                )
        elif message.applied:
            run.setup = setup
            words = store.differs(setup, before)
            if words:
                run.add_flag(message.step, words)
                if self._is_current(run):
                    self.said.emit(
                        tr(
                            "From step {step:,}: {words}{left_behind}",
                            step=message.step,
                            words=words,
                            left_behind=self._left_behind(run),
                        )
                    )
            self._rename(run, message)
        if self._is_current(run) and (run.sent or setup == store.setup):
            # Else an edit before this was refused, and its error stays.
            store.set_error("", "")

    def _left_behind(self, run: RunState) -> str:
        """Return where the later steps of a run are from which this run has just forked."""
        of, step = run.branch or (0, 0)
        source = self.store.find(of)
        if source is None or run.step > step or source.last_known <= step:
            return ""
        return tr(
            "; the steps to {last_known:,} stay in “{name}”",
            last_known=source.last_known,
            name=source.name,
        )

    def _on_setup_restored(self, run: RunState, message: messages.SetupRestored) -> None:
        """Restore the setup of an earlier step; undo leads to the later one."""
        store, was = self.store, self.store.setup
        run.setup_ahead = run.setup_ahead or run.setup
        self._set_run_setup(run, revert_changes(run.setup, message.before, message.now))
        if self._is_current(run):
            words = store.differs(store.setup, was)
            if words:
                store.history.push(was)
            self.said.emit(
                tr("As it was at step {step:,}: {words}", step=message.step, words=words)
                if words
                else ""
            )
        self._rename(run, message)

    def _rename(
        self, run: RunState, message: messages.SetupChanged | messages.SetupRestored
    ) -> None:
        """Rename a run after its current setup, and note its lines and class names."""
        run.call(self.store.name_of(run))
        before = run.begun
        reducer.apply_lines(run, message)
        self.store.runs_changed.emit()
        if before is not None and message.classes not in ((), before.classes):
            self.store.begun.emit(run)

    def _on_problem(self, message: messages.TrainProblem) -> None:
        self.controller.on_reply()
        words = reducer.problem_text(message)
        run = self.store.find(message.run_id)
        if run is not None:
            run.note_rewind()
            if run.sent and message.place:
                run.sent.pop(0)
            run.problem = "" if message.place else words
            if run.begun is None:
                run.alive = False
            self.store.state_changed.emit(run)
            if run.begun is None and run.setup.deviates and run.branch is not None:
                self.controller.on_fork_refused(run)
        self.store.set_error(message.place, words)

    def _on_engine_died(self, why: str) -> None:
        store = self.store
        self.controller.on_reply()
        self.controller.on_stopped()
        for run in (*store.runs, *(run for _, run in store.forgotten)):
            reducer.apply_death(run, why)
        store.set_error("", why)
        if store.run is not None:
            store.state_changed.emit(store.run)
        store.runs_changed.emit()


def _is_older(run: RunState, message: object) -> bool:
    """Return whether a message is from before an engine that was left has described the run."""
    is_awaited = isinstance(message, messages.RunStarted) or (
        isinstance(message, messages.TrainState) and message.status == "gone"
    )
    return run.rejoins and run.begun is None and not is_awaited
