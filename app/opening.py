"""The application and its first window."""

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
"""So long a thread that computes keeps Python to itself. A repaint asks for Python some two hundred
times: with the usual 5 ms it took a second while a long tape is made ready, with 1 ms a tenth."""

TITLE_PX = 32
"""About as high is what a desktop puts on top of a window."""


def make_app(argv: list[str]) -> QApplication:
    """Return the application, made if there is none yet."""
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
    """Open the window on a program (or on where the user left off) and stay until it is closed.

    ``begin`` is what is done with the window first.

    Returns the exit code: 0, or 2 where ``path`` cannot be opened.
    """
    app = make_app(argv or sys.argv)
    where = folder(QStandardPaths.StandardLocation.AppDataLocation)
    faults = Faults(where / "logs" / "gradscribe.log")
    faults.install()
    try:
        return _live(app, where, faults, path, begin)
    finally:
        faults.close()


def set_going(window: Window, link: "Link") -> None:
    """Let the engine start, and what is seen later be made, once the window has been painted."""
    preparing = Preparing(window.rooms.prepare, window)
    for begin in (link.start, preparing.start):
        window.painted.connect(begin)
    sys.setswitchinterval(SWITCH_S)
    # What there is by now stays: a full collection, which holds everything up for as long as it
    # goes through it (60 ms with all that was imported), need not do so again.
    gc.freeze()
    window.rooms.made.connect(gc.freeze)
    Collecting(lambda: window.session.arrivals.busy or window.showing.scenery.busy, window).start()


def fitted(size: QSize, available: QSize) -> QSize:
    """Return a size for a new window of which a screen shows all, its frame too, in pixels."""
    return size.boundedTo(available - QSize(0, TITLE_PX))


def _live(
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
