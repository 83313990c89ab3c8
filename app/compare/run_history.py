"""The runs of each document: text, seed, device and tape, the latest last."""

import contextlib
from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.app.files.run_histories import RunEntry, RunHistories
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.compare.run_changes import ProgramRun, edited_lines
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

MOST_RUNS = 60
"""Most runs of a document that are stored, apart from those that the user keeps."""
MOST_BYTES = 256 << 20
"""Most bytes of numbers of all stored runs; then the oldest go, apart from those kept."""
MERGE_MS = 1500
"""Runs that change the same lines again within this time are one: a drag, or a word typed."""
SAVE_MS = 2000
"""Rest after a change of the history before it is stored."""
BYTES_PER_ROW = 200
"""Memory of a row of a tape, without its numbers."""


class StoredRun(Struct, frozen=True, eq=False):
    """A run in the history. ``number`` counts the runs of a document from 1."""

    number: int
    run: ProgramRun
    size: int
    name: str = ""
    is_kept: bool = False
    is_recorded: bool = True
    """False if it is of an earlier session: its tape is not there until it has run again."""
    result: str = ""
    """Text of its result, if it is not recorded."""
    failed: bool = False
    is_foreign: bool = False
    """True if its text came from elsewhere: it is not stored for later sessions."""

    @property
    def title(self) -> str:
        """The name that the user gave it, else its number."""
        return self.name or tr("Run {number}", number=self.number)

    @property
    def is_spared(self) -> bool:
        """True if it stays when older runs are given up, and in a drag."""
        return self.is_kept or bool(self.name)


