"""Installation of packages into a Python of the user's, with its output."""

import shlex

from PySide6.QtCore import QObject, QProcess, Signal

from gradscribe.app.link.interpreters import install_command
from gradscribe.app.link.remote import address, connection, ssh_command
from gradscribe.playback.translation import tr

CLOSE_MS = 2000
"""Time that pip gets to end after it was asked to."""


class PackageInstall(QObject):
    """Runs ``pip install`` in another process; on another machine by ssh.

    ``command`` is what a user would type.
    """

    printed = Signal(str)
    ended = Signal(str)
    """Carries the reason why nothing was installed; empty if all was."""

    def __init__(self, path: str, packages: tuple[str, ...], parent: QObject) -> None:
        super().__init__(parent)
        words = ["-m", "pip", "install", "--progress-bar", "off", *packages]
        self._process = process = QProcess(self)
        if path.startswith(address.SCHEME):
            far = address.parse(path)
            self.command = connection.install_command(far, list(packages))
            program, *words = ssh_command.arguments(far, f"{far.shell_python} {shlex.join(words)}")
        else:
            self.command, program = install_command(path, list(packages)), path
        process.setProgram(program)
        process.setArguments(words)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail)

    def start(self) -> None:
        """Start it; `ended` follows."""
        self._process.start()

    def close(self) -> None:
        """Stop it, and wait until it has ended."""
        process = self._process
        process.finished.disconnect(self._finish)
        process.errorOccurred.disconnect(self._fail)
        if process.state() != QProcess.ProcessState.NotRunning:
            process.terminate()
            if not process.waitForFinished(CLOSE_MS):
                process.kill()
                process.waitForFinished(CLOSE_MS)

    def _read(self) -> None:
        self.printed.emit(
            bytes(self._process.readAllStandardOutput().data()).decode(errors="replace")
        )

    def _finish(self, code: int, _status: QProcess.ExitStatus) -> None:
        self._read()
        self.ended.emit(tr("pip ended with {code}; its output says why", code=code) if code else "")

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self.ended.emit(self._process.errorString())
