"""Recovery of training: saved while the window lives, and offered to later windows.

Set-up, runs, curves and engine states are saved every few seconds while something changes, as
`app.files.autosave` does. The file of a window that died is offered by the next window; that of a
window that was closed is offered when the training page is next entered.
"""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from gradscribe.app.files import atomic
from gradscribe.app.files.sessions import RecoveredWork, Sessions, SessionSlot
from gradscribe.app.files.unsaved.autosave import GAP_MS, VIEW_DELAY_MS, Autosave
from gradscribe.app.files.unsaved.recovery_offers import Choices, RecoveryOffer, RecoveryOffers
from gradscribe.app.link.far_engine import FarEngine
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.app.link.remote.ask import end_session
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.app.training.saving.left_engine import LeftEngineGone, check_left
from gradscribe.app.training.saving.session_file import (
    RECOVERY_FORM,
    SessionRun,
    TrainingSessionData,
)
from gradscribe.app.training.saving.session_reader import (
    MOST_IN_GUI_THREAD,
    LoadedSession,
    load_session,
)
from gradscribe.app.training.saving.session_store import (
    SessionStore,
    assemble_session,
    runs_to_save,
    save_fingerprint,
    to_session_run,
)
from gradscribe.app.training.session.engine_restart import BYTES_PER_MS, RunRestorer
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import (
    DEFAULT_SETUP,
    RunState,
    fork_origin,
    with_seeds_of,
)
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.translation import ngettext, tr

MOST_NUMBERS = 1 << 16
"""Longer curves are thinned, as they are written again and again."""
LONG_RUN = 20_000
"""Steps from which on a run is saved even if it has the default set-up."""
MOST_CLOSED = 3
"""Most sessions of closed windows that are retained."""


@dataclass(frozen=True)
class RecoveryContext:
    """The folder, the notification bar, the window's offers, and callbacks for the page."""

    where: Path | None
    notices: NoticeActions
    offers: RecoveryOffers
    enter: Callable[[], None]
    save: Callable[[], None]
    use: Callable[[Interpreter], None] = lambda _python: None
    """Lets the document run in a Python, too: runs that follow train there."""


