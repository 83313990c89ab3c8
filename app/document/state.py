"""Immutable state of the window (document, result, view), and the signals of an engine.

Only `app.document.session.Session` creates new values of it.
"""

from typing import Literal, Protocol

from msgspec import Struct
from PySide6.QtCore import SignalInstance

from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol.lecture.slides import Slide
from gradscribe.engine.protocol.messages import DeviceDetails
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.engine.protocol.tape_file import RunProgram
from gradscribe.playback.flow.highlight import Highlight
from gradscribe.playback.graph.coloring import Mode
from gradscribe.playback.graph.picture import Flow
from gradscribe.playback.translation import tr

ENGINE_DIED = "EngineDied"
"""Type of the problem while an engine that died is being replaced."""

UNSAVED_FILENAME = "<gradscribe>"
"""File name of an unsaved program in tracebacks."""

EngineState = Literal["starting", "ready", "running", "stopping", "missing"]
Layer = Literal["values", "gradients", "shapes", "order"]


class Doc(Struct, frozen=True):
    """The edited document. ``saved`` is the text of its file or example."""

    source: str = ""
    saved: str = ""
    path: str = ""
    title: str = tr("Untitled")
    seed: int = 0
    device: str = "cpu"
    open_calls: frozenset[str] | None = None
    """Keys of the module frames that are open; None leaves it to the picture."""
    lesson: str = ""
    """Name of the lesson whose program this is; empty for the user's own."""

    recorded: RunProgram | None = None
    """Time and environment of a run that was opened from a file, without the text."""

    foreign: bool = False
    """True if it came from outside and is not trusted: it runs under the policy."""
    seen: bool = False
    """True once the user has run it; a foreign program does not run before that."""
    interpreter: Interpreter | None = None
    """The Python that it runs in; None for Gradscribe's own."""
    slides: tuple[Slide, ...] = ()
    """The slides of a lecture on it, in order."""
    saved_slides: tuple[Slide, ...] = ()
    """The slides as they are in a file."""
    made_of: str = ""
    """Path of the notebook that it was made of, without a file of its own; else empty."""

    @property
    def has_unsaved(self) -> bool:
        """True if its text or its slides are in no file as they are."""
        return self.modified or self.slides != self.saved_slides

    @property
    def may_run(self) -> bool:
        """True if it may run automatically."""
        return self.seen or not self.foreign

    @property
    def shows_file(self) -> RunProgram | None:
        """The origin of the run that is shown as it was recorded; None if it runs here."""
        return None if self.may_run else self.recorded

    @property
    def modified(self) -> bool:
        """True if the text differs from the saved one."""
        return self.source != self.saved


class Result(Struct, frozen=True):
    """The result of the runs. ``run_id`` is the run in flight (0: none)."""

    run_id: int = 0
    shown_id: int = 0
    """The run whose tape is shown; 0 before the first."""
    tape: Tape = Tape()
    """The shown tape: the last successful one, or the first if none was."""
    source: str = ""
    """The text that `tape` was recorded from."""
    stale: bool = False
    """True if the shown tape is not that of the current text."""
    fresh: int = 0
    """Number of first events that are those of the current text all the same, if ``stale``."""
    latest: Tape = Tape()
    """The tape of the last run, successful or not; its findings are shown."""
    latest_source: str = ""
    problem: Problem | None = None
    stdout: str = ""
    stderr: str = ""
    """Warnings, each with its line."""
    engine: EngineState = "starting"
    devices: tuple[str, ...] = ("cpu",)
    details: tuple[DeviceDetails, ...] = ()
    """The hardware of the devices, see `engine.protocol.messages.Ready`."""
    torch: str = ""
    kept: tuple[str, ...] = ()
    """Resources that the sandbox denies, see `engine.protocol.messages.Ready`."""
    seconds: float = 0.0

    @property
    def shows_nothing(self) -> bool:
        """True if there is no graph: nothing has run, or the program created no tensor."""
        return not (self.tape.ops or self.tape.values)

    def with_latest(self, tape: Tape, source: str, seconds: float) -> "Result":
        """Return the result once a run of ``source`` has ended with ``tape``."""
        ended = replace(self, run_id=0, latest=tape, latest_source=source, seconds=seconds)
        return replace(ended, problem=tape.error, stdout=tape.stdout, stderr=tape.stderr)

    def with_shown(self, tape: Tape, source: str, shown_id: int) -> "Result":
        """Return the result that shows ``tape``."""
        return replace(self, tape=tape, source=source, shown_id=shown_id, stale=False)


class Limits(Struct, frozen=True):
    """Limits of a run: seconds, and bytes of copied values."""

    timeout: float = 10.0
    memory: int = 256 << 20
    is_open: bool = False
    """True if the user's own programs run with all of the user's permissions."""


class View(Struct, frozen=True):
    """The view state: ``position`` p means that the first p events of the tape have happened."""

    position: int = 0
    selection: str = ""
    values: bool = True
    gradients: bool = True
    shapes: bool = True
    order: bool = False
    coloring: Mode = ""
    flow: Flow = "down"
    highlight: Highlight | None = None
    """The question that the canvas answers by fading cards."""
    gradient_only: bool = False
    """True to draw only what gradients can pass."""
    breakpoints: tuple[int, ...] = ()
    """Lines of the text (from 1, in order) at which playing stops."""


class EngineSignals(Protocol):
    """Signals of the link to an engine."""

    @property
    def ready(self) -> SignalInstance:
        """Carries `wire.Ready` each time an engine can take requests."""

    @property
    def received(self) -> SignalInstance:
        """Carries every other message."""

    @property
    def died(self) -> SignalInstance:
        """Carries the reason why the engine died; the link starts a new one."""
