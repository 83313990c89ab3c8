"""Start-up: the application and its first window."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QStandardPaths, Qt
from PySide6.QtWidgets import QApplication

from app.collecting import Collecting
from app.documents import Drafts, Refused
from app.ending import Ending
from app.fault_card import confess
from app.faults import Faults
from app.heap import keep_small
from app.preparing import Preparing
from app.settings import Settings, folder
from app.shell import Notice
from app.window import Window

if TYPE_CHECKING:
    from app.link import Link

SWITCH_S = 0.0002
"""Interpreter switch interval. A repaint acquires the GIL some 200 times: while a long tape is
preprocessed it took a second with the default 5 ms, and a tenth of that with 1 ms."""

TITLE_PX = 32
"""Approximate height of a window's title bar."""


def make_app(argv: list[str]) -> QApplication:
    """Return the application, created if there is none yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        keep_small()
        app = QApplication(argv[:1] or ["gradscribe"])
    app.setApplicationName("gradscribe")
    app.setApplicationDisplayName("Gradscribe")
    app.setStyle("Fusion")
    return app


def open_window(
    path: str = "",
    argv: list[str] | None = None,
    begin: Callable[[Window], None] | None = None,
) -> int:
    """Open the window on a program (or on the unsaved work) and run the event loop.

    ``begin`` is called with the window first.

    Returns the exit code: 0, or 2 if ``path`` cannot be opened.
    """
    app = make_app(argv or sys.argv)
    where = folder(QStandardPaths.StandardLocation.AppDataLocation)
    faults = Faults(where / "logs" / "gradscribe.log")
    faults.install()
    try:
        return _run_window(app, where, faults, path, begin)
    finally:
        faults.close()


def set_going(window: Window, link: "Link") -> None:
    """Start the engine and the preloader once the window has been painted."""
    preparing = Preparing(window.rooms.prepare, window)
    for begin in (link.start, preparing.start):
        window.painted.connect(begin)
    sys.setswitchinterval(SWITCH_S)
    # All objects so far live for ever: exempt them from full collections, which would block for
    # 60 ms to traverse everything that was imported.
    gc.freeze()
    window.rooms.made.connect(gc.freeze)
    Collecting(lambda: window.session.arrivals.busy or window.showing.scenery.busy, window).start()


def fitted(size: QSize, available: QSize) -> QSize:
    """Return a window size that fits on a screen including the title bar, in pixels."""
    return size.boundedTo(available - QSize(0, TITLE_PX))


def _run_window(
    app: QApplication,
    where: Path,
    faults: Faults,
    path: str,
    begin: Callable[[Window], None] | None,
) -> int:
    from app.link import Link

    link = Link(spare=True)
    window = Window(link, Settings.of_user(), Drafts(where / "drafts"))
    try:
        window.open_first(path)
    except Refused as refusal:
        sys.stderr.write(f"gradscribe: {refusal}\n")
        window.close()
        window.deleteLater()
        return 2
    confess(window, faults)
    if window.settings.trouble:
        window.notices.tell(Notice("settings", window.settings.trouble))
    set_going(window, link)
    if window.settings.shape("window").isEmpty():
        window.resize(fitted(window.size(), window.screen().availableSize()))
    if begin is not None:
        begin(window)
    elif window.settings.shape("window").isEmpty() and not path:
        window.welcome()
    window.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose)
    ending = Ending(window.close, window)
    window.show()
    try:
        return app.exec()
    finally:
        ending.stop()
