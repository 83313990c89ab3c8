"""The changes since the run before, and the history of runs, in a tab of the window."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QStackedWidget, QWidget

from gradscribe.app.compare.controller import CompareController
from gradscribe.app.compare.progress_card import INLINE_EVENTS, compare_all
from gradscribe.app.compare.run_history import RunHistory, StoredRun
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.document.side_run import SideRun
from gradscribe.app.files.run_histories import RunHistories
from gradscribe.app.link.client import Link
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.compare import run_changes
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.compare.run_changes import RunChange
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.tables.changes import ChangesPane
from gradscribe.widgets.tables.runs import RunRow, RunsPane

SETTLE_MS = 120
"""Rest after a run before it is compared: while a number is dragged, runs follow each other."""
MOST_EVENTS = 40_000
"""Most events of two runs that are compared without being asked: longer ones take seconds."""
TITLE = tr("Changes")
LONG = tr("These runs are long: press Side by side to compare them")
EARLIER = tr("The run before is of an earlier session: press Side by side to run it again")
COMPARING = tr("The two runs are being compared…")


@dataclass(frozen=True)
class ChangeViews:
    """The parts of the window that follow a change: its line, its card, both runs."""

    editor: CodeEdit
    presenter: Presenter
    comparison: CompareController
    tabs: PanelTabs


class ChangesController(QObject):
    """Compare each run with the run before it, and perform what is asked of the history."""

    def __init__(
        self,
        session: Session,
        views: ChangeViews,
        look: Theming,
        say: Callable[[str], None],
        files: RunHistories | None = None,
        link: Callable[[QObject], Link] = Link,
    ) -> None:
        super().__init__(views.tabs)
        self._session, self._say, self._tabs = session, say, views.tabs
        self._editor, self._presenter = views.editor, views.presenter
        self._comparison = views.comparison
        self.history = RunHistory(session, self, files, result_words)
        self._rerun = SideRun(self, link)
        self._rerun.ended.connect(self._take_rerun)
        self._wanted = 0
        """Number of the run that is compared once one of an earlier session has run again."""
        self._rerun_number = 0
        self.pane, self.runs_pane = ChangesPane(), RunsPane()
        self.page = QStackedWidget()
        self.page.setObjectName("changes")
        self.page.addWidget(self.pane)
        self.page.addWidget(self.runs_pane)
        self._tabs.addTab(self.page, TITLE)
        self._show_count(0)
        look.add(self.pane, self.runs_pane)
        self._worker = BackgroundWorker(self)
        self._settle = single_shot(self, self._compare_latest, SETTLE_MS)
        self._list = single_shot(self, self._list_runs, SETTLE_MS)
        self.history.added.connect(self._settle.start)
        self.history.changed.connect(self._list.start)
        session.begun.connect(self._forget)
        session.hiding_changed.connect(self._compare_again)
        self.pane.picked.connect(self._go_to)
        self.pane.runs_pressed.connect(self.show_runs)
        self.runs_pane.changes_pressed.connect(self.show_changes)
        self.pane.compare_pressed.connect(self.compare_with_before)
        self.runs_pane.back_pressed.connect(self.go_back)
        self.runs_pane.kept.connect(self.history.keep)
        self.runs_pane.named.connect(self.history.name)
        self.runs_pane.compare_pressed.connect(self.compare_with)

    @property
    def is_busy(self) -> bool:
        """True while a comparison is awaited."""
        return self._settle.isActive() or self._list.isActive() or self._worker.is_busy

    def has_before(self) -> bool:
        """Return whether the latest run has one before it."""
        return len(self.history.runs) > 1

    def show_changes(self) -> None:
        """Bring the changes since the run before to the front."""
        self._turn_to(self.pane, self.pane.rows)

    def show_runs(self) -> None:
        """Bring the history of runs to the front."""
        self._turn_to(self.runs_pane, self.runs_pane.rows)

    def _turn_to(self, pane: QWidget, focus: QWidget) -> None:
        self._tabs.setCurrentWidget(self.page)
        self.page.setCurrentWidget(pane)
        focus.setFocus()

    def compare_with_before(self) -> None:
        """Show the latest run and the run before it side by side."""
        latest = self.history.latest()
        before = self.history.before(latest.number) if latest is not None else None
        if before is not None:
            self.compare_with(before.number)

    def compare_with(self, number: int) -> None:
        """Show the run with this number and the latest side by side, with the lines that differ."""
        earlier, latest = self.history.find(number), self.history.latest()
        if earlier is None or latest is None or earlier is latest:
            self._say(tr("That run has been given up; keep a run to compare with it later"))
            return
        if not earlier.is_recorded or not latest.is_recorded:
            self._run_again(earlier if not earlier.is_recorded else latest, number)
            return
        lines = run_changes.unique_lines(earlier.run.source, latest.run.source)
        pairs = [(self._hidden(stored.run.tape), _title(stored)) for stored in (earlier, latest)]
        self._comparison.show(pairs[0], pairs[1], lines)

    def _run_again(self, stored: StoredRun, compared: int) -> None:
        """Run a run of an earlier session again, then compare the one with this number."""
        session = self._session
        if not session.doc.may_run:
            self._say(
                tr("The program runs once you press Run; then its earlier runs can be compared")
            )
            return
        run = stored.run
        device = run.device if run.device in session.result.devices else session.doc.device
        doc = replace(session.doc, seed=run.seed, device=device)
        self._wanted = compared
        self._rerun_number = stored.number
        self._rerun.start(run.source, doc, session.limits)
        self._say(tr("{title} runs again, to be compared…", title=stored.title))

    def _take_rerun(self, tape: object) -> None:
        compared, self._wanted = self._wanted, 0
        if isinstance(tape, Tape) and compared:
            self.history.record(self._rerun_number, tape)
            self.compare_with(compared)

    def go_back(self, number: int) -> None:
        """Run the text of an earlier run again, with its seed and device."""
        stored = self.history.find(number)
        if stored is not None and self.history.go_back(number):
            self._say(tr("Back at {title}; Ctrl+Z brings the later text back", title=stored.title))

    def go_back_once(self) -> None:
        """Run the text of the run before the latest again."""
        latest = self.history.latest()
        before = self.history.before(latest.number) if latest is not None else None
        if before is not None:
            self.go_back(before.number)

    def close(self) -> None:
        """Stop all work."""
        self._settle.stop()
        self._list.stop()
        self._worker.close()
        self._rerun.close()
        self.history.close()

    # Comparing

    def _forget(self) -> None:
        self._settle.stop()
        self._worker.cancel()
        self._rerun.close()
        self.pane.clear()
        self._show_count(0)

    def _hidden(self, tape: Tape) -> Tape:
        """Return a run's tape without the gradients that are to be found."""
        return self._session.hiding.hidden(tape, is_same_run=self._is_shown(tape))

    def _is_shown(self, tape: Tape) -> bool:
        return self._session.hiding.recorded(self._session.result.tape) is tape

    def _compare_again(self) -> None:
        self._forget()
        self._settle.start()

    def _compare_latest(self) -> None:
        latest = self.history.latest()
        before = self.history.before(latest.number) if latest is not None else None
        self._worker.cancel()
        if latest is None or before is None:
            return
        tapes = self._hidden(before.run.tape), self._hidden(latest.run.tape)
        count = sum(len(tape.events) for tape in tapes)
        edit = run_changes.edit_words(before.run, latest.run)
        lines = run_changes.unique_lines(before.run.source, latest.run.source)
        self._show_count(0)
        if not (before.is_recorded and latest.is_recorded):
            self.pane.show_edit(edit, lines, EARLIER)
            return
        if count > MOST_EVENTS:
            self.pane.show_edit(edit, lines, LONG)
            return
        self.pane.show_edit(edit, lines, COMPARING)
        if count <= INLINE_EVENTS:
            self._show(before, latest, Comparison(*tapes))
        else:
            self._worker.request(
                lambda task: compare_all(*tapes, task),
                lambda made: self._show(before, latest, made()),
            )

    def _show(self, before: StoredRun, latest: StoredRun, compared: Comparison) -> None:
        changes = run_changes.run_changes(before.run, latest.run, compared)
        self.pane.show_changes(changes, run_changes.count_words(changes))
        self._show_count(len(changes))

    def _show_count(self, count: int) -> None:
        place = self._tabs.indexOf(self.page)
        title = f"{TITLE} · {count}" if count else TITLE
        # In a narrow window all four tabs have to fit.
        self._tabs.shorten({title: f"Δ {count}" if count else "Δ", tr("Legend"): tr("Key")})
        self._tabs.setTabText(place, title)

    def _go_to(self, change: object) -> None:
        """Go to the line of a change and select its card, while the text is still that run's."""
        latest = self.history.latest()
        if not isinstance(change, RunChange) or latest is None:
            return
        if change.line and self._session.doc.source == latest.run.source:
            self._editor.go_to_line(change.line)
        if change.value is not None and self._is_shown(latest.run.tape):
            self._presenter.select_value(change.value)

    # The history

    def _list_runs(self) -> None:
        rows, before = [], None
        for stored in self.history.runs:
            edit = (
                run_changes.edit_words(before.run, stored.run)
                if before is not None
                else tr("the first run")
            )
            rows.append(_row(stored, edit))
            before = stored
        self.runs_pane.set_runs(rows[::-1])


