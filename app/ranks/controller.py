"""The ranks of a run in the window: a tab a rank and one of all, started from here or opened."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtWidgets import QTabBar

from gradscribe.app.document.session import Session
from gradscribe.app.document.state import UNSAVED_FILENAME
from gradscribe.app.link import ranks
from gradscribe.app.link.interpreters import UnusablePython
from gradscribe.app.link.ranks import RankRun
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.app.runtime.version import version
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.doctor.ranks.examine import examine_ranks
from gradscribe.engine.protocol.ranks.job import RankJob
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Tape
from gradscribe.engine.protocol.tape_file import RunFile
from gradscribe.playback.ranks.failure import first_failure
from gradscribe.playback.ranks.merge import merge, rank_name
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.labels import tip

NOTICE = "ranks"
"""Key of the notice about ranks that run."""
ALL = tr("All ranks")


class RankBar(QTabBar):
    """Tabs above the graph: all ranks, then each; hidden for a program of one process."""

    def __init__(self) -> None:
        super().__init__()
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setAccessibleName(tr("Ranks"))
        self.hide()

    def set_ranks(self, tips: Sequence[str], has_all: bool) -> None:
        """Show a tab for each rank with its tooltip, and one of all if ``has_all``."""
        with QSignalBlocker(self):
            while self.count():
                self.removeTab(0)
            if has_all:
                text = tr("Every rank in a box, with the collectives that join them")
                self.setTabToolTip(self.addTab(ALL), tip(text))
            for rank, text in enumerate(tips):
                at = self.addTab(rank_name(rank).capitalize())
                self.setTabToolTip(at, tip(text))
                self.setTabEnabled(at, text != _MISSING)
        self.setVisible(self.count() > 1)


_MISSING = tr("Its tape is not there")


class RanksController(QObject):
    """Show the tapes of ranks, and run the program of the window on several ranks."""

    changed = Signal()
    """Ranks are shown or not shown any more, or begin or end to run."""

    def __init__(
        self,
        session: Session,
        notices: NoticeActions,
        say: Callable[[str], None],
        parent: QObject,
        start: Callable[[RankJob, int], RankRun] | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._notices, self._say = session, notices, say
        self._start = start or (lambda job, count: RankRun(job, count, session.doc.interpreter))
        self.bar = RankBar()
        self.bar.currentChanged.connect(self._pick)
        self.tapes: tuple[Tape | None, ...] = ()
        """The tapes of the ranks that are shown, None for those that are not there."""
        self._shown: list[Tape | None] = []
        """The tape of each tab."""
        self._run: RankRun | None = None
        self._worker = BackgroundWorker(self)
        session.begun.connect(self.forget)
        session.result_changed.connect(self._follow)

    @property
    def is_running(self) -> bool:
        """True while ranks run."""
        return self._run is not None

    def show(self, runs: Sequence[RunFile | None]) -> None:
        """Show the tapes of the ranks of a run, first all of them in one graph."""
        source = next(run.program.source for run in runs if run is not None)
        whole = [run.tape for run in runs if run is not None]
        is_whole = len(whole) == len(runs)
        found = examine_ranks(whole, source) if is_whole else ()
        self.tapes = tuple(None if run is None else _with(run.tape, found) for run in runs)
        each = list(self.tapes)
        self._shown = [replace(merge(whole), findings=found), *each] if is_whole else each
        self.bar.set_ranks([_about(tape) for tape in self.tapes], is_whole)
        first = next(at for at, tape in enumerate(self._shown) if tape is not None)
        with QSignalBlocker(self.bar):
            self.bar.setCurrentIndex(first)
        self._pick(first)
        self.changed.emit()

    def forget(self) -> None:
        """Show no ranks any more."""
        if self.tapes:
            self.tapes, self._shown = (), []
            self.bar.set_ranks((), has_all=False)
            self.changed.emit()

    def parting(self) -> tuple[int, int] | None:
        """Return two ranks to compare: the one that is shown and another; None without two."""
        there = [rank for rank, tape in enumerate(self.tapes) if tape is not None]
        if len(there) < 2:
            return None
        shown = self.bar.currentIndex() - (len(self._shown) - len(self.tapes))
        other = shown if shown in there and shown != there[0] else there[1]
        return there[0], other

    def run(self, count: int) -> str:
        """Run the program of the window on so many ranks; return why not, if that cannot be."""
        session = self._session
        doc = session.doc
        if self.is_running:
            return tr("Ranks are running already")
        if not 0 < count <= ranks.MOST_RANKS:
            return tr(
                "{count} is not a number of ranks, 1 to {most_ranks}",
                count=count,
                most_ranks=ranks.MOST_RANKS,
            )
        if doc.foreign:
            return tr("Ranks run with all of your permissions: trust the program first")
        job = RankJob(
            doc.source,
            doc.path or UNSAVED_FILENAME,
            seed=doc.seed,
            timeout=session.limits.timeout,
            memory=session.limits.memory,
            product=version(),
        )
        try:
            self._run = run = self._start(job, count)
        except UnusablePython as refusal:
            return str(refusal)
        word = ranks.check_count(count)
        text = (
            tr("Running on {count} ranks. {word}", count=count, word=word)
            if word
            else tr("Running on {count} ranks", count=count)
        )
        self._notices.show_now(Notice(NOTICE, text, (("Stop", self.stop),)))
        self._worker.submit(run.wait, self._ended)
        self.changed.emit()
        return ""

    def stop(self) -> None:
        """Ask the ranks that run to end; what they have recorded is shown."""
        if self._run is not None:
            self._run.stop()

    def close(self) -> None:
        """End ranks that run, at once."""
        if self._run is not None:
            self._run.kill()

    def _ended(self, result: Callable[[], tuple[RunFile, ...]]) -> None:
        run, self._run = self._run, None
        self._notices.drop(NOTICE)
        try:
            runs = result()
        except Exception as error:  # noqa: BLE001 - whatever it is, the window goes on
            self._say(tr("The ranks did not run: {error}", error=error))
            self.changed.emit()
            return
        if run is not None and runs[0].program.source != self._session.doc.source:
            self._say(tr("The ranks have ended; the program is another one by now"))
            self.changed.emit()
            return
        self.show(runs)
        failed = first_failure([run.tape for run in runs])
        end = (
            tr("{capitalize} failed", capitalize=rank_name(failed).capitalize())
            if failed is not None
            else tr("All ended well")
        )
        self._say(tr("{runs_count} ranks: {lower}", runs_count=len(runs), lower=end.lower()))

    def _pick(self, index: int) -> None:
        tape = self._shown[index] if 0 <= index < len(self._shown) else None
        if tape is not None:
            self._session.show_recorded(tape, len(tape.events))

    def _follow(self) -> None:
        """Show no ranks once the program has run in one process."""
        if self.tapes and self._session.result.shown_id > 0:
            self.forget()


def _with(tape: Tape, found: Sequence[Finding]) -> Tape:
    return replace(tape, findings=(*found, *tape.findings))


def _about(tape: Tape | None) -> str:
    if tape is None:
        return _MISSING
    if tape.error is not None:
        return f"{tape.error.type}: {translated(tape.error.message)}"[:200]
    return tr("What this rank did")
