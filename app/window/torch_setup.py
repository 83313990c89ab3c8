"""PyTorch for a window whose own Python has none: offered, installed with progress, repaired."""

import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QProcess

from gradscribe.app.document.session import Session
from gradscribe.app.files.python_choice import PythonChoice
from gradscribe.app.link import launch, own_engine, torch_install
from gradscribe.app.link.interpreters import UnusablePython, ask_interpreter
from gradscribe.app.link.own_engine import OwnEngine
from gradscribe.app.link.python_search import FoundPython, find_torch
from gradscribe.app.link.torch_install import InstallFailed, InstallPlan, amount
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.app.ui.torch_dialog import TorchChoice
from gradscribe.playback.translation import tr

KEY = "torch"
END_MS = 6000
"""Time that an installation gets to end, and to end uv, after it was asked to."""
STEP = 5
"""Percent between two texts of the notice: each is read out."""


class TorchSetup(QObject):
    """Offers a way to PyTorch while there is none, and carries it out."""

    def __init__(
        self,
        session: Session,
        python: PythonChoice,
        notices: NoticeActions,
        ask: Callable[[list[FoundPython]], TorchChoice | None],
        parent: QObject,
    ) -> None:
        """``ask`` shows the Pythons that have PyTorch and lets the user choose a way."""
        super().__init__(parent)
        self._session, self._python, self._notices, self._ask = session, python, notices, ask
        self._worker = BackgroundWorker(self)
        self._process: QProcess | None = None
        self._plan = InstallPlan()
        self._is_canceled = False
        self._errors = ""
        self._shown = ""
        python.set_up = self.choose
        session.result_changed.connect(self._offer_once)
        self._offered = False

    @property
    def is_installing(self) -> bool:
        """True while PyTorch is installed."""
        return self._process is not None

    def offer(self) -> None:
        """Show a notice with the next step, unless programs can run."""
        if self.is_installing or not own_engine.is_missing():
            return
        choices: tuple[tuple[str, Callable[[], None]], ...]
        half = torch_install.half_made()
        engine = own_engine.read()
        if half is not None:
            plan = InstallPlan(str(half.parent))
            text = tr("PyTorch is installed in part: it was interrupted")
            choices = (
                (tr("Continue"), lambda: self.install(plan)),
                (tr("Remove"), lambda: self._remove(half)),
            )
        elif engine is not None and engine.folder:
            plan = InstallPlan(str(Path(engine.folder).parent))
            text = tr("PyTorch's environment cannot be used any more: its Python is gone")
            choices = (
                (tr("Repair"), lambda: self.install(plan)),
                (tr("Set up PyTorch…"), self.choose),
            )
        else:
            text = tr("Programs need PyTorch, which this Python has not; recorded runs open anyway")
            choices = ((tr("Set up PyTorch…"), self.choose),)
        self._notices.show_now(Notice(KEY, text, choices))

    def choose(self) -> None:
        """Ask for a way to PyTorch, and take it."""
        if self.is_installing:
            return
        choice = self._ask(find_torch(launch.script_folder(self._session.doc.path)))
        if choice is None:
            self.offer()
        elif choice.plan is not None:
            self.install(choice.plan)
        else:
            self._use(choice.python)

    def install(self, plan: InstallPlan) -> None:
        """Install PyTorch in a process of its own."""
        if self.is_installing:
            return
        self._plan, self._is_canceled, self._errors, self._shown = plan, False, "", ""
        words = ["-P", "-m", "gradscribe", "install-torch", "--reports"]
        words += ["--folder", plan.parent] if plan.parent else []
        words += ["--gpu"] if plan.gpu else []
        words += ["--wheels", plan.wheels] if plan.wheels else []
        self._process = process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_errors)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail)
        self._show_progress(tr("Preparing"), 0)
        process.start(launch.python_executable(), words)

    def cancel(self) -> None:
        """End the installation and remove what it made."""
        if self._process is not None:
            self._is_canceled = True
            self._notices.show_now(Notice(KEY, tr("Removing what was installed")))
            self._process.terminate()

    def close(self) -> None:
        """End a running installation; what it made is continued or removed at the next start."""
        process, self._process = self._process, None
        if process is not None:
            process.finished.disconnect(self._finish)
            process.errorOccurred.disconnect(self._fail)
            process.terminate()
            if not process.waitForFinished(END_MS):
                process.kill()
                process.waitForFinished(END_MS)
        self._worker.close()

    def _offer_once(self) -> None:
        """Offer it as soon as an engine is wanted and cannot be had."""
        has_problem = self._session.result.problem is not None
        if has_problem and not self._offered and own_engine.is_missing():
            self._offered = True
            self.offer()

    def _read(self) -> None:
        if self._process is None:
            return
        lines = bytes(self._process.readAllStandardOutput().data()).splitlines()
        for line in lines[-1:]:
            try:
                report = json.loads(line)
                self._show_progress(str(report["phase"]), int(report["mb"]))
            except (ValueError, TypeError, KeyError):
                continue  # Half a line; the next one comes soon.

    def _read_errors(self) -> None:
        if self._process is not None:
            data = bytes(self._process.readAllStandardError().data())
            self._errors += data.decode("utf-8", "replace")

    def _show_progress(self, phase: str, megabytes: int) -> None:
        if self._is_canceled:
            return
        share = min(99, 100 * megabytes // self._plan.size_mb) // STEP * STEP
        values = {"phase": phase, "share": share, "size": amount(self._plan.size_mb)}
        text = tr("{phase}: {share} % of about {size}", **values)
        if text != self._shown:
            self._shown = text
            cancel = ((tr("Cancel"), self.cancel),)
            self._notices.show_now(Notice(KEY, text, cancel, more=str(self._plan.folder)))

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self._process is not None:
            self._errors = self._process.errorString()
            self._finish(1, QProcess.ExitStatus.CrashExit)

    def _finish(self, code: int, _status: QProcess.ExitStatus) -> None:
        self._read_errors()
        process, self._process = self._process, None
        if process is not None:
            process.deleteLater()
        if self._is_canceled:
            self._remove(self._plan.folder)
        elif code == 0:
            self._begin()
        else:
            lines = [line for line in self._errors.splitlines() if line.strip()]
            why = (lines or [tr("its process ended")])[-1].removeprefix("gradscribe: ")
            text = tr("PyTorch is not installed: {reason}", reason=why)
            self._notices.show_now(Notice(KEY, text, ((tr("Set up PyTorch…"), self.choose),)))

    def _remove(self, folder: Path) -> None:
        def remove() -> None:
            if (folder / torch_install.MARKER).is_file():
                torch_install.remove(folder)

        def take(result: Callable[[], None]) -> None:
            try:
                result()
            except InstallFailed as failure:
                self._notices.show_now(Notice(KEY, str(failure)))
                return
            self.offer()

        self._notices.drop(KEY)
        self._worker.submit(remove, take)

    def _use(self, path: str) -> None:
        def ask() -> OwnEngine:
            return OwnEngine(ask_interpreter(path))

        def take(result: Callable[[], OwnEngine]) -> None:
            try:
                own_engine.write(result())
            except UnusablePython as refusal:
                choices = ((tr("Set up PyTorch…"), self.choose),)
                self._notices.show_now(Notice(KEY, str(refusal), choices))
                return
            self._begin()

        self._notices.drop(KEY)
        self._worker.submit(ask, take)

    def _begin(self) -> None:
        """Run the program in the Python that is there now."""
        engine = own_engine.read()
        torch = engine.python.torch if engine is not None else ""
        self._notices.drop(KEY)
        self._python.said.emit(tr("PyTorch {version} is ready", version=torch))
        self._session.doc_changed.emit()  # The language process reads the names of torch again.
        self._session.restart()
