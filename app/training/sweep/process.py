"""A sweep that runs in a process of its own: ``gradscribe train - --sweep ... --events``."""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QProcess, Signal

from gradscribe.app.link import launch
from gradscribe.app.training.sweep.rows import TrialRow
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import Setup
from gradscribe.playback.translation import tr

TAIL = 2_000
"""Characters of its error output that are kept, the last ones."""
MAX_LINE_BYTES = 1 << 26
END_MS = 3_000
"""Milliseconds that the process gets to end its engines before it is killed."""


class SweepProcess(QObject):
    """Runs the command line and follows its events; the window never waits for it."""

    begun = Signal(list)
    """Carries all rows."""
    changed = Signal(object)
    """Carries the row of a trial that made steps, or ended."""
    timed = Signal(object)
    """Carries the seconds that are left, or None."""
    ended = Signal(str)
    """Carries the reason why it did not run to its end; empty if it did."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = Path()
        """The folder of setups and results, once it has begun."""
        self._buffer = bytearray()
        self._errors = ""
        self._process: QProcess | None = None

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process is not None

    def start(self, setup: Setup, texts: Sequence[str], options: Sequence[str]) -> None:
        """Sweep ``setup`` over the options ``texts`` (``NAME=VALUES``), with further arguments."""
        assert self._process is None
        self._buffer.clear()
        self._errors, self.folder = "", Path()
        words = [word for text in texts for word in ("--sweep", text)]
        self._process = process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_errors)
        process.finished.connect(lambda *_: self._finish())
        process.errorOccurred.connect(self._fail)
        arguments = ["-P", "-m", "gradscribe", "train", "-", *words, *options, "--events"]
        process.start(launch.python_executable(), arguments)
        process.write(json.dumps(setups.to_dict(setup)).encode())
        process.closeWriteChannel()

    def stop(self) -> None:
        """Have it end; the results so far stay on the disk."""
        if self._process is not None:
            # SIGTERM where there is such a thing: it writes its summary.
            self._process.terminate()

    def close(self) -> None:
        """End it now, waiting a little for its engines to end."""
        process = self._process
        if process is not None:
            process.terminate()
            if not process.waitForFinished(END_MS):
                process.kill()
                process.waitForFinished(END_MS)

    def _read(self) -> None:
        assert self._process is not None
        self._buffer += self._process.readAllStandardOutput().data()
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest[:MAX_LINE_BYTES])
        for line in lines:
            self._take(bytes(line))

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            match event["event"]:
                case "begun":
                    self.folder = Path(event["folder"])
                    self.begun.emit(msgspec.convert(event["rows"], list[TrialRow]))
                case "progress" | "finished":
                    self.changed.emit(msgspec.convert(event["row"], TrialRow))
                    if "seconds_left" in event:
                        self.timed.emit(event["seconds_left"])
        except (ValueError, TypeError, KeyError, msgspec.ValidationError):
            self._errors = f"gradscribe: the sweep wrote {line[:60]!r}"

    def _read_errors(self) -> None:
        assert self._process is not None
        text = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace")
        self._errors = (self._errors + text)[-TAIL:]

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._errors = f"gradscribe: {launch.python_executable()} does not start"
            self._finish()

    def _finish(self) -> None:
        if self._process is not None:
            # The end may be noticed before the last words.
            self._read()
            self._read_errors()
        process, self._process = self._process, None
        if process is None:
            return
        reason = self._reason(process)
        process.deleteLater()
        self.ended.emit(reason)

    def _reason(self, process: QProcess) -> str:
        """Return why a process that has ended did not run to its end; empty if it did."""
        lines = self._errors.splitlines()
        if said := [line for line in lines if line.startswith("gradscribe: ")]:
            return said[-1].removeprefix("gradscribe: ")
        if process.exitStatus() == QProcess.ExitStatus.CrashExit:
            return tr("the sweep was killed: --resume goes on, also with Start")
        if code := process.exitCode():
            words = lines[-1] if lines else ""
            ended = tr("the sweep ended with exit code {code}", code=code)
            return f"{ended}: {words}" if words else ended
        return ""
