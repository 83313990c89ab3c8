"""One recording in the user's own process: nothing is reset, and nothing is left behind.

A program that the engine runs gets fresh names, a seed and captured output; here all of these are
the user's and stay as they are.
"""

import inspect
import linecache
import sys
from contextlib import AbstractContextManager
from threading import main_thread
from types import FrameType

import msgspec
import torch

from gradscribe.engine.protocol.check_replies import MAX_PEEKED
from gradscribe.engine.protocol.tape import Event, Place, Problem, Snapshot, Tape
from gradscribe.engine.protocol.tape_file import summarized
from gradscribe.engine.record.backward.derivatives import formulas_for
from gradscribe.engine.record.draft import draft
from gradscribe.engine.record.freeze import freeze, leaves, tensors_in
from gradscribe.engine.record.log import EventRow
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.record.values.snapshots import snapshot
from gradscribe.engine.run.errors import to_problem
from gradscribe.engine.system import without_gc

EVENT_LIMIT = 2_000_000
"""Events after which a recording goes on without the rest."""


def source_of(filename: str, names: dict[str, object] | None = None) -> str:
    """Return the text of a file or of a notebook's cell; empty if there is none."""
    return "".join(linecache.getlines(filename, names))


class InProcessRecording:
    """A recording of what the calling thread, and threads that it starts, do with torch.

    ``filename`` is that of the code whose lines the tape names, ``text`` its text.
    """

    def __init__(self, text: str, filename: str) -> None:
        self._stance: AbstractContextManager[object] | None = None
        self._recorder = Recorder(text, filename, EVENT_LIMIT)
        self._failure: Problem | None = None
        self.big: dict[int, Snapshot] = {}
        """All numbers of tensors that the tape only summarizes; see `RunFile`."""
        self._filename, self._text = filename, text

    def start(self) -> None:
        """Begin to record; functions that are compiled already run uncompiled meanwhile."""
        if "torch._dynamo.eval_frame" in sys.modules:
            # It takes effect when it is made. Without the module nothing has been compiled yet.
            self._stance = torch.compiler.set_stance("force_eager")
        try:
            self._recorder.__enter__()
        except BaseException:
            self._resume_compiler()
            raise

    def stop(self, error: BaseException | None = None) -> None:
        """End the recording; ``error`` is what the recorded code raised."""
        recorder = self._recorder
        recorder.__exit__()
        self._resume_compiler()
        if error is None:
            return
        try:
            recorder.failure.find(error)
            self._failure = to_problem(error, self._text, self._filename)
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is not the program's
            recorder.log.stop_on_error(fault)
            self._failure = Problem(type(error).__name__, "")
        recorder.log.events.append(EventRow("error", 0, None))

    def _resume_compiler(self) -> None:
        stance, self._stance = self._stance, None
        if stance is not None:
            stance.__exit__(None, None, None)

    def tape(self, names: dict[str, object], big_budget: int = 0) -> Tape:
        """Return the tape of the recording that has ended; its values get their names from these.

        Only tensors that the recording met become leaves of it. Call it once. Numbers of big
        tensors are in `big` afterwards, up to ``big_budget`` bytes.
        """
        recorder = self._recorder
        # Modes that the user has entered, such as a default device, are not meant for this.
        with torch._C.DisableTorchFunction(), torch.no_grad(), without_gc():
            frozen = freeze(recorder, leaves(recorder, self._met(names)))
            tape = self._completed(frozen)
            self.big = self._numbers(tape, big_budget)
        recorder.backward.failed_by = None
        recorder.release()
        return tape

    @property
    def backend(self) -> str:
        """Name of the backend of torch.distributed, once a collective was recorded; else empty."""
        return self._recorder.collectives.backend

    def unfinished_tape(self) -> Tape:
        """Return what was recorded so far, from another thread than that of the program.

        The program is not going to end: it may wait in a collective for ever.
        """
        recorder, frame = self._recorder, sys._current_frames().get(main_thread().ident or 0)
        recorder.log.is_recording = recorder.log.open = False
        while frame is not None and frame.f_code.co_filename != self._filename:
            frame = frame.f_back
        line = frame.f_lineno if frame is not None else 0
        place = Place(line, 0, line, 0) if line else Place()
        text = f"The rank was on line {line} when it was ended from outside"
        with torch.no_grad():
            tape = draft(recorder, {})
        return msgspec.structs.replace(
            tape,
            status="died",
            error=Problem("RankEnded", text, place=place),
            events=(*tape.events, Event("error", 0, line)),
            torch=str(torch.__version__),
        )

    def _numbers(self, tape: Tape, budget: int) -> dict[int, Snapshot]:
        found: dict[int, Snapshot] = {}
        for at in summarized(tape, budget)[0]:
            stored = self._recorder.log.snapshots[at]
            if isinstance(stored, torch.Tensor):
                found[at] = snapshot(stored, MAX_PEEKED)
        return found

    def _met(self, names: dict[str, object]) -> dict[str, object]:
        """Return those names that refer to a tensor of the recording, or to what contains one."""
        known, own = self._recorder.tensors.known, {"__name__": names.get("__name__")}
        return own | {
            name: thing
            for name, thing in names.items()
            if type(name) is str
            and not inspect.ismodule(thing)
            and any(known(t) is not None for t in tensors_in(own | {name: thing}))
        }

    def _completed(self, tape: Tape) -> Tape:
        events, failure = tape.events, self._failure
        if failure is not None and events and events[-1].kind == "error":
            events = (*events[:-1], Event("error", 0, failure.place.line))
        devices = {value.device for value in tape.values} - {"cpu", "meta"}
        return msgspec.structs.replace(
            tape,
            status="ok" if failure is None else "error",
            error=failure,
            events=events,
            torch=str(torch.__version__),
            device=min(devices, default="cpu"),
            formulas=formulas_for(node.name for node in tape.nodes),
        )


def visible_names(frame: FrameType) -> dict[str, object]:
    """Return the variables that code in a frame sees: its own, then those of its module."""
    return {**frame.f_globals, **frame.f_locals}
