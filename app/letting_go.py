"""Objects that are let go of while a thread of theirs is still at work: nobody waits for it."""

from PySide6.QtCore import QCoreApplication, QObject, QRunnable, QThreadPool, Signal


class _End(QRunnable):
    """What comes after all that a pool of one thread was given."""

    def __init__(self, ending: "_Ending") -> None:
        super().__init__()
        self._ending = ending

    def run(self) -> None:
        """Tell that nothing is at work any more."""
        self._ending.came.emit()


class _Ending(QObject):
    """Keeps an object until its thread has come to an end, and goes with it."""

    came = Signal()
    """From the worker thread."""

    def __init__(self, owner: QObject, pool: QThreadPool, program: QCoreApplication) -> None:
        super().__init__(program)
        # Whoever owned it may be gone before, and would wait for the thread.
        owner.setParent(self)
        program.aboutToQuit.connect(pool.waitForDone)
        self.came.connect(self.deleteLater)
        pool.start(_End(self))


def let_go(owner: QObject, pool: QThreadPool) -> None:
    """Delete ``owner`` once its ``pool`` of one thread has done what it is at.

    One whose thread rests stays whose it is.
    """
    program = QCoreApplication.instance()
    if program is not None and pool.activeThreadCount():
        _Ending(owner, pool, program)
