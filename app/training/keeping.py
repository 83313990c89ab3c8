"""The training room is not lost with its window: it is on the disk, and offered to go on with.

Set-up, runs, curves and what the engine goes on with are saved every few seconds while something
happens, as `app.autosave` does. A window that died leaves a file that the next one tells of; one
that was closed leaves it too, and is told of where the training room is next entered.
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
"""A longer curve is kept thinned: it is written again and again."""
LONG = 20_000
"""So many steps are worth to be kept even of the set-up that the room opens with."""
MOST_CLOSED = 3
"""Of windows that were closed so many rooms are kept."""


@dataclass(frozen=True)
class Ways:
    """Where the room is kept, where that is told of, and what shows it or saves it elsewhere."""

    where: Path | None
    notices: Notices
    enter: Callable[[], None]
    save: Callable[[], None]


class TrainKeeping(QObject):
    """Keeps the training room of one window, and offers what others left."""

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
        self._elsewhere: object = None
        """What was in the session file that the user saved last."""
        self._found: list[Found[KeptRoom]] = []
        self._closed: list[Found[KeptRoom]] = []
        self._discarded: list[Found[KeptRoom]] = []
        self._pause_ms = 0
        self._beside = Beside(self)
        """Reads what others left, where it is long."""
        self._opening = Beside(self)
        """Leaves this room for another one."""
        self._claimed: list[Slot[KeptRoom]] = []
        self._enters = False
        """Whether the training room was entered while that is read."""
        self._taken: list[tuple[int, Slot[KeptRoom]]] = []
        """What was gone on with, until so many saves are done: then it is as safe as it was."""
        if self._saver is not None:
            session.setup_changed.connect(self._edited)
            session.runs_changed.connect(self._edited)
            session.stated.connect(self._moved)
            # Until then a run that is left is a curve that cannot go on.
            revival.first_kept.connect(self._edited)
            saving.saved.connect(self._note_saved)
            self._saver.failed.connect(self._lament)
            self._saver.written.connect(self._note_written)
            self._saver.mended.connect(lambda: ways.notices.drop("training is kept"))

    # Keeping

    def _edited(self) -> None:
        if self._saver is not None and self._is_worth():
            self._saver.looked(max(GAP_MS, self._pause_ms))

    def _moved(self, _run: Run) -> None:
        if self._saver is not None and self._is_worth():
            self._saver.looked(max(SOON_MS, self._pause_ms))

    def _is_worth(self) -> bool:
        """Return whether there is more than what the room begins with by itself."""
        session, runs = self._session, self._session.runs
        if session.run is None or shape(session) == self._elsewhere:
            return False
        seeds = {"weight_seed": START.weight_seed, "data_seed": START.data_seed}
        was_changed = replace(session.setup, **seeds) != START
        return was_changed or len(runs) > 1 or any(run.furthest >= LONG for run in runs)

    def _note_saved(self, what: object) -> None:
        self._elsewhere = what

    def look(self) -> KeptRoom:
        """Return the room as it is now, with the runs that are still to be brought back.

        Of a run that was not asked for yet there are only its curves; a fork is made again.
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

    def _lament(self, why: str) -> None:
        words = f"Your training is not being kept: {why}. Save it where there is room."
        choices = (("Save training session…", self._ways.save),)
        self._ways.notices.tell(Notice("training is kept", words, choices))

    # Going on

    def offer(self) -> None:
        """Tell of the rooms of windows that did not end by themselves: soon, where they are big."""
        self._claimed = claimed = self._sessions.claimed()
        if sum(slot.size for slot in claimed) <= INLINE:
            self._tell_of(self._sessions.read(claimed))
        else:
            make = partial(self._sessions.read, claimed)
            self._beside.ask(make, lambda found: self._tell_of(found()))

    def _tell_of(self, found: list[Found[KeptRoom]]) -> None:
        self._found, self._claimed = found, []
        for one in found:
            if one.kept is None:
                self._ways.notices.tell(Notice(f"spoilt {one.slot.path}", one.trouble))
            elif one.kept.closed:
                self._closed.append(one)
            else:
                self._tell(one)
        for old in self._closed[MOST_CLOSED:]:
            old.slot.drop()
        self._closed = self._closed[:MOST_CLOSED]
        if self._enters:
            self.offer_closed()

    def offer_closed(self) -> None:
        """Tell of the rooms of windows that were closed, once."""
        self._enters = self._beside.is_busy
        closed, self._closed = self._closed, []
        for one in closed:
            self._tell(one)

    def _tell(self, one: Found[KeptRoom]) -> None:
        assert one.kept is not None
        self._ways.notices.tell(self._notice(one, f"Training {_words(one.kept)}"))

    def _notice(self, one: Found[KeptRoom], words: str) -> Notice:
        choices = (
            ("Go on with it", lambda: self._open(one)),
            ("Discard", lambda: self._discard(one)),
        )
        return Notice(f"found {one.slot.path}", words, choices)

    def _discard(self, one: Found[KeptRoom]) -> None:
        """Let it go when the window ends: until then a slip of the mouse can be mended."""
        assert one.kept is not None
        self._discarded.append(one)
        choices = (("Bring it back", lambda: self._bring_back(one)),)
        words = f"Discarded: training {_words(one.kept)}"
        self._ways.notices.tell_first(Notice(f"discarded {one.slot.path}", words, choices))

    def _bring_back(self, one: Found[KeptRoom]) -> None:
        self._discarded.remove(one)
        self._tell(one)

    def _open(self, one: Found[KeptRoom]) -> None:
        """Go on with a room once the one that it takes the place of is on the disk.

        That one is told of next time.
        """
        assert one.kept is not None
        kept, left = one.kept, None
        if self._is_worth():
            left = replace(self.look(), closed=True)

        def make() -> Fetched:
            if left is not None:
                self._sessions.leave(left)
            return made_of(kept)

        self._opening.ask(make, lambda made: self._go_on(one, made))

    def _go_on(self, one: Found[KeptRoom], made: Callable[[], Fetched]) -> None:
        try:
            found = made()
        except OSError as error:
            words = f"The runs there cannot be kept: {atomic.why(error)}"
            self._ways.notices.tell_first(self._notice(one, words))
            return
        self._saving.open(found)
        self._ways.enter()
        if self._saver is not None:
            self._taken.append((1 + self._saver.is_writing, one.slot))
            self._saver.looked(0)

    def _note_written(self, trouble: str) -> None:
        if not trouble:
            left = [(count - 1, slot) for count, slot in self._taken]
            self._taken = [pair for pair in left if pair[0] > 0]
            for count, taken in left:
                if count <= 0:
                    taken.drop()

    # The end

    def close(self) -> None:
        """Leave the room to the next window, where there is something in it, and let go."""
        self._beside.close()
        self._opening.close()
        for one in self._discarded:
            one.slot.drop()
        for unread in self._claimed:
            unread.release()
        for one in self._found:
            # What nobody answered to is for the next window.
            one.slot.release()
        saver, slot = self._saver, self._slot
        self._saver = self._slot = None
        if saver is None or slot is None:
            return
        saver.close()
        if not self._is_worth():
            slot.drop()
            return
        # What cannot be written now was told of before.
        if not saver.write(replace(self.look(), closed=True)):
            for _, before in self._taken:
                before.drop()
        slot.release()


def _size(row: KeptRun) -> int:
    curves = (*row.curves.values(), *row.ahead.values())
    return len(row.data) + sum(len(one.steps) + len(one.numbers) for one in curves)


def _words(room: KeptRoom) -> str:
    at, run = time.localtime(room.when), room.runs[room.current]
    is_today = at[:3] == time.localtime()[:3]
    when = time.strftime("%H:%M" if is_today else "%d %b, %H:%M", at)
    others = len(room.runs) - 1
    more = f" and {text.count(others, 'other run')}" if others else ""
    return f"as of {when}: {run.name} after {text.count(run.step, 'step')}{more}"
