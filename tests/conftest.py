"""Rules for every test: no screen, a home of its own, the same seed, nothing left behind."""

import contextlib
import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before Qt or torch is imported anywhere. Child processes (the engine) take them over.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Windows of processes that tests start are in English, whatever the system speaks.
os.environ.setdefault("GRADSCRIBE_LANGUAGE", "en")

try:
    from hypothesis import settings
except ModuleNotFoundError:
    pass
else:
    settings.register_profile("default", deadline=None)
    settings.register_profile("torture", deadline=None, max_examples=2_000)
    settings.load_profile("default")

GRACE_S = 2.0
"""Time that closed objects may take to be gone."""

HOMES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has a recipe of its own, unless an expression of -m asks for some.

    The end-to-end tests of a file that is named are run.
    """
    if config.option.markexpr:
        return
    others = (
        ("slow", "conformance") if config.option.file_or_dir else ("slow", "conformance", "e2e")
    )
    late = {item for item in items if any(map(item.get_closest_marker, others))}
    if late:
        config.hook.pytest_deselected(items=list(late))
        items[:] = [item for item in items if item not in late]


def pytest_terminal_summary(terminalreporter) -> None:
    """Print what tests told of themselves: from other processes nothing else arrives here."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, words in getattr(report, "user_properties", ()):
                terminalreporter.write_line(f"{name}: {words}")


def pytest_sessionfinish() -> None:
    """Empty the clipboard while there is a Python: what it holds may be an object of Python's.

    Without a screen it lives until the process ends, and ends that with a crash.
    """
    gui = sys.modules.get("PySide6.QtGui")
    if gui is not None and gui.QGuiApplication.instance() is not None:
        gui.QGuiApplication.clipboard().clear()


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give this process a home of its own, so that nobody's settings are read or written."""
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(place))
        for name in HOMES:
            patch.setenv(name, str(place / name.lower()))
        yield place


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Start torch from one seed on one thread, where a test module has imported it."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)
        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def fresh_settings(request: pytest.FixtureRequest, monkeypatch, tmp_path_factory) -> None:
    """Let each test that uses Qt begin without stored settings (QSettings caches its folder)."""
    if not uses_qt(request):
        return
    from PySide6.QtCore import QSettings, QStandardPaths

    place = tmp_path_factory.mktemp("settings")
    for name in HOMES:
        monkeypatch.setenv(name, str(place / name.lower()))
    QStandardPaths.setTestModeEnabled(sys.platform != "linux")
    for form in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
        QSettings.setPath(form, QSettings.Scope.UserScope, str(place))


@pytest.fixture(autouse=True, scope="module")
def usual_look() -> Iterator[None]:
    """Give the next file the look of a new application: a window sets font, palette and sheet."""
    yield
    widgets, gui = sys.modules.get("PySide6.QtWidgets"), sys.modules.get("PySide6.QtGui")
    app = widgets.QApplication.instance() if widgets is not None and gui is not None else None
    if app is not None and app.styleSheet():
        app.setStyleSheet("")
        app.setFont(gui.QFontDatabase.systemFont(gui.QFontDatabase.SystemFont.GeneralFont))
        app.setPalette(gui.QPalette())


@pytest.fixture(autouse=True)
def no_further_window(request: pytest.FixtureRequest, monkeypatch) -> None:
    """Let *New window* start no process, which would outlive the test that tries all commands."""
    if uses_qt(request):
        monkeypatch.setattr("gradscribe.app.window.new_window.start_window", lambda: 0)


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves threads, processes, timers or windows behind; then remove them.

    pytest-qt has closed the widgets it was given by the time this looks.
    """
    threads, children = set(threading.enumerate()), child_processes()
    # What lives already is set aside, so that looking at the rest costs a millisecond, not a tenth
    # of a second once torch is loaded. What is dead already must go first: set aside it would stay.
    gc.collect()
    gc.freeze()
    yield
    left = wait_for_none(lambda: leftovers(request, threads, children))
    if left:
        sweep(left)
        pytest.fail("left behind: " + ", ".join(sorted(map(describe, left))), pytrace=False)


def uses_qt(request: pytest.FixtureRequest) -> bool:
    """Tell whether the test has a QApplication."""
    return "qapp" in request.fixturenames or "qtbot" in request.fixturenames


def leftovers(request, threads: set[threading.Thread], children: set[int]) -> list[object]:
    """Return what lives now and did not before the test; child processes by their id."""
    left: list[object] = [t for t in threading.enumerate() if t not in threads]
    left += child_processes() - children
    if uses_qt(request):
        left += live_qt_objects()
    return left


def live_qt_objects() -> list[object]:
    """Return timers that tick, threads and processes that run, and top-level widgets.

    The garbage collector is asked, because an object without parent stands in no list of Qt's. It
    knows those made since the test began.
    """
    import shiboken6
    from PySide6.QtCore import QCoreApplication, QEvent, QObject, QProcess, QThread, QTimer
    from PySide6.QtWidgets import QWidget

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()

    def lives(found: object) -> bool:
        # type() and not isinstance(), which would ask proxies for their __class__.
        kind = type(found)
        if not issubclass(kind, QObject) or not shiboken6.isValid(found):
            return False
        if issubclass(kind, QTimer):
            return found.isActive()
        if issubclass(kind, QThread):
            return found.isRunning() and found is not QThread.currentThread()
        if issubclass(kind, QProcess):
            return found.state() is not QProcess.ProcessState.NotRunning
        if not issubclass(kind, QWidget) or not found.isWindow():
            return False
        # The list of a drop-down is a window that goes with it.
        return found.metaObject().className() != "QComboBoxPrivateContainer"

    return [found for found in gc.get_objects() if lives(found)]


def child_processes() -> set[int]:
    """Return the ids of this process's living children (Linux only; elsewhere only ours)."""
    tasks = Path("/proc/self/task")
    found = {child.pid for child in multiprocessing.active_children()}
    for task in tasks.iterdir() if tasks.exists() else ():
        with contextlib.suppress(OSError):
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return {pid for pid in found if pid is not None and not is_zombie(pid)}


def is_zombie(pid: int) -> bool:
    """Tell whether the process has ended and only waits to be asked how."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] == "Z"


def wait_for_none(look) -> list[object]:
    """Return what ``look`` still finds after the grace; the event loop turns while we wait."""
    tick = threading.Event()
    waited = 0.0
    while (left := look()) and waited < GRACE_S:
        if (qt := sys.modules.get("PySide6.QtCore")) and qt.QCoreApplication.instance():
            qt.QCoreApplication.processEvents()
        tick.wait(0.05)
        waited += 0.05
    return left


def sweep(left: list[object]) -> None:
    """Remove what is left of Qt, so that one careless test does not fail the ones after it."""
    for found in left:
        if hasattr(found, "deleteLater"):
            for ending in ("stop", "kill", "quit", "close"):
                if hasattr(found, ending):
                    getattr(found, ending)()
            if not hasattr(found, "isRunning"):
                found.deleteLater()


def describe(found: object) -> str:
    """Return a name for one thing that was left."""
    if isinstance(found, int):
        return f"child process {command_of(found)}"
    if isinstance(found, threading.Thread):
        return f"thread {found.name}"
    name = found.objectName()
    return f"{type(found).__name__} {name!r}" if name else type(found).__name__


def command_of(pid: int) -> str:
    """Return how the process was started, shortened."""
    try:
        words = (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        words = ""
    return f"{pid} {words[:80]}".strip()
