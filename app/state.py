"""The three parts of what the window knows, and what it asks of the engine: plain values.

`app.session.Session` alone makes new ones of them.
"""

from typing import Literal, Protocol

from msgspec import Struct
from PySide6.QtCore import QObject, SignalInstance

from app.engine_process import EngineProcess
from engine.tape import Problem, Tape
from playback.coloring import Mode
from playback.picture import Flow

ENGINE_DIED = "EngineDied"
"""Type of the problem while an engine that died is being replaced."""

UNNAMED = "<gradscribe>"
"""What a program without a file is called in tracebacks."""

EngineState = Literal["starting", "ready", "running", "stopping"]


class Doc(Struct, frozen=True):
    """What the user edits. ``saved`` is the text as its file or example holds it."""

    source: str = ""
    saved: str = ""
    path: str = ""
    title: str = "Untitled"
    seed: int = 0
    device: str = "cpu"
    open_calls: frozenset[str] | None = None
    """Keys of the module frames that are open; None leaves it to the picture."""
    lesson: str = ""
    """Name of the lesson whose program this is; empty for the user's own."""

    foreign: bool = False
    """Whether it came from elsewhere and is not trusted: it runs under the policy."""
    seen: bool = False
    """Whether the user has had a look at it and run it, which alone lets a foreign one run."""

    @property
    def may_run(self) -> bool:
        """Whether it may run without being told to."""
        return self.seen or not self.foreign

    @property
    def modified(self) -> bool:
        """Whether the text differs from what is saved."""
        return self.source != self.saved


class Result(Struct, frozen=True):
    """What the engine made of it. ``run_id`` is the run in flight (0: none)."""

    run_id: int = 0
    shown_id: int = 0
    """The run whose tape is shown; 0 before the first."""
    tape: Tape = Tape()
    """The tape that is shown: the last that ran well, or the first if none did."""
    source: str = ""
    """The text that `tape` was recorded from."""
    stale: bool = False
    """True where the shown tape is not what the text now says."""
    latest: Tape = Tape()
    """The tape of the last run, however that ended; its findings are shown."""
    latest_source: str = ""
    problem: Problem | None = None
    stdout: str = ""
    stderr: str = ""
    """Warnings, each with its line."""
    engine: EngineState = "starting"
    devices: tuple[str, ...] = ("cpu",)
    torch: str = ""
    kept: tuple[str, ...] = ()
    """What the engine keeps from programs, see `engine.wire.Ready`."""
    seconds: float = 0.0

    @property
    def shows_nothing(self) -> bool:
        """Whether there is no graph: nothing has run, or what ran made no tensor."""
        return not (self.tape.ops or self.tape.values)


class Limits(Struct, frozen=True):
    """What a run may take: seconds, and bytes of copied values."""

    timeout: float = 10.0
    memory: int = 256 << 20
    is_open: bool = False
    """Whether the user's own programs may do what the user may."""


class View(Struct, frozen=True):
    """Where one looks: ``position`` p means that the first p events of the tape have happened."""

    position: int = 0
    selection: str = ""
    values: bool = True
    gradients: bool = True
    shapes: bool = True
    coloring: Mode = ""
    flow: Flow = "down"


class EngineNews(Protocol):
    """What is heard of an engine."""

    @property
    def ready(self) -> SignalInstance:
        """Carries `wire.Ready` each time an engine can take requests."""

    @property
    def received(self) -> SignalInstance:
        """Carries every other message."""

    @property
    def died(self) -> SignalInstance:
        """Says why the engine died; a fresh one is started by the link."""


class Engine(EngineNews, Protocol):
    """What a session asks of the link to the engine."""

    def start(self) -> None:
        """Start an engine."""

    def run(
        self,
        source: str,
        *,
        filename: str,
        seed: int,
        device: str,
        timeout: float,
        memory: int,
        policy: bool = False,
        is_open: bool = False,
    ) -> int:
        """Send a program and return its run id."""

    def stop(self) -> None:
        """Interrupt the run in flight; kill the engine if that does not help."""

    def check(self, run_id: int, value: int, index: int = 0) -> None:
        """Ask for a finite-difference check."""

    def gradcheck(self, run_id: int, op: int) -> None:
        """Ask for torch's gradcheck of a custom Function."""

    def probe(self, source: str, policy: bool = False) -> int:
        """Have a few lines looked at cell by cell; 0: something else runs, ask again."""

    def peek(self, run_id: int, snapshot: int) -> None:
        """Ask for all numbers of a snapshot."""

    def lend(self, to: QObject) -> EngineProcess | None:
        """Give an engine away that is ready and has nothing to do, if there is one."""

    def close(self) -> None:
        """End the engine."""
