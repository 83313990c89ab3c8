"""The state of the window: document, result and view, and the live re-run between them.

`Session` is the only writer. Views listen to its signals and read; they never write each other.
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gradscribe.app.document.gradient_hiding import GradientHiding
from gradscribe.app.document.side_run import run_document
from gradscribe.app.document.snapshot_source import SnapshotSource
from gradscribe.app.document.state import ENGINE_DIED, Doc, EngineState, Layer, Limits, Result, View
from gradscribe.app.document.step_recall import StepRecall
from gradscribe.app.link import own_engine
from gradscribe.app.link.client import Link
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.link.tape_intake import TapeIntake
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.lecture.slides import Slide
from gradscribe.engine.protocol.regions import Region
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem, Snapshot, StepLoop, Tape
from gradscribe.playback.by_hand.targets import GradientKey
from gradscribe.playback.code.freshness import fresh_events
from gradscribe.playback.compare.run_changes import ProgramRun
from gradscribe.playback.flow.highlight import Highlight
from gradscribe.playback.graph.coloring import Mode
from gradscribe.playback.graph.picture import Flow
from gradscribe.playback.tape.loops.brought_steps import NotRepeated
from gradscribe.playback.tape.loops.partial_loops import main_loop
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

DEBOUNCE_MS = 150
"""Pause in typing after which the program runs."""
PATIENCE_MS = 400
"""Running time after which a run is stopped if a newer text waits."""
STDOUT_LIMIT = 200_000
"""Most characters of output that are stored, the last ones."""


class Session(QObject):
    """Own Doc, Result and View, and run the program when the document changes."""

    doc_changed = Signal()
    begun = Signal()
    """Another document was opened; the previous tape is shown until its own arrives."""
    source_replaced = Signal(str, bool)
    """The text was replaced from outside the editor; True if undo must not lead back.

    Undo never mixes files: the text of one must not be saved as the other.
    """
    tape_changed = Signal()
    result_changed = Signal()
    view_changed = Signal()
    moved = Signal(int, int)
    """(position, milliseconds of the animation to it)"""
    checked = Signal(object)
    probed = Signal(object)
    computed = Signal(object)
    """Carries `messages.Computed` of the running program."""
    ran = Signal(object)
    """A run of the document has ended, well or not; carries its `ProgramRun`."""
    hiding_changed = Signal()
    """Gradients are hidden or shown; `hiding` says which."""
    costs_measured = Signal(object)
    """Carries a `messages.MeasuredCosts` about the shown tape."""
    hand_checked = Signal(object)
    """Carries a `messages.HandChecked` about the shown tape."""
    said = Signal(str)
    """A step could not be brought back; carries the reason."""

    def __init__(self, link: Link, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.doc = Doc()
        self.result = Result()
        self._recall = StepRecall()
        self.view = View()
        self.limits = Limits()
        self.hiding = GradientHiding()
        self.python_of: Callable[[str], Interpreter | None] = lambda _path: None
        """Returns the Python for the program in a file."""
        self._link = link
        self.numbers = SnapshotSource(link, self)
        self._sent = ""
        self._waiting = False
        self._fresh = True
        self.shows_draft = False
        """True if what the running program has recorded so far is shown."""
        self._shown_with = self._run_with()
        """Device, seed and Python of the run whose tape is shown."""
        self._sent_with = self._run_with()
        """Device, seed and Python of the run in flight."""
        self._place: int | None = None
        self._to_probe = ""
        """Lines of the lab that wait for a free engine."""
        self._guarded = False
        """True if the policy applies to these lines."""
        self._probe_id = 0
        self._printing = 0
        """The run whose output is shown."""
        self._since = QElapsedTimer()
        self._rest = single_shot(self, self._run_live, DEBOUNCE_MS)
        self._patience = single_shot(self, self._on_run_timeout, PATIENCE_MS)
        self.arrivals = TapeIntake(self)
        self.arrivals.arrived.connect(self._accept)
        link.ready.connect(self._on_ready)
        link.received.connect(self._on_message)
        link.died.connect(self._on_engine_died)

    @property
    def sent(self) -> str:
        """The text that was run last."""
        return self._sent

    @property
    def shown_seed(self) -> int:
        """The seed of the run whose tape is shown."""
        return self._shown_with[1]

    # The document

    def load(
        self,
        doc: Doc,
        view: View | None = None,
        tape: Tape | None = None,
        big: Mapping[int, Snapshot] | None = None,
    ) -> None:
        """Open another document; its first tape is shown even if its program fails.

        With ``view``, restore the document's own seed and device and the view's position. With a
        ``tape``, show that, at the view's position; nothing runs until the text is changed.
        ``big``: the numbers of its big tensors, see `RunFile`.
        """
        # Undo must not lead from the user's own program to one from outside, which would run.
        fresh = any(d.path or d.lesson or d.foreign for d in (self.doc, doc))
        if view is None:
            doc = replace(doc, seed=self.doc.seed, device=self.doc.device)
        doc = replace(doc, interpreter=self.python_of(doc.path))
        self.doc = doc
        self._fresh, self.shows_draft = True, False
        self.numbers.set_file(None)
        self._place = None if view is None else view.position
        layers = view or self.view
        shown = replace(self.view, values=layers.values, gradients=layers.gradients, selection="")
        shown = replace(shown, shapes=layers.shapes, highlight=None, gradient_only=False)
        self._set_view(replace(shown, breakpoints=()))
        self.begun.emit()
        self.source_replaced.emit(self.doc.source, fresh)
        self.set_breakpoints(view.breakpoints if view is not None else ())
        self.doc_changed.emit()
        if tape is not None:
            self.show_recorded(tape, self._place or 0, big)
        elif doc.may_run:
            self._run_live()
        else:
            self.show_recorded(Tape())

    def show_recorded(
        self, tape: Tape, position: int = 0, big: Mapping[int, Snapshot] | None = None
    ) -> None:
        """Show a tape that was recorded elsewhere; stop the run in flight, if any."""
        self._recall.forget()
        self.stop()
        self._sent = self.doc.source
        shown = min(0, self.result.shown_id) - 1
        self.hiding.begin((self.doc.source, *self._run_with()))
        tape = self.hiding.hidden(tape)
        result = self.result.with_latest(tape, self.doc.source, seconds=0.0)
        self._shown_with = self._run_with()
        self._set_result(result.with_shown(tape, self.doc.source, shown))
        self.numbers.set_file(big or {})
        self._fresh = tape.status != "ok" or not tape.events
        self.view = replace(self.view, position=min(position, len(tape.events)))
        if tape.events:
            self._place = None
        self.tape_changed.emit()
        self.moved.emit(self.view.position, 0)

    def reload(self, source: str, foreign: bool = False) -> None:
        """Replace the text by that of its file; undo leads back."""
        doc = replace(self.doc, source=source, saved=source)
        self._set_doc(replace(doc, foreign=True, seen=False) if foreign else doc)
        self.source_replaced.emit(source, False)
        self._run_live()

    def apply_fix(self, source: str) -> None:
        """Replace the text by a fixed one and run it; undo leads back."""
        self._set_doc(replace(self.doc, source=source))
        self.source_replaced.emit(source, False)
        self._run_live()

    def restore_run(self, source: str, seed: int, device: str) -> None:
        """Run an earlier text again with its seed and device; undo leads back to this text."""
        device = device if device in self.result.devices else self.doc.device
        self._set_doc(replace(self.doc, source=source, seed=seed, device=device))
        self.source_replaced.emit(source, False)
        self._run_live()

    def edit(self, source: str) -> None:
        """Take the text from the editor and run it after a pause in typing."""
        if source != self.doc.source:
            self._set_doc(replace(self.doc, source=source))
            if self.doc.shows_file is not None:
                # It does not run, and the tape is not that of this text.
                stale = not self._shows(source)
                self._set_result(replace(self.result, stale=stale, fresh=0))
            self._rest.start()

    def edit_live(self, source: str) -> None:
        """Take a text in which a number is being dragged and run it at once."""
        self._set_doc(replace(self.doc, source=source))
        if source != self._sent:
            self._run_live()

    def mark_saved(self, path: str, title: str, source: str) -> None:
        """Record that ``source`` was saved to the file ``path``."""
        self._set_doc(replace(self.doc, path=path, title=title, saved=source))

    def open_calls(self, keys: frozenset[str] | None) -> None:
        """Choose which module frames are open; None leaves it to the picture."""
        self._set_doc(replace(self.doc, open_calls=keys))

    def set_slides(self, slides: tuple[Slide, ...], saved: tuple[Slide, ...]) -> None:
        """Set the slides of a lecture on the document, and those that are in a file."""
        self._set_doc(replace(self.doc, slides=slides, saved_slides=saved))

    def set_seed(self, seed: int) -> None:
        """Run with another seed from now on."""
        self._set_doc(replace(self.doc, seed=seed))
        self._run_live()

    def set_device(self, device: str) -> None:
        """Run on another device from now on."""
        self._set_doc(replace(self.doc, device=device))
        self._run_live()

    def set_interpreter(self, interpreter: Interpreter | None) -> None:
        """Run in another Python from now on; None for Gradscribe's own."""
        self._set_doc(replace(self.doc, interpreter=interpreter))
        self._run_live()

    def set_limits(self, timeout: float, memory: int, is_open: bool = False) -> None:
        """Set the limits and permissions of runs, and run the program again."""
        limits = Limits(timeout, memory, is_open)
        if limits != self.limits:
            self.limits = limits
            if self.result.shown_id or self.result.run_id:
                self._run_live()

    def _set_doc(self, doc: Doc) -> None:
        if doc != self.doc:
            self.doc = doc
            self.doc_changed.emit()

    # The run

    def run_now(self) -> None:
        """Run the text at the user's request, even if it is from outside."""
        if not self.doc.may_run:
            self._set_doc(replace(self.doc, seen=True))
        self._run_live()

    def trust(self) -> None:
        """Trust the text as the user's own from now on."""
        self._set_doc(replace(self.doc, foreign=False))
        self._run_live()

    def bring_step(self, number: int) -> None:
        """Record a step of the shown loop in full, by running the program again up to it."""
        loop = main_loop(self.whole_tape)
        if self.shows_draft:
            self.said.emit(
                tr("Step {number:,} can be shown once the program has ended", number=number)
            )
            return
        if loop is None or not 1 <= number <= loop.steps:
            return
        if self._recall.wanted and self.result.engine == "running":
            self._recall.next_wanted = number
            return
        if self.result.engine != "ready" or not self.doc.may_run:
            self.said.emit(tr("A step is brought back once the program is ready to run"))
            return
        if not self._shows(self.doc.source):
            self.said.emit(tr("The text has changed since: run it before you go to its steps"))
            return
        self._recall.stays = False
        self._bring(loop, number, number)

    def bring_more(self, number: int) -> None:
        """Record steps after ``number`` in full, while that stays shown: the user steps through.

        Does nothing unless it is a step that was brought back and few of those are left.
        """
        loop = main_loop(self.whole_tape)
        if loop is None or self.result.engine != "ready" or self._recall.wanted:
            return
        first = self._recall.first_to_bring(number, self.result)
        if first and self._shows(self.doc.source):
            self._recall.stays = True
            self._bring(loop, number, first)

    def _bring(self, loop: StepLoop, number: int, first: int) -> None:
        """Run the program again for the steps from ``first``, of which ``number`` is shown."""
        self._sent = self.doc.source
        run_id = run_document(
            self._link,
            self.doc.source,
            self.doc,
            self.limits,
            wanted_steps=self._recall.begin(loop, number, first),
        )
        self._set_result(replace(self.result, run_id=run_id))
        self._begin()

    def show_whole(self) -> None:
        """Show the tape of the whole run again, after a step was brought back."""
        if self._recall.is_shown:
            tape, shown_id = self._recall.take_whole(self.result)
            self._show_same_run(tape, shown_id, len(tape.events))

    @property
    def whole_tape(self) -> Tape:
        """The tape of the whole run, also while steps that were brought back are shown."""
        return self._recall.whole(self.result)[0]

    def _accept_step(self, message: messages.Recorded) -> None:
        """Show a step that was brought back, if it is the same step."""
        number, self._recall.wanted = self._recall.wanted, 0
        whole = self.whole_tape
        stdout, stderr = whole.stdout[-STDOUT_LIMIT:], whole.stderr[-STDOUT_LIMIT:]
        self._set_result(replace(self.result, stdout=stdout, stderr=stderr))
        if self._waiting:
            return
        try:
            part = self.hiding.hidden(message.tape, is_same_run=False)
            found = self._recall.accept(part, number, self.result, self.view.position)
        except NotRepeated as problem:
            if not self._recall.stays:
                self.said.emit(
                    tr(
                        "Step {number:,} cannot be brought back: {problem}",
                        number=number,
                        problem=problem,
                    )
                )
            return
        if found is not None:
            tape, position = found
            self._show_same_run(tape, message.run_id, position)

    def _show_same_run(self, tape: Tape, shown_id: int, position: int) -> None:
        """Show another recording of the run that is shown, at a position."""
        self._set_result(self.result.with_shown(tape, self.result.source, shown_id))
        self.view = replace(self.view, position=min(position, len(tape.events)))
        self.tape_changed.emit()
        self.moved.emit(self.view.position, 0)

    def _run_live(self) -> None:
        """Run the text, or remember to once the engine is free; only the newest text waits."""
        if not self.doc.may_run:
            return
        self._rest.stop()
        if self.result.engine in ("running", "stopping"):
            self._waiting = True
            if self._since.hasExpired(PATIENCE_MS):
                self._on_run_timeout()
            return
        self._waiting = False
        self._sent, self._sent_with = self.doc.source, self._run_with()
        run_id = run_document(self._link, self.doc.source, self.doc, self.limits, drafts=True)
        # Old output stays until the first of the new run arrives, so that it does not flicker.
        self._set_result(replace(self.result, run_id=run_id))
        if self.result.engine == "ready":
            self._begin()

    def _begin(self) -> None:
        self._since.start()
        self._patience.start()
        self._set_result(replace(self.result, engine="running"))

    def stop(self) -> None:
        """Stop the run in flight and drop the text that waits for it."""
        self._waiting = False
        self._rest.stop()
        if self.result.engine == "running":
            self._stop()

    def restart(self) -> None:
        """Replace the engine by a new one and run the text in it."""
        self._waiting = False
        self._patience.stop()
        self._link.close()
        self._link.start()
        self._set_result(replace(self.result, run_id=0, engine="starting"))
        self._run_live()

    def _stop(self) -> None:
        self._set_result(replace(self.result, engine="stopping"))
        self._link.stop()

    def _on_run_timeout(self) -> None:
        if self.result.engine == "running" and self._waiting:
            self._stop()
        elif self.result.engine == "running":
            # A problem of another text would be shown at a line of this one.
            result = self.result
            known = result.problem if self._sent == result.latest_source else None
            stale = not result.shows_nothing and not self._shows(self._sent)
            fresh = self._count_fresh(result)
            self._set_result(replace(result, stale=stale, fresh=fresh, problem=known))

    def check(self, value: int, index: int) -> None:
        """Request a finite-difference check of one element of a leaf of the shown tape."""
        self._link.check(self.result.shown_id, value, index)

    def gradcheck(self, op: int) -> None:
        """Request torch's gradcheck of the custom Function that an op of the shown tape called."""
        self._link.gradcheck(self.result.shown_id, op)

    def probe(self, source: str, policy: bool = False) -> None:
        """Probe lines of the lab once the engine is free, optionally under the policy."""
        self._to_probe, self._guarded = source, policy
        self._probe_now()

    def _probe_now(self) -> None:
        if self._to_probe and self.result.engine == "ready":
            self._probe_id = self._link.probe(self._to_probe, self._guarded)
            if self._probe_id:
                self._to_probe = ""

    def check_by_hand(self, request: messages.HandCheck) -> None:
        """Request a comparison of gradients by hand with those of the shown tape."""
        self._link.check_by_hand(replace(request, run_id=self.result.shown_id))

    def measure_costs(self, kind: messages.CostKind) -> None:
        """Request times and memory of the computation of the shown tape."""
        self._link.measure_costs(self.result.shown_id, kind)

    def hide_gradients(self, hidden: bool, shown: frozenset[GradientKey] | None = None) -> None:
        """Hide all gradients until they are found, or show them; ``shown`` are found already."""
        if hidden != self.hiding.is_on or (hidden and shown not in (None, self.hiding.shown)):
            self.show_whole()
            recorded = self._recorded_tapes()
            self.hiding.switch(hidden, shown or frozenset())
            self._show_hiding(*recorded)

    def show_gradients(self, *keys: GradientKey) -> None:
        """Show the gradients of these owners, which were found."""
        recorded = self._recorded_tapes()
        self.hiding.show(*keys)
        self._show_hiding(*recorded)

    def _recorded_tapes(self) -> tuple[Tape, Tape]:
        return self.hiding.recorded(self.result.tape), self.hiding.recorded(self.result.latest)

    def _show_hiding(self, shown: Tape, latest: Tape) -> None:
        """Show the same tapes again with other gradients hidden."""
        tape = self.hiding.hidden(shown)
        last = tape if latest is shown else self.hiding.hidden(latest)
        result = replace(self.result, tape=tape, latest=last)
        if self.result.engine != "running":
            result = replace(result, stdout=last.stdout[-STDOUT_LIMIT:])
        self._set_result(result)
        self.tape_changed.emit()
        self.moved.emit(self.view.position, 0)
        self.hiding_changed.emit()

    # Messages from the engine

    def _on_ready(self, message: object) -> None:
        if isinstance(message, messages.Ready):
            devices = message.devices or ("cpu",)
            if self.doc.device not in devices:
                self._set_doc(replace(self.doc, device=devices[0]))
            problem = self.result.problem
            problem = None if problem is not None and problem.type == ENGINE_DIED else problem
            result = replace(self.result, engine="ready", problem=problem, devices=devices)
            result = replace(result, torch=message.torch, kept=message.kept)
            self._set_result(replace(result, details=message.details))
            if self.result.run_id:
                self._begin()
            elif self._waiting:
                self._run_live()

    def _on_message(self, message: object) -> None:
        match message:
            case messages.Ready():
                self._on_ready(message)
            case messages.Printed(run_id, text) if run_id and run_id == self.result.run_id:
                self._print(run_id, text)
            case messages.Computed(run_id) if run_id and run_id == self.result.run_id:
                if self.result.engine in ("running", "stopping"):
                    self.computed.emit(message)
            # 0 is no run: such a message was not requested.
            case messages.Recorded(run_id) if run_id and run_id == self.result.run_id:
                self.arrivals.accept(message)
            case messages.Checked(run_id) | messages.Gradchecked(run_id):
                if run_id == self.result.shown_id:
                    self.checked.emit(message)
            case messages.MeasuredCosts(run_id) if run_id == self.result.shown_id:
                self.costs_measured.emit(message)
            case messages.HandChecked(run_id) if run_id == self.result.shown_id:
                self.hand_checked.emit(message)
            case messages.Probed(run_id):
                # Drop the reply if newer lines wait to be probed.
                if run_id == self._probe_id and not self._to_probe:
                    self.probed.emit(message)
                self._probe_now()
            case messages.Peeked() | Region():
                self.numbers.accept(message)

    def _print(self, run_id: int, text: str) -> None:
        if self.hiding.is_on:
            return  # It may contain gradients; the tape has it without them.
        before = self.result.stdout if self._printing == run_id else ""
        self._printing = run_id
        text = before + text
        # Truncate rarely: the console only appends while the beginning is unchanged.
        text = text if len(text) < 2 * STDOUT_LIMIT else text[-STDOUT_LIMIT:]
        self._set_result(replace(self.result, stdout=text))

    def _accept(self, message: messages.Recorded) -> None:
        run_id, tape, seconds = message.run_id, message.tape, message.seconds
        if run_id != self.result.run_id:
            return
        if message.is_draft:
            self._show_draft(tape)
            return
        self._patience.stop()
        engine: EngineState = "starting" if self.result.engine == "starting" else "ready"
        if self._recall.wanted:
            self._set_result(replace(self.result, run_id=0, engine=engine))
            self._accept_step(message)
            next_wanted, self._recall.next_wanted = self._recall.next_wanted, 0
            if self._waiting:
                self._run_live()
            elif next_wanted:
                self.bring_step(next_wanted)
            return
        if self._waiting and tape.error is not None and tape.error.type == "Stopped":
            # It was stopped for a newer text; the shown result stays until that has run.
            self.shows_draft = False
            self._set_result(replace(self.result, run_id=0, engine=engine))
            self._run_live()
            return
        self.hiding.begin((self._sent, *self._sent_with))
        recorded, tape = tape, self.hiding.hidden(tape)
        result = replace(self.result, engine=engine).with_latest(tape, self._sent, seconds)
        stdout, stderr = tape.stdout[-STDOUT_LIMIT:], tape.stderr[-STDOUT_LIMIT:]
        result = replace(result, stdout=stdout, stderr=stderr)
        # A program that fails keeps the last good graph on the screen, unless there is none: the
        # document is new or was empty until now.
        is_drafted = self.shows_draft and bool(tape.events)
        self.shows_draft = False
        shows = tape.status == "ok" or self._fresh or self.result.shows_nothing or is_drafted
        if shows:
            self._fresh = tape.status != "ok"
            self._recall.forget()
            self._keep_place(tape)
            self._shown_with = self._run_with()
            self._set_result(result.with_shown(tape, self._sent, run_id))
            self.tape_changed.emit()
            self.moved.emit(self.view.position, 0)
        else:
            self._set_result(replace(result, stale=True, fresh=self._count_fresh(result)))
        device, seed, _python = self._sent_with
        self.ran.emit(ProgramRun(self._sent, seed, device, recorded))
        if self._waiting:
            self._run_live()

    def _show_draft(self, tape: Tape) -> None:
        """Show what the running program has recorded so far."""
        if self._waiting or self.result.engine != "running":
            return
        self.shows_draft = True
        self._recall.forget()
        self.hiding.begin((self._sent, *self._sent_with))
        tape = self.hiding.hidden(tape)
        self._keep_place(tape)
        self._shown_with = self._run_with()
        # Its numbers are not found by its run's id, which the whole tape will have.
        shown = min(0, self.result.shown_id) - 1
        result = replace(self.result, problem=None, latest=tape, latest_source=self._sent)
        self._set_result(result.with_shown(tape, self._sent, shown))
        self.tape_changed.emit()
        self.moved.emit(self.view.position, 0)

    def _shows(self, source: str) -> bool:
        """Return whether the shown tape is of this text, run with the present device and seed."""
        return self.result.source == source and self._shown_with == self._run_with()

    def _run_with(self) -> tuple[str, int, str]:
        python = self.doc.interpreter
        return self.doc.device, self.doc.seed, python.path if python is not None else ""

    def _count_fresh(self, result: Result) -> int:
        """Return how many events of the shown tape the text that was run would make again."""
        if self._shown_with != self._run_with():
            return 0
        return fresh_events(result.tape, result.source, self._sent)

    def _keep_place(self, tape: Tape) -> None:
        place, self._place = self._place, None
        if place is not None:
            self.view = replace(self.view, position=min(place, len(tape.events)))
            return
        before, after = len(self.result.tape.events), len(tape.events)
        at_end = self.view.position >= before
        self.view = replace(self.view, position=after if at_end else min(self.view.position, after))

    def _on_engine_died(self, why: str) -> None:
        """Record that the engine died; a new one is starting and will report when it is ready.

        Without a Python that has PyTorch none is started.

        If a program was running in it, its tape follows at once.
        """
        self._patience.stop()
        problem = Problem(type=ENGINE_DIED, message=why)
        is_missing = self.doc.interpreter is None and own_engine.is_missing()
        engine: EngineState = "missing" if is_missing else "starting"
        self._set_result(replace(self.result, engine=engine, problem=problem))

    def _set_result(self, result: Result) -> None:
        if result != self.result:
            self.result = result
            self.numbers.set_result(result)
            self.result_changed.emit()
            self._probe_now()

    # The view

    def move(self, position: int, ms: int = 0) -> None:
        """Move to a position (clamped to the tape), animated for ``ms`` milliseconds."""
        position = max(0, min(position, len(self.result.tape.events)))
        if position != self.view.position:
            self.view = replace(self.view, position=position)
            self.moved.emit(position, ms)

    def select(self, key: str) -> None:
        """Select the card or wire with that key; an empty key selects nothing."""
        self._set_view(replace(self.view, selection=key))

    def show_layers(self, shown: Mapping[Layer, bool]) -> None:
        """Show or hide the layers that are keys of ``shown``."""
        now, was = shown.get, self.view
        view = replace(was, values=now("values", was.values), shapes=now("shapes", was.shapes))
        view = replace(view, order=now("order", was.order))
        self._set_view(replace(view, gradients=now("gradients", was.gradients)))

    def set_flow(self, flow: Flow) -> None:
        """Draw the graph from top to bottom, or from left to right."""
        self._set_view(replace(self.view, flow=flow))

    def set_coloring(self, mode: Mode) -> None:
        """Set the colour mode of the graph's cards; the empty mode colours by kind."""
        self._set_view(replace(self.view, coloring=mode))

    def set_highlight(self, asked: Highlight | None) -> None:
        """Let the canvas answer a question by fading cards; None shows all."""
        self._set_view(replace(self.view, highlight=asked))

    def set_breakpoints(self, lines: tuple[int, ...]) -> None:
        """Let playing stop at these lines of the text, from 1."""
        self._set_view(replace(self.view, breakpoints=lines))

    def set_gradient_only(self, shown: bool) -> None:
        """Draw only what gradients can pass, or everything."""
        self._set_view(replace(self.view, gradient_only=shown))

    def _set_view(self, view: View) -> None:
        if view != self.view:
            self.view = view
            self.view_changed.emit()

    def close(self) -> None:
        """Stop every timer and end the engine."""
        self._rest.stop()
        self._patience.stop()
        self.arrivals.close()
        self._link.close()
