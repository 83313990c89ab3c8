"""Start-up: the application and its first window."""

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from gradscribe.app.files.documents import Drafts, Refused
from gradscribe.app.files.open_requests import OpenRequest
from gradscribe.app.files.settings import Settings, app_folder
from gradscribe.app.link import own_engine
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.runtime import language, qt_libraries
from gradscribe.app.runtime.faults import FaultHandler
from gradscribe.app.runtime.gc_scheduler import GcScheduler
from gradscribe.app.runtime.malloc import limit_arenas
from gradscribe.app.runtime.notice import Notice
from gradscribe.app.ui.fault_card import show_crash
from gradscribe.app.window.first_view import show_first_view
from gradscribe.app.window.new_window import shifted
from gradscribe.app.window.preload import Preloader
from gradscribe.app.window.request_server import RequestServer
from gradscribe.app.window.shutdown import ShutdownSignals
from gradscribe.app.window.window import Window
from gradscribe.widgets.base.open_windows import resize_within_screen

if TYPE_CHECKING:
    from gradscribe.app.link.client import Link
    from gradscribe.app.window.torch_setup import TorchSetup

SWITCH_INTERVAL_S = 0.0002
"""Interpreter switch interval. A repaint acquires the GIL some 200 times: while a long tape is
preprocessed it took a second with the default 5 ms, and a tenth of that with 1 ms."""


def make_app(argv: list[str]) -> QApplication:
    """Return the application, created if there is none yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        limit_arenas()
        with qt_libraries.explained_abort():
            app = QApplication(argv[:1] or ["gradscribe"])
    app.setApplicationName("gradscribe")
    app.setApplicationDisplayName("Gradscribe")
    app.setDesktopFileName("gradscribe")
    app.setWindowIcon(QIcon(str(resources.files("gradscribe.assets") / "desktop/gradscribe.svg")))
    app.setStyle("Fusion")
    language.translate_qt(app)
    return app


@dataclass(frozen=True)
class Opening:
    """Content that a window opens on."""

    path: str = ""
    """File; empty for the unsaved work, else the first example."""
    is_new: bool = False
    """True for an empty program, a little off the place of the window used last."""
    request: OpenRequest | None = None
    """File to open at a line or a position, instead of ``path``."""
    python: Interpreter | None = None
    """Python to run it in; None for the one that it was run in last."""

    def open(self, window: Window) -> None:
        """Open it in a window. Raises `Refused`."""
        if self.python is not None:
            window.python.prefer(self.python)
        if self.request is not None:
            window.open_file(self.request)
        elif self.is_new:
            window.open_empty()
        else:
            window.open_first(self.path)

    @property
    def is_default(self) -> bool:
        """True if the user chose nothing to open."""
        return not self.path and self.request is None and not self.is_new


DEFAULT = Opening()


def open_window(
    opening: Opening = DEFAULT,
    argv: list[str] | None = None,
    begin: Callable[[Window], None] | None = None,
) -> int:
    """Open the window and run the event loop; call ``begin`` with the window first.

    Returns the exit code: 0, or 2 if the file cannot be opened.
    """
    app = make_app(argv or sys.argv)
    where = app_folder(QStandardPaths.StandardLocation.AppDataLocation)
    faults = FaultHandler(where / "logs" / "gradscribe.log")
    faults.install()
    try:
        return _run_window(app, where, faults, opening, begin)
    finally:
        faults.close()


def start_services(window: Window, link: "Link") -> None:
    """Start the engine and the preloader once the window has been painted."""

    def prepare() -> None:
        window.inspector.add_plugin_panes(window.look.theme())
        window.workspaces.prepare()

    preparing = Preloader(prepare, window)
    for begin in (link.start, preparing.start, window.look.wishes.listen):
        window.painted.connect(begin)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # All objects so far live for ever: exempt them from full collections, which would block for
    # 60 ms to traverse everything that was imported.
    gc.freeze()
    window.workspaces.made.connect(gc.freeze)
    GcScheduler(
        lambda: window.session.arrivals.busy or window.presenter.scene_builder.busy, window
    ).start()


def set_up_torch(window: Window) -> "TorchSetup | None":
    """Offer PyTorch once the window is painted; None if this process's Python has it."""
    if own_engine.has_torch():
        return None
    from gradscribe.app.ui.torch_dialog import TorchDialog
    from gradscribe.app.window.torch_setup import TorchSetup

    setup = TorchSetup(
        window.session,
        window.python,
        window.notices,
        lambda pythons: TorchDialog(window, pythons).ask(),
        window,
    )
    window.painted.connect(setup.offer)
    return setup


def _run_window(
    app: QApplication,
    where: Path,
    faults: FaultHandler,
    opening: Opening,
    begin: Callable[[Window], None] | None,
) -> int:
    windows: list[Window] = []

    def close() -> None:
        for window in windows:
            window.leaving.close_quietly()

    # Before the first engine starts: a signal then closes the window as soon as there is one.
    ending = ShutdownSignals(close, app)
    try:
        return _show_window(app, where, faults, opening, begin, windows)
    finally:
        ending.stop()


def _show_window(
    app: QApplication,
    where: Path,
    faults: FaultHandler,
    opening: Opening,
    begin: Callable[[Window], None] | None,
    windows: list[Window],
) -> int:
    """Make the window, add it to ``windows``, and run until it is closed; return the exit code."""
    from gradscribe.app.link.client import Link

    link = Link(spare=True)
    window = Window(link, Settings.of_user(), Drafts(where / "drafts"))
    windows.append(window)
    try:
        opening.open(window)
    except Refused as refusal:
        sys.stderr.write(f"gradscribe: {refusal}\n")
        window.close()
        window.deleteLater()
        return 2
    if opening.is_new and not window.isMaximized() and not window.isFullScreen():
        available = window.screen().availableGeometry()
        window.move(shifted(window.pos(), window.size(), available))
    show_crash(window.session, window.panels.area or window.columns, window.ground, faults)
    if window.settings.trouble:
        window.notices.post(Notice("settings", window.settings.trouble))
    if language.trouble():
        window.notices.post(Notice("language", language.trouble()))
    torch_setup = set_up_torch(window)
    start_services(window, link)
    is_first = window.settings.shape("window").isEmpty()
    if is_first:
        resize_within_screen(window, window.width(), window.height())
    if begin is not None:
        begin(window)
    elif opening.is_default:
        show_first_view(window)
    window.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose)
    server = RequestServer(window, window.open_request)
    window.painted.connect(server.listen)
    window.show()
    try:
        return app.exec()
    finally:
        server.close()
        if torch_setup is not None:
            torch_setup.close()
