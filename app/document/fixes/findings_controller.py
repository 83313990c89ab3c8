"""The doctor's findings in the window: the tab, the marks in the code, the fixes."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QScrollArea, QTabWidget

from gradscribe.app.document.fixes.fix_trials import FixTrials
from gradscribe.app.document.session import Session
from gradscribe.app.document.side_run import SideRun
from gradscribe.app.link.client import Link
from gradscribe.engine.protocol.tape import Finding, Tape
from gradscribe.playback.code import fix_diff
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.tables.findings import FindingsPane

FixHandler = tuple[str, frozenset[str], Callable[[Finding], None]]


class FindingsController(QObject):
    """Update pane, tab and marks after each run, and perform the actions of the cards."""

    compared = Signal(object, object, object)
    """Both runs are done: (tape, title) without and with the fix, and the lines unique to each."""

    def __init__(
        self,
        session: Session,
        editor: CodeEdit,
        pane: FindingsPane,
        tabs: QTabWidget,
        page: QScrollArea,
        trial: Callable[[QObject], SideRun] = SideRun,
        link: Callable[[QObject], Link] = Link,
    ) -> None:
        super().__init__(tabs)
        self._session, self._editor, self._pane = session, editor, pane
        self._tabs, self._page = tabs, page
        self._trial = trial(self)
        self.fix_trials = FixTrials(self, link)
        self.fix_trials.tried.connect(pane.settle)
        self._tried: Finding | None = None
        self._elsewhere: FixHandler = ("", frozenset(), lambda _: None)
        self._trial.ended.connect(self._show_trial)
        session.result_changed.connect(self.show)
        session.doc_changed.connect(self._show_current)
        pane.line_requested.connect(self._go_to_line)
        pane.fix_requested.connect(self._fix)
        pane.demo_requested.connect(self._try)

    def show(self) -> None:
        """Show the findings of the latest run."""
        result = self._session.result
        findings = result.latest.findings
        step, fixable, _ = self._elsewhere
        elsewhere = fixable if step == result.latest_source else frozenset[str]()
        self._pane.set_findings(findings, result.latest_source, elsewhere)
        place = self._tabs.indexOf(self._page)
        count = len(findings)
        title = tr("Findings · {count}", count=count) if count else tr("Findings")
        self._tabs.setTabText(place, title)
        titles = "\n".join(
            tr("Line {line}: {title}", line=f.place.line, title=translated(f.title))
            for f in findings
        )
        self._tabs.setTabToolTip(place, titles)
        self._show_current()

    def set_fix_handler(
        self, source: str, findings: frozenset[str], then: Callable[[Finding], None]
    ) -> None:
        """Let ``then`` try the fixes of the findings with these ids of ``source``."""
        self._elsewhere = source, findings, then

    def _show_current(self) -> None:
        result = self._session.result
        current = self._session.doc.source == result.latest_source
        if current:
            self._editor.findings.set_findings(result.latest.findings)
        self._pane.set_current(current)
        self._try_fixes(current)
        if self._tried is not None and not current:
            self._trial.close()
            self._settle()

    def _try_fixes(self, current: bool) -> None:
        """Try the fixes of the shown findings, unless the text has changed since."""
        session = self._session
        if not current:
            self.fix_trials.cancel()
            return
        self._pane.set_may_try(session.doc.may_run)
        self.fix_trials.start(
            session.result.latest.findings,
            session.result.latest_source,
            session.doc,
            session.limits,
        )

    def open(self) -> None:
        """Bring the tab to the front and go to the first finding's line."""
        self._tabs.setCurrentWidget(self._page)
        findings = self._session.result.latest.findings
        if findings and findings[0].place.line:
            self._go_to_line(findings[0].place.line)

    def _go_to_line(self, line: int) -> None:
        self._editor.go_to_line(line)
        self._editor.setFocus()

    def _fix(self, finding: object) -> None:
        if isinstance(finding, Finding) and finding.fix:
            self._session.apply_fix(finding.fix)

    def _try(self, finding: object) -> None:
        """Run the fixed program in parallel; cancel a trial that is running."""
        if not isinstance(finding, Finding):
            return
        self._settle()
        if not finding.fix:
            self._elsewhere[2](finding)
            return
        self._tried = finding
        card = self._pane.card(finding)
        if card is not None:
            card.set_running(True)
        self._trial.start(finding.fix, self._session.doc, self._session.limits)

    def _show_trial(self, tape: Tape) -> None:
        finding = self._tried
        card = self._pane.card(finding) if finding is not None else None
        self._settle()
        if card is None or finding is None:
            return
        result = self._session.result
        card.show_rows(fix_diff.compare_runs(result.latest, tape))
        rows = fix_diff.changed_lines(result.latest_source, finding.fix)
        lines = tuple([row[2:] for row in rows if row.startswith(sign)] for sign in "-+")
        titles = (
            tr("As it is · {title}", title=translated(finding.title)),
            tr("Fixed"),
        )
        self.compared.emit((result.latest, titles[0]), (tape, titles[1]), lines)

    def _settle(self) -> None:
        card = self._pane.card(self._tried) if self._tried is not None else None
        self._tried = None
        if card is not None:
            card.set_running(False)

    def close(self) -> None:
        """Cancel what is running and end its engines."""
        self._trial.close()
        self.fix_trials.close()
