"""Recovery of training: saved while the window lives, and offered to later windows.

Set-up, runs, curves and engine states are saved every few seconds while something changes, as
`app.autosave` does. The file of a window that died is offered by the next window; that of a window
that was closed is offered when the training page is next entered.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject

from app import atomic
from app.autosave import GAP_MS, SOON_MS, Autosave
from app.beside import Beside
from app.notices import Notices
from app.sessions import Found, Sessions, Slot
from app.shell import Notice
from app.training.fetching import INLINE, Fetched, made_of
from app.training.kept import LEFT, KeptRoom, KeptRun
from app.training.revival import BYTES_A_MS, Revival
from app.training.saving import Saving, joined, kept_run, listed, shape
from app.training.session import TrainSession
from app.training.state import START, Run, branch
from playback import text

MOST_NUMBERS = 1 << 16
"""Longer curves are thinned, as they are written again and again."""
LONG = 20_000
"""Steps from which on a run is saved even if it has the default set-up."""
MOST_CLOSED = 3
"""Most sessions of closed windows that are retained."""


@dataclass(frozen=True)
class Ways:
    """The folder for recovery, the notification bar, and callbacks that show or save the page."""

    where: Path | None
    notices: Notices
    enter: Callable[[], None]
    save: Callable[[], None]


class TrainKeeping(QObject):
    """Saves the training of entry window, and offers what other windows left."""

    def __init__(
        self,
        session: TrainSession,
        saving: Saving,
        revival: Revival,
        ways: Ways,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._saving, self._revival, self._ways = session, saving, revival, ways
        self._sessions = Sessions(ways.where, LEFT)
        self._slot = self._sessions.begin()
        self._saver = Autosave(self._slot, self.look, self) if self._slot else None
        self._rows: dict[int, tuple[object, KeptRun]] = {}
        self._saved_shape: object = None
        """The `shape` of the session file that the user saved last."""
        self._found: list[Found[KeptRoom]] = []
        self._closed: list[Found[KeptRoom]] = []
        self._discarded: list[Found[KeptRoom]] = []
        self._pause_ms = 0
        self._reader = Beside(self)
        """Reads long files that other windows left."""
        self._opening = Beside(self)
        """Saves the current runs before others replace them."""
        self._claimed: list[Slot[KeptRoom]] = []
        self._is_entered = False
        """True if the training page was entered while those files are read."""
        self._restored: list[tuple[int, Slot[KeptRoom]]] = []
        """Restored sessions with the saves left until their old file is not needed any more."""
        if self._saver is not None:
            session.setup_changed.connect(self._on_edited)
            session.runs_changed.connect(self._on_edited)
            session.stated.connect(self._on_state_changed)
            # Before that, a saved run is a curve that cannot be continued.
            revival.first_kept.connect(self._on_edited)
            saving.saved.connect(self._note_saved)
            self._saver.failed.connect(self._on_save_failed)
            self._saver.written.connect(self._note_written)
            self._saver.mended.connect(lambda: ways.notices.drop("training is kept"))

    # Saving

    def _on_edited(self) -> None:
        if self._saver is not None and self._is_worth_saving():
            self._saver.looked(max(GAP_MS, self._pause_ms))

    def _on_state_changed(self, _run: Run) -> None:
        if self._saver is not None and self._is_worth_saving():
            self._saver.looked(max(SOON_MS, self._pause_ms))

    def _is_worth_saving(self) -> bool:
        """Return whether there is more to save than what the page begins with by itself."""
        session, runs = self._session, self._session.runs
        if session.run is None or shape(session) == self._saved_shape:
            return False
        seeds = {"weight_seed": START.weight_seed, "data_seed": START.data_seed}
        was_changed = replace(session.setup, **seeds) != START
        return was_changed or len(runs) > 1 or any(run.furthest >= LONG for run in runs)

    def _note_saved(self, what: object) -> None:
        self._saved_shape = what

    def look(self) -> KeptRoom:
        """Return a snapshot of the session, with the runs that are still being restored.

        A run without a known engine state has only its curves; a fork of that kind is forked again.
        """
        found = {run.run_id: self._row(run) for run in self._session.runs if self._is_known(run)}
        self._rows = {number: row for number, row in self._rows.items() if number in found}
        self._pause_ms = sum(map(_size, found.values())) // BYTES_A_MS
        runs, current = listed(self._session, found)
        rows = [
            found.get(run.run_id) or kept_run(self._session, run, run.step, b"") for run in runs
        ]
        return replace(joined(self._session.setup, runs, current, rows), when=time.time())

    def _is_known(self, run: Run) -> bool:
        is_begun = run.begun is not None or run.branch is not None or not run.alive
        return is_begun or self._revival.kept(run.run_id) is not None

    def _row(self, run: Run) -> KeptRun:
        held = self._revival.kept(run.run_id) if run.alive else None
        step, data = (held.step, held.data) if held is not None else (run.step, b"")
        curves = (*run.series.items(), *run.ahead.items())
        sizes = tuple((name, len(curve), curve.last) for name, curve in curves)
        is_hidden = run.run_id in self._session.look.hidden
        stamp = (step, run.step, run.furthest, run.name, run.setup, is_hidden, sizes, id(data))
        before = self._rows.get(run.run_id)
        if before is not None and before[0] == stamp and before[1].data is data:
            return before[1]
        row = kept_run(self._session, run, step, data, MOST_NUMBERS)
        row = replace(row, anew=run.alive and not data and branch(run) is not None)
        self._rows[run.run_id] = (stamp, row)
        return row

    def _on_save_failed(self, why: str) -> None:
        words = f"Your training is not being saved: {why}. Save it to another disk."
        choices = (("Save training session…", self._ways.save),)
        self._ways.notices.tell(Notice("training is kept", words, choices))

    # Restoring

    def offer(self) -> None:
        """Offer the sessions of windows that died: at once, or when long files have been read."""
        self._claimed = claimed = self._sessions.claimed()
        if sum(slot.size for slot in claimed) <= INLINE:
            self._sort_found(self._sessions.read(claimed))
        else:
            make = partial(self._sessions.read, claimed)
            self._reader.ask(make, lambda found: self._sort_found(found()))

    def _sort_found(self, found: list[Found[KeptRoom]]) -> None:
        self._found, self._claimed = found, []
        for entry in found:
            if entry.kept is None:
                self._ways.notices.tell(Notice(f"spoilt {entry.slot.path}", entry.trouble))
            elif entry.kept.closed:
                self._closed.append(entry)
            else:
                self._offer_entry(entry)
        for old in self._closed[MOST_CLOSED:]:
            old.slot.drop()
        self._closed = self._closed[:MOST_CLOSED]
        if self._is_entered:
            self.offer_closed()

    def offer_closed(self) -> None:
        """Offer the sessions of windows that were closed, once."""
        self._is_entered = self._reader.is_busy
        closed, self._closed = self._closed, []
        for entry in closed:
            self._offer_entry(entry)

    def _offer_entry(self, entry: Found[KeptRoom]) -> None:
        assert entry.kept is not None
        self._ways.notices.tell(self._notice(entry, f"Training {_describe(entry.kept)}"))

    def _notice(self, entry: Found[KeptRoom], words: str) -> Notice:
        choices = (
            ("Continue", lambda: self._open(entry)),
            ("Discard", lambda: self._discard(entry)),
        )
        return Notice(f"found {entry.slot.path}", words, choices)

    def _discard(self, entry: Found[KeptRoom]) -> None:
        """Drop the session when the window ends; until then a wrong click can be undone."""
        assert entry.kept is not None
        self._discarded.append(entry)
        choices = (("Restore", lambda: self._bring_back(entry)),)
        words = f"Discarded: training {_describe(entry.kept)}"
        self._ways.notices.tell_first(Notice(f"discarded {entry.slot.path}", words, choices))

    def _bring_back(self, entry: Found[KeptRoom]) -> None:
        self._discarded.remove(entry)
        self._offer_entry(entry)

    def _open(self, entry: Found[KeptRoom]) -> None:
        """Restore a session once the current entry, which it replaces, is on the disk.

        The current one is offered next time.
        """
        assert entry.kept is not None
        kept, left = entry.kept, None
        if self._is_worth_saving():
            left = replace(self.look(), closed=True)

        def make() -> Fetched:
            if left is not None:
                self._sessions.leave(left)
            return made_of(kept)

        self._opening.ask(make, lambda made: self._restore(entry, made))

    def _restore(self, entry: Found[KeptRoom], made: Callable[[], Fetched]) -> None:
        try:
            found = made()
        except OSError as error:
            words = f"The current runs cannot be saved: {atomic.why(error)}"
            self._ways.notices.tell_first(self._notice(entry, words))
            return
        self._saving.open(found)
        self._ways.enter()
        if self._saver is not None:
            self._restored.append((1 + self._saver.is_writing, entry.slot))
            self._saver.looked(0)

    def _note_written(self, trouble: str) -> None:
        if not trouble:
            left = [(count - 1, slot) for count, slot in self._restored]
            self._restored = [pair for pair in left if pair[0] > 0]
            for count, taken in left:
                if count <= 0:
                    taken.drop()

    # The end

    def close(self) -> None:
        """Leave the session to the next window if it is worth it, and release all files."""
        self._reader.close()
        self._opening.close()
        for entry in self._discarded:
            entry.slot.drop()
        for unread in self._claimed:
            unread.release()
        for entry in self._found:
            # Offers without an answer are for the next window.
            entry.slot.release()
        saver, slot = self._saver, self._slot
        self._saver = self._slot = None
        if saver is None or slot is None:
            return
        saver.close()
        if not self._is_worth_saving():
            slot.drop()
            return
        # A failure to write was reported before.
        if not saver.write(replace(self.look(), closed=True)):
            for _, before in self._restored:
                before.drop()
        slot.release()


def _size(row: KeptRun) -> int:
    curves = (*row.curves.values(), *row.ahead.values())
    return len(row.data) + sum(len(curve.steps) + len(curve.numbers) for curve in curves)


def _describe(saved: KeptRoom) -> str:
    at, run = time.localtime(saved.when), saved.runs[saved.current]
    is_today = at[:3] == time.localtime()[:3]
    when = time.strftime("%H:%M" if is_today else "%d %b, %H:%M", at)
    others = len(saved.runs) - 1
    more = f" and {text.count(others, 'other run')}" if others else ""
    return f"as of {when}: {run.name} after {text.count(run.step, 'step')}{more}"
