"""Trials of the doctor's fixes: each runs in a second engine before it is offered."""

from collections.abc import Callable, Generator

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.side_run import run_document
from gradscribe.app.document.state import Doc, Limits
from gradscribe.app.link.client import Link
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.outcome import Outcome
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

SETTLE_MS = 700
"""Pause after a run before its fixes are tried: the next keystroke starts another run."""
IDLE_MS = 60_000
"""Time without a trial after which the engine is ended."""
TRIAL_S = 10.0
"""Time limit of one run of a fixed program."""
START_S = 120.0
"""Time within which a run has to be answered, the start of its engine included."""
MOST_KNOWN = 32
"""Most programs whose tried fixes are remembered."""
FAILED = tr("The change that usually helps could not be tried: Python does not start")

Key = tuple[object, ...]
Runs = Generator[str, Outcome, object]


class FixTrials(QObject):
    """Tries the fixes of a run's findings, one at a time, and emits each result.

    The program runs first as it is, then with each fix. Results are remembered for a program.
    """

    tried = Signal(object, object)
    """Carries the finding, and the same with the fix that works or the reason why none does."""

    def __init__(
        self, parent: QObject | None = None, link: Callable[[QObject], Link] = Link
    ) -> None:
        super().__init__(parent)
        self._make = link
        self._link: Link | None = None
        self._run_id = 0
        self._runs: Runs | None = None
        self._asked: tuple[tuple[Finding, ...], str, Doc, Limits] | None = None
        self._known: dict[Key, dict[Finding, Finding]] = {}
        self._settle = single_shot(self, self._begin, SETTLE_MS)
        self._idle = single_shot(self, self.close, IDLE_MS)
        self._late = single_shot(self, self._fail, round(1000 * START_S))

    @property
    def is_busy(self) -> bool:
        """True while a trial waits or runs."""
        return self._settle.isActive() or self._runs is not None

    def start(self, findings: tuple[Finding, ...], source: str, doc: Doc, limits: Limits) -> None:
        """Try the fixes of the findings of ``source``; give up those of another program.

        Nothing is run for a document that may not run by itself.
        """
        key = self._key(source, doc, limits)
        last = self._asked
        if last is not None and self.is_busy and (findings, key) == (last[0], self._key(*last[1:])):
            return
        self.cancel()
        self._asked = findings, source, doc, limits
        known = self._known.get(key, {})
        for finding in findings:
            if finding in known:
                self.tried.emit(finding, known[finding])
        if doc.may_run and any(_is_untried(f) and f not in known for f in findings):
            self._settle.start()

    def cancel(self) -> None:
        """Give up the trials that wait or run."""
        self._settle.stop()
        self._late.stop()
        self._asked = None
        if self._runs is not None:
            self._runs = None
            self._run_id = 0
            if self._link is not None:
                self._link.stop()
            self._idle.start()

    def close(self) -> None:
        """Give up all trials and end the engine."""
        self.cancel()
        self._idle.stop()
        link, self._link = self._link, None
        if link is not None:
            link.received.disconnect(self._take)
            link.close()
            link.deleteLater()

    @staticmethod
    def _key(source: str, doc: Doc, limits: Limits) -> Key:
        return (source, doc.seed, doc.device, doc.foreign, doc.path, limits)

    def _begin(self) -> None:
        if self._asked is None:
            return
        self._idle.stop()
        if self._link is None:
            self._link = self._make(self)
            self._link.received.connect(self._take)
            self._link.start()
        self._runs = self._programs(*self._asked)
        self._run(next(self._runs, None))

    def _programs(
        self, findings: tuple[Finding, ...], source: str, doc: Doc, limits: Limits
    ) -> Runs:
        """Yield the programs to run, take their outcomes, and emit the result of each trial."""
        from gradscribe.engine.doctor.fix_trial import trial_runs, tried

        known = self._known.setdefault(self._key(source, doc, limits), {})
        while len(self._known) > MOST_KNOWN:
            self._known.pop(next(iter(self._known)))
        before: Outcome | None = None
        for finding in findings:
            if finding in known or not _is_untried(finding):
                continue
            if before is None:
                before = yield source
            result = yield from trial_runs(finding, source, before)
            known[finding] = tried(finding, result)
            self.tried.emit(finding, known[finding])
        return None

    def _run(self, source: str | None) -> None:
        if source is None or self._asked is None or self._link is None:
            self._runs = None
            self._late.stop()
            self._idle.start()
            return
        _, _, doc, limits = self._asked
        limits = replace(limits, timeout=min(limits.timeout, TRIAL_S))
        self._late.start()
        self._run_id = run_document(self._link, source, doc, limits, brief=True)

    def _take(self, message: object) -> None:
        runs = self._runs
        if (
            not isinstance(message, messages.Recorded)
            or message.run_id != self._run_id
            or runs is None
        ):
            return
        tape = message.tape
        outcome = message.outcome or Outcome(tape.status, tape.error, is_cut=True)
        try:
            source = runs.send(outcome)
        except StopIteration:
            source = None
        if runs is self._runs:
            self._run(source)

    def _fail(self) -> None:
        """Report that no fix can be tried: there is no answer."""
        findings = self._asked[0] if self._asked is not None else ()
        self._runs = None
        self.close()
        for finding in filter(_is_untried, findings):
            self.tried.emit(finding, replace(finding, fix="", why_no_fix=FAILED))


def _is_untried(finding: Finding) -> bool:
    return bool(finding.fix) and finding.tried == "no"
