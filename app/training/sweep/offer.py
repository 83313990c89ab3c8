"""Open the window of a sweep on the set-up of the training page."""

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.document.state import Doc
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.setup.user_module import GUARDED, is_guarded
from gradscribe.app.training.sweep.window import SweepWindow
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.widgets.base.open_windows import bring_to_front


def make_window(owner: QWidget, look: Theming) -> SweepWindow:
    """Return the window; a sweep that runs is ended with the program."""
    window = SweepWindow(owner, look)
    app = QApplication.instance()
    if app is not None:
        app.aboutToQuit.connect(window.process.close)
    return window


def show(window: SweepWindow, training: TrainSession, doc: Doc) -> None:
    """Show the window with the set-up of the page."""
    setup, trust = trial_setup(training.setup, doc)
    catalogue = training.store.catalogue
    entries = catalogue.entries if catalogue is not None else ()
    options = ("--trust",) if trust else ()
    window.set_setup(setup, entries, setup.steps, default_path(), options)
    window.show()
    bring_to_front(window)


def trial_setup(setup: Setup, doc: Doc) -> tuple[Setup, bool]:
    """Return a setup with its module in it, as trials run without the program, and its trust."""
    if setup.model.name != "own":
        return setup, False
    trust = not is_guarded(setup) and (bool(setup.model.options.get("source")) or not doc.foreign)
    found = {name: value for name, value in setup.model.options.items() if name != GUARDED}
    if not found.get("source"):
        found["source"] = doc.source if doc.may_run else ""
    return replace(setup, model=Part("own", found)), trust


def default_path() -> Path:
    """Return a new file for results in the program's folder."""
    where = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation)
    return Path(where) / "sweeps" / f"{datetime.now().astimezone():%Y-%m-%d %H.%M.%S}.json"