class TrainRecovery(QObject):
    """Saves the training of entry window, and offers what other windows left."""

    def __init__(
        self,
        session: TrainSession,
        saving: SessionStore,
        revival: RunRestorer,
        ways: RecoveryContext,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._saving, self._revival, self._ways = session, saving, revival, ways
        self._link = session.link
        self._sessions = Sessions(ways.where, RECOVERY_FORM)
        self._slot = self._sessions.begin()
        self._saver = Autosave(self._slot, self.look, self) if self._slot else None
        self._rows: dict[int, tuple[object, SessionRun]] = {}
        self._saved_shape: object = None
        """The `save_fingerprint` of the session file that the user saved last."""
        self._found: list[RecoveredWork[TrainingSessionData]] = []
        self._closed: list[RecoveredWork[TrainingSessionData]] = []
        self._discarded: list[RecoveredWork[TrainingSessionData]] = []
        self._pause_ms = 0
        self._reader = BackgroundWorker(self)
        """Reads long files that other windows left."""
        self._opening = BackgroundWorker(self)
        """Saves the current runs before others replace them."""
        self._claimed: list[SessionSlot[TrainingSessionData]] = []
        self._is_entered = False
        """True if the training page was entered while those files are read."""
        self._restored: list[tuple[int, SessionSlot[TrainingSessionData]]] = []
        """Restored sessions with the saves left until their old file is not needed any more."""
        if self._saver is not None:
            session.store.setup_changed.connect(self._on_edited)
            session.store.runs_changed.connect(self._on_edited)
            session.store.state_changed.connect(self._on_state_changed)
            # Before that, a saved run is a curve that cannot be continued.
            revival.first_stored.connect(self._on_edited)
            saving.saved.connect(self._note_saved)
            self._saver.failed.connect(self._on_save_failed)
            self._saver.written.connect(self._note_written)
            self._saver.recovered.connect(lambda: ways.notices.drop("training is kept"))

    # Saving

    def _on_edited(self) -> None:
        if self._saver is not None and self._is_worth_saving():
            self._saver.view_changed(max(GAP_MS, self._pause_ms))

    def _on_state_changed(self, _run: RunState) -> None:
        if self._saver is not None and self._is_worth_saving():
            self._saver.view_changed(max(VIEW_DELAY_MS, self._pause_ms))

    def _is_worth_saving(self) -> bool:
        """Return whether there is more to save than what the page begins with by itself."""
        session, runs = self._session, self._session.runs
        if session.run is not None and self._link.far is not None:
            return True
        if session.run is None or save_fingerprint(session) == self._saved_shape:
            return False
        was_changed = with_seeds_of(session.setup, DEFAULT_SETUP) != DEFAULT_SETUP
        return was_changed or len(runs) > 1 or any(run.furthest >= LONG_RUN for run in runs)

    def _note_saved(self, what: object) -> None:
        self._saved_shape = what

    def look(self) -> TrainingSessionData:
        """Return a snapshot of the session, with the runs that are still being restored.

        A run without a known engine state has only its curves; a fork of that kind is forked again.
        """
        found = {run.run_id: self._row(run) for run in self._session.runs if self._is_known(run)}
        self._rows = {number: row for number, row in self._rows.items() if number in found}
        self._pause_ms = sum(map(_size, found.values())) // BYTES_PER_MS
        runs, current = runs_to_save(self._session, found)
        rows = [
            found.get(run.run_id) or to_session_run(self._session, run, run.step, b"")
            for run in runs
        ]
        session = self._session
        saved = assemble_session(session.setup, runs, current, rows, session.store.right_id)
        return replace(saved, when=time.time(), far=self._link.far)

    def _is_known(self, run: RunState) -> bool:
        is_begun = run.begun is not None or run.branch is not None or not run.alive
        return is_begun or self._revival.saved_run(run.run_id) is not None

    def _row(self, run: RunState) -> SessionRun:
        held = self._revival.saved_run(run.run_id) if run.can_go_on else None
        step, data = (held.step, held.data) if held is not None else (run.step, b"")
        curves = (*run.series.items(), *run.ahead.items())
        sizes = tuple((name, len(curve), curve.last) for name, curve in curves)
        is_hidden = run.run_id in self._session.store.look.hidden
        spread = len(run.spread), run.spread.last, run.spread.generation
        stamp = (
            step,
            run.step,
            run.furthest,
            run.name,
            run.setup,
            is_hidden,
            sizes,
            id(data),
            spread,
            len(run.flags) + len(run.flags_ahead),
        )
        before = self._rows.get(run.run_id)
        if before is not None and before[0] == stamp and before[1].data is data:
            return before[1]
        row = to_session_run(self._session, run, step, data, MOST_NUMBERS)
        row = replace(row, anew=run.alive and not data and fork_origin(run) is not None)
        self._rows[run.run_id] = (stamp, row)
        return row

    def _on_save_failed(self, why: str) -> None:
        words = tr("Your training is not being saved: {why}. Save it to another disk.", why=why)
        choices = ((tr("Save training session…"), self._ways.save),)
        self._ways.notices.post(Notice("training is kept", words, choices))

    # Restoring

    def offer(self) -> None:
        """Offer the sessions of windows that died: at once, or when long files have been read."""
        self._claimed = claimed = self._sessions.lock_abandoned()
        if sum(slot.size for slot in claimed) <= MOST_IN_GUI_THREAD:
            self._sort_found(self._sessions.read(claimed))
        else:
            make = partial(self._sessions.read, claimed)
            self._reader.submit(make, lambda found: self._sort_found(found()))

    def _sort_found(self, found: list[RecoveredWork[TrainingSessionData]]) -> None:
        self._found, self._claimed = found, []
        for entry in found:
            if entry.kept is None:
                self._ways.notices.post(Notice(f"spoilt {entry.slot.path}", entry.trouble))
            elif entry.kept.closed and entry.kept.far is None:
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

    def _offer_entry(self, entry: RecoveredWork[TrainingSessionData]) -> None:
        assert entry.kept is not None
        described = _describe(entry.kept)
        words = tr("Training {describe}", describe=described)
        if entry.kept.far is not None:
            words = tr(
                "Training goes on at {place}, {describe}",
                place=entry.kept.far.place,
                describe=described,
            )
        self._ways.offers.add(self._as_offer(entry, words))

    def _as_offer(self, entry: RecoveredWork[TrainingSessionData], words: str) -> RecoveryOffer:
        assert entry.kept is not None
        choices: Choices = (
            (tr("Continue"), lambda: self._open(entry)),
            (tr("Discard"), lambda: self._discard(entry)),
        )
        if (far := entry.kept.far) is not None:
            choices = (
                (tr("Reconnect"), lambda: self._open(entry, far)),
                (tr("End it"), lambda: self._end(entry, far)),
            )
        run = entry.kept.runs[entry.kept.current]
        name = tr("{name} at step {step:,}", name=run.name, step=run.step)
        return RecoveryOffer(str(entry.slot.path), name, words, choices)

    def _discard(self, entry: RecoveredWork[TrainingSessionData]) -> None:
        """Drop the session when the window ends; until then a wrong click can be undone."""
        assert entry.kept is not None
        self._discarded.append(entry)
        choices = ((tr("Restore"), lambda: self._bring_back(entry)),)
        words = tr("Discarded: training {describe}", describe=_describe(entry.kept))
        self._ways.notices.show_now(Notice(f"discarded {entry.slot.path}", words, choices))

    def _bring_back(self, entry: RecoveredWork[TrainingSessionData]) -> None:
        self._discarded.remove(entry)
        self._offer_entry(entry)

    def _end(self, entry: RecoveredWork[TrainingSessionData], far: FarEngine) -> None:
        """End an engine that was left running; what is known of its runs is offered then."""

        def take(done: Callable[[], None]) -> None:
            try:
                done()
            except UnusablePython as failure:
                self._ways.offers.add(self._as_offer(entry, str(failure)), now=True)
            else:
                self._offer_without(entry, tr("The engine on {place} has ended", place=far.place))

        self._opening.submit(lambda: end_session(far.python.url, far.session), take)

    def _offer_without(self, entry: RecoveredWork[TrainingSessionData], why: str) -> None:
        """Offer a session whose engine is there no more, with the reason."""
        assert entry.kept is not None
        alone = replace(entry.kept, far=None)
        rest = tr("training {describe}", describe=_describe(alone))
        words = f"{why}; {rest}"
        offer = self._as_offer(dataclasses.replace(entry, kept=alone), words)
        self._ways.offers.add(offer, now=True)

    def _open(
        self, entry: RecoveredWork[TrainingSessionData], far: FarEngine | None = None
    ) -> None:
        """Restore a session once the current entry, which it replaces, is on the disk.

        The current one is offered next time. ``far``: the engine that has its runs.
        """
        assert entry.kept is not None
        kept, left = entry.kept, None
        if self._is_worth_saving():
            left = replace(self.look(), closed=True)

        def make() -> LoadedSession:
            if far is not None:
                check_left(far)
            if left is not None:
                self._sessions.leave(left)
            return load_session(kept)

        self._opening.submit(make, lambda made: self._restore(entry, made, far))

    def _restore(
        self,
        entry: RecoveredWork[TrainingSessionData],
        made: Callable[[], LoadedSession],
        far: FarEngine | None,
    ) -> None:
        try:
            found = made()
        except UnusablePython as failure:
            self._ways.offers.add(self._as_offer(entry, str(failure)), now=True)
            return
        except LeftEngineGone as gone:
            self._offer_without(entry, str(gone))
            return
        except OSError as error:
            words = tr("The current runs cannot be saved: {reason}", reason=atomic.reason(error))
            self._ways.offers.add(self._as_offer(entry, words), now=True)
            return
        if far is not None:
            self._ways.use(far.python)
        self._saving.open(found, far=far)
        self._ways.enter()
        if self._saver is not None:
            self._restored.append((1 + self._saver.is_writing, entry.slot))
            self._saver.view_changed(0)

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
        far = self._link.far if self._link.leaves else None
        if not saver.write(replace(self.look(), closed=True, far=far)):
            for _, before in self._restored:
                before.drop()
        slot.release()


def _size(row: SessionRun) -> int:
    curves = (*row.curves.values(), *row.ahead.values())
    size = len(row.data) + sum(len(curve.steps) + len(curve.numbers) for curve in curves)
    return size + (len(row.spread.quantiles) if row.spread is not None else 0)


def _describe(saved: TrainingSessionData) -> str:
    at, run = time.localtime(saved.when), saved.runs[saved.current]
    is_today = at[:3] == time.localtime()[:3]
    when = time.strftime("%H:%M" if is_today else "%d %b, %H:%M", at)
    others = len(saved.runs) - 1
    more = (
        tr(
            " and {other_runs}",
            other_runs=ngettext("{count:,} other run", "{count:,} other runs", others),
        )
        if others
        else ""
    )
    return tr(
        "as of {when}: {name} after {steps}{more}",
        when=when,
        name=run.name,
        steps=ngettext("{count:,} step", "{count:,} steps", run.step),
        more=more,
    )