class RunHistory(QObject):
    """Store the finished runs of the shown document, and those of documents before it."""

    changed = Signal()
    added = Signal()
    """A run has been added, or replaced the last."""

    def __init__(
        self,
        session: Session,
        parent: QObject | None = None,
        files: RunHistories | None = None,
        describe: Callable[[Tape], str] = lambda _: "",
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._files = files or RunHistories(None)
        self._describe = describe
        self._worker = BackgroundWorker(self)
        self._save = single_shot(self, self._save_runs, SAVE_MS)
        self._histories: dict[tuple[str, str], list[StoredRun]] = {}
        """Document -> its runs; the document opened last is the last."""
        self._key = _key(session.doc)
        self._since = QElapsedTimer()
        session.begun.connect(self._turn)
        session.doc_changed.connect(self._rename)
        session.ran.connect(self.add)
        if self._files.where is not None:
            self.changed.connect(self._save.start)
        self._load()

    @property
    def runs(self) -> list[StoredRun]:
        """The runs of the shown document, the latest last."""
        return self._histories.setdefault(self._key, [])

    def latest(self) -> StoredRun | None:
        """Return the latest run; None before the first."""
        return self.runs[-1] if self.runs else None

    def before(self, number: int) -> StoredRun | None:
        """Return the run before the one with this number; None for the first."""
        earlier = [stored for stored in self.runs if stored.number < number]
        return earlier[-1] if earlier else None

    def find(self, number: int) -> StoredRun | None:
        """Return the run with this number; None once it is given up."""
        return next((stored for stored in self.runs if stored.number == number), None)

    def record(self, number: int, tape: Tape) -> None:
        """Give a run of an earlier session the tape that it made when it ran again."""
        self._put(
            number,
            lambda stored: replace(
                stored,
                run=replace(stored.run, tape=tape),
                size=tape_size(tape),
                is_recorded=True,
            ),
        )

    def add(self, run: ProgramRun) -> None:
        """Add a finished run; within a drag it replaces the last one."""
        runs = self.runs
        number = runs[-1].number + 1 if runs else 1
        if self._continues(run):
            number = runs.pop().number
        is_foreign = self._session.doc.foreign
        runs.append(StoredRun(number, run, tape_size(run.tape), is_foreign=is_foreign))
        self._since.start()
        self._trim()
        self.added.emit()
        self.changed.emit()

    def keep(self, number: int, is_kept: bool) -> None:
        """Keep a run however many follow, or do not any more."""
        self._put(number, lambda stored: replace(stored, is_kept=is_kept))

    def name(self, number: int, name: str) -> None:
        """Name a run; without a name it is known by its number."""
        named = " ".join(name.split())
        named = "" if named == tr("Run {number}", number=number) else named
        self._put(number, lambda stored: replace(stored, name=named))

    def go_back(self, number: int) -> bool:
        """Run the text of a run again with its seed and device; False if it is given up."""
        stored = self.find(number)
        if stored is None:
            return False
        self._session.restore_run(stored.run.source, stored.run.seed, stored.run.device)
        return True

    def _put(self, number: int, change: Callable[[StoredRun], StoredRun]) -> None:
        runs = self.runs
        for at, stored in enumerate(runs):
            if stored.number == number:
                runs[at] = change(stored)
                self.changed.emit()

    def _continues(self, run: ProgramRun) -> bool:
        """Return whether a run goes on with the edit of the last one."""
        if len(self.runs) < 2 or not self._since.isValid() or self._since.elapsed() > MERGE_MS:
            return False
        base, last = self.runs[-2].run, self.runs[-1].run
        if self.runs[-1].is_spared or (run.seed, run.device) != (last.seed, last.device):
            return False
        if (last.seed, last.device) != (base.seed, base.device):
            return False
        lines = edited_lines(base.source, run.source)
        return bool(lines) and lines == edited_lines(base.source, last.source)

    def _turn(self) -> None:
        """Turn to the runs of the document that was opened."""
        if self._save.isActive():
            self._save_runs()
        self._key = _key(self._session.doc)
        self._load()
        self._since.invalidate()
        self.changed.emit()

    def _load(self) -> None:
        """Take the runs of earlier sessions, if the document is new to this one."""
        if self._key not in self._histories:
            self._histories[self._key] = [_restored(run) for run in self._files.load(self._key)]
        self._histories[self._key] = self._histories.pop(self._key)

    def _save_runs(self) -> None:
        """Store the runs of the document for later sessions."""
        self._save.stop()
        runs = [self._saved(stored) for stored in self.runs if not stored.is_foreign]
        key, files = self._key, self._files
        self._worker.submit(lambda: files.save(key, runs), _ignore_failure)

    def _saved(self, stored: StoredRun) -> RunEntry:
        run = stored.run
        result = self._describe(run.tape) if stored.is_recorded else stored.result
        failed = run.tape.error is not None if stored.is_recorded else stored.failed
        settings = run.seed, run.device
        return RunEntry(
            stored.number, run.source, *settings, result, failed, stored.name, stored.is_kept
        )

    def close(self) -> None:
        """Store what is not stored yet."""
        if self._save.isActive():
            self._save_runs()
        self._worker.wait()

    def _rename(self) -> None:
        """Take the runs along when the document is saved under another name."""
        key = _key(self._session.doc)
        if key != self._key and self._key in self._histories:
            self._histories[key] = self._histories.pop(self._key)
            self._key = key

    def _trim(self) -> None:
        """Give up the oldest runs, of other documents first, never the last two nor kept ones."""
        current = self.runs
        while len([stored for stored in current if not stored.is_spared]) > MOST_RUNS:
            current.remove(next(stored for stored in current if not stored.is_spared))
        total = sum(stored.size for runs in self._histories.values() for stored in runs)
        for key, runs in self._histories.items():
            removable = runs[:-2] if key == self._key else list(runs)
            for stored in removable:
                if total <= MOST_BYTES:
                    return
                if not stored.is_spared:
                    runs.remove(stored)
                    total -= stored.size


def _restored(run: RunEntry) -> StoredRun:
    return StoredRun(
        run.number,
        ProgramRun(run.source, run.seed, run.device, Tape()),
        len(run.source),
        run.name,
        run.is_kept,
        is_recorded=False,
        result=run.result,
        failed=run.failed,
    )


def _ignore_failure(done: Callable[[], None]) -> None:
    """Go on if the runs cannot be stored: the program itself is saved by another way."""
    with contextlib.suppress(OSError):
        done()


def tape_size(tape: Tape) -> int:
    """Return the memory of a tape in bytes, roughly."""
    rows = len(tape.events) + len(tape.values) + len(tape.ops) + len(tape.edges)
    return rows * BYTES_PER_ROW + sum(len(s.data or b"") for s in tape.snapshots)


def _key(doc: Doc) -> tuple[str, str]:
    return (doc.path, "") if doc.path else (doc.lesson, doc.title)
