"""Reading of session files in a worker thread, as they may be long."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gradscribe.app.files.documents import Refused
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.app.training.saving import session_file
from gradscribe.app.training.saving.session_file import TrainingSessionData
from gradscribe.app.training.session.state import new_curve
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.spread_table import SpreadTable
from gradscribe.widgets.plots.step_series import StepSeries

MOST_IN_GUI_THREAD = 1 << 18
"""Largest file in bytes that is read in the GUI thread."""


@dataclass(frozen=True)
class LoadedSession:
    """The contents of a session file. ``programs``: the source of its modules.

    ``curves``: of each run, by name; ``ahead``: the losses past the step it was rewound to;
    ``spreads``: of each run, over time.
    """

    room: TrainingSessionData
    curves: tuple[dict[str, StepSeries], ...]
    ahead: tuple[dict[str, StepSeries], ...]
    programs: str
    spreads: tuple[SpreadTable, ...]


def read_session(path: Path) -> LoadedSession:
    """Return the contents of a session file. Thread-safe. Raises `Refused`."""
    return load_session(session_file.read(path))


def load_session(saved: TrainingSessionData) -> LoadedSession:
    """Return a saved session with its curves decoded. Thread-safe."""
    curves = tuple(_filled(run.curves) for run in saved.runs)
    ahead = tuple(_filled(run.ahead) for run in saved.runs)
    spreads = tuple(session_file.spread_table(run.spread) for run in saved.runs)
    return LoadedSession(saved, curves, ahead, saved.programs(), spreads)


def _filled(curves: dict[str, session_file.SessionCurve]) -> dict[str, StepSeries]:
    made = {name: new_curve(name) for name in curves}
    for name, curve in curves.items():
        session_file.fill_curve(made[name], curve)
    return made


class SessionReader(QObject):
    """Reads one file at a time; a later request replaces an earlier one."""

    said = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = BackgroundWorker(self)

    def fetch(self, path: Path, then: Callable[[LoadedSession], None]) -> None:
        """Call ``then`` with the contents of the file: at once, or when it is read.

        Raises:
            Refused: a short file cannot be read, or is no session. `said` reports it of a long one.
        """
        self._worker.cancel()
        if _size(path) <= MOST_IN_GUI_THREAD:
            then(read_session(path))
            return
        self._worker.submit(
            lambda: read_session(path), lambda found: self._on_read(path, found, then)
        )
        self.said.emit(tr("Reading {name}…", name=path.name))

    def _on_read(
        self, path: Path, found: Callable[[], LoadedSession], then: Callable[[LoadedSession], None]
    ) -> None:
        try:
            then(found())
        except Refused as refusal:
            self.said.emit(str(refusal))
        except MemoryError:
            self.said.emit(tr("{name} takes more memory than there is", name=path.name))

    def close(self) -> None:
        """Cancel, and wait for the worker."""
        self._worker.close()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        # Let the reader refuse it with the right message.
        return 0
