"""Internal errors: exception and message hooks for unexpected failures in the window process.

Each is written to a rotating log and reported once; the program continues.
"""

import contextlib
import faulthandler
import logging
import platform
import sys
import threading
import traceback
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TextIO

import PySide6
from msgspec import Struct
from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
    qVersion,
)

LOG_BYTES, LOG_FILES = 1 << 20, 2
"""Most bytes of a log file, and the number of older ones that are retained."""
LOG_LINE = 20_000
MOST_FRAMES = 40
ROOT = Path(__file__).resolve().parents[2]
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class Fault(Struct, frozen=True):
    """An unexpected error. ``frames`` name places in the source, and nothing the user wrote."""

    type: str
    message: str
    frames: tuple[str, ...] = ()
    where: str = "the window"

    @property
    def key(self) -> tuple[str, str]:
        """Identity of the fault: equal for two occurrences of the same one."""
        return self.type, self.frames[-1] if self.frames else self.message

    @property
    def place(self) -> str:
        """The innermost place; empty if unknown."""
        return self.frames[-1] if self.frames else ""


def fault_of(error: BaseException, trace: TracebackType | None = None) -> Fault:
    """Return an exception as a fault."""
    frames = traceback.extract_tb(trace or error.__traceback__)[-MOST_FRAMES:]
    places = tuple(f"{_short(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames)
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot even be printed
        message = "(no message)"
    return Fault(type(error).__name__, message[:LOG_LINE], places)


def _short(filename: str) -> str:
    """Return a file's name without the folders it happens to be installed in."""
    path = Path(filename)
    with contextlib.suppress(ValueError):
        return path.relative_to(ROOT).as_posix()
    parts = path.parts
    if "site-packages" in parts:
        return "/".join(parts[parts.index("site-packages") + 1 :])
    return path.name


def report(fault: Fault, version: str, torch: str, private: Sequence[str] | None = None) -> str:
    """Return a bug report.

    Args:
        fault: what happened.
        version: of this program.
        torch: the engine's version of it; empty if not known yet.
        private: texts to add after the exception's message; None omits that message, too, because
            it may quote what the user wrote.
    """
    lines = [
        f"Gradscribe {version}, a fault of {fault.where}",
        f"Python {platform.python_version()}, torch {torch or 'not started'}",
        f"PySide6 {PySide6.__version__}, Qt {qVersion()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
        "",
        *(f"  {frame}" for frame in fault.frames),
        f"{fault.type}: {fault.message}" if private is not None else fault.type,
    ]
    for text in private or ():
        lines += ["", text]
    return "\n".join(lines) + "\n"


class FaultHandler(QObject):
    """Replace Python's exception hooks and Qt's message handler, from `install` to `close`."""

    caught = Signal(object)
    """Carries a `Fault` at its first occurrence; delivered in the thread of this object."""

    def __init__(self, log: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # Asking for a thread's name would register each of Qt's threads with Python.
        logging.logThreads = False
        self._log = logging.getLogger("gradscribe")
        self._log.propagate = False
        self._log.addHandler(_handler(log))
        self._crashes = None if log is None else _crash_file(log)
        self._counts: dict[tuple[str, str], int] = {}
        self._lock = threading.RLock()
        self._installed = False

    def install(self) -> None:
        """Install the hooks."""
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._in_main
        threading.excepthook = self._in_thread
        sys.unraisablehook = self._unraisable
        self._qt_before = qInstallMessageHandler(self._qt)
        if self._crashes is not None:
            # Not all threads: a thread that is just starting has no frames, and dumping it makes
            # Python crash again before it comes to the thread that matters.
            faulthandler.enable(self._crashes, all_threads=False)
        self._installed = True

    def close(self) -> None:
        """Restore the previous hooks and close the logs."""
        if self._installed:
            self._installed = False
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
            qInstallMessageHandler(self._qt_before)
        if self._crashes is not None:
            faulthandler.disable()
            self._crashes.close()
            self._crashes = None
        for handler in list(self._log.handlers):
            self._log.removeHandler(handler)
            handler.close()

    def count(self, fault: Fault) -> int:
        """Return how often this fault has happened."""
        return self._counts.get(fault.key, 0)

    def note(self, fault: Fault) -> None:
        """Log a fault, and report its first occurrence. Thread-safe."""
        with self._lock:
            count = self._counts[fault.key] = self.count(fault) + 1
            # An error in a paint event recurs 60 times a second: log the 1st, 2nd, 4th, 8th …
            if count & (count - 1) == 0:
                frames = "".join(f"\n  {frame}" for frame in fault.frames)
                words = f"{fault.where}, time {count}: {fault.type}: {fault.message}{frames}"
                self._log.error("%s", words[:LOG_LINE])
        if count == 1:
            self.caught.emit(fault)

    def _in_main(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.note(fault_of(error, trace))

    def _in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and args.exc_type is not SystemExit:
            self.note(fault_of(args.exc_value, args.exc_traceback))

    def _unraisable(self, args: "sys.UnraisableHookArgs") -> None:
        if args.exc_value is not None:
            self.note(fault_of(args.exc_value, args.exc_traceback))

    def _qt(self, kind: QtMsgType, _: QMessageLogContext, message: str) -> None:
        with self._lock:
            key = ("Qt", message[:200])
            count = self._counts[key] = self._counts.get(key, 0) + 1
            if count & (count - 1) == 0 and len(self._counts) < LOG_LINE:
                level = _LEVELS.get(kind, logging.WARNING)
                self._log.log(level, "Qt, time %d: %s", count, message[:LOG_LINE])


class _Handler(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: a full disk must not cause a second fault."""


def _handler(log: Path | None) -> logging.Handler:
    if log is None:
        return logging.NullHandler()
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        made = _Handler(
            log, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8", errors="replace"
        )
    except OSError:
        return logging.NullHandler()
    made.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    return made


def _crash_file(log: Path) -> TextIO | None:
    """Return the file for `faulthandler`; None if it cannot be written.

    The dump of the previous crash is kept as ``crash-before.log``.
    """
    path = log.with_name("crash.log")
    try:
        if path.exists() and path.stat().st_size:
            path.replace(log.with_name("crash-before.log"))
        return path.open("w", encoding="utf-8")
    except OSError:
        return None