def _title(stored: StoredRun) -> str:
    return tr(
        "{title} · seed {seed} · {device}",
        title=stored.title,
        seed=stored.run.seed,
        device=stored.run.device,
    )


def _row(stored: StoredRun, edit: str) -> RunRow:
    run = stored.run
    return RunRow(
        number=stored.number,
        title=stored.title,
        edit=edit,
        result=result_words(run.tape) if stored.is_recorded else stored.result,
        setting=f"{run.seed} · {run.device}",
        is_kept=stored.is_kept,
        failed=run.tape.error is not None if stored.is_recorded else stored.failed,
    )


def result_words(tape: Tape) -> str:
    """Return the result of a run: its error, its last loss, its last print, or its ops."""
    if tape.error is not None:
        line = tape.error.place.line
        return (
            tr("{type} at line {line}", type=tape.error.type, line=line)
            if line
            else tape.error.type
        )
    values = {value.id: value for value in tape.values}
    for one in reversed(tape.passes):
        root = values.get(one.roots[0] or 0) if one.roots else None
        if root is not None and root.snapshot is not None:
            text = snapshot_text.value(tape.snapshots[root.snapshot])
            return f"{root.name or 'result'} {text}"
    printed = tape.stdout.strip().splitlines()
    return (
        tr("printed {printed}", printed=printed[-1][:60])
        if printed
        else ngettext("{count:,} op", "{count:,} ops", len(tape.ops))
    )
