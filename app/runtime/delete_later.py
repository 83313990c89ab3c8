"""Delete QObjects once their worker thread is idle, without blocking on it."""

from PySide6.QtCore import QCoreApplication, QObject, QRunnable, QThreadPool, Signal


class _End(QRunnable):
    """Last task in the queue of a single-thread pool."""

    def __init__(self, ending: "_Ending") -> None:
        super().__init__()
        self._ending = ending

    def run(self) -> None:
        """Signal that the pool is idle."""
        self._ending.came.emit()


class _Ending(QObject):
    """Temporary parent of an object; it deletes itself and the object when the pool is idle."""

    came = Signal()
    """Emitted in the worker thread."""

    def __init__(self, owner: QObject, pool: QThreadPool, program: QCoreApplication) -> None:
        super().__init__(program)
        # Its former parent may be deleted earlier, and would block until the thread ends.
        owner.setParent(self)
        program.aboutToQuit.connect(pool.waitForDone)
        self.came.connect(self.deleteLater)
        pool.start(_End(self))


def delete_when_idle(owner: QObject, pool: QThreadPool) -> None:
    """Delete ``owner`` once its single-thread ``pool`` has finished its tasks.

    If the pool is idle, nothing happens: the owner's parent deletes it.
    """
    program = QCoreApplication.instance()
    if program is not None and pool.activeThreadCount():
        _Ending(owner, pool, program)
