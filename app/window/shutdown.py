"""Close the window properly on SIGINT, SIGTERM and SIGHUP."""

import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that request termination; Windows has the first two."""


class ShutdownSignals(QObject):
    """Call ``close`` on each signal of `SIGNALS` that has its default handler.

    By itself Python would handle a signal only at the next Qt event, and raise KeyboardInterrupt
    in whatever code runs then. A wakeup descriptor and a socket notifier avoid both.
    """

    def __init__(self, close: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._close = close
        self._before: dict[int, signal._HANDLER] = {}
        self._listens = False
        if threading.current_thread() is not threading.main_thread():
            return
        self._listens = True
        self._reading, self._writing = socket.socketpair()
        for end in (self._reading, self._writing):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._reading.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._end)
        self._woken = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        for number in (getattr(signal, name) for name in SIGNALS if hasattr(signal, name)):
            before = signal.getsignal(number)
            if before in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = signal.signal(number, _note)

    def _end(self) -> None:
        if set(self._reading.recv(64)) & set(self._before):
            self._close()

    def stop(self) -> None:
        """Restore the previous signal handlers."""
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}
        if self._listens:
            self._listens = False
            self._notifier.setEnabled(False)
            signal.set_wakeup_fd(self._woken)
            self._reading.close()
            self._writing.close()


def _note(_signal: int, _frame: FrameType | None) -> None:
    """Do nothing: Python writes the signal number to the wakeup socket."""
