"""The fixture that finds what a test left behind: it sees each kind, and nothing in a tidy test."""

import os
import subprocess
import sys
from pathlib import Path

CAREFUL = """
def test_timer_widget_thread_and_process_that_are_ended(qtbot):
    import subprocess, sys, threading
    from PySide6.QtCore import QProcess, QThread, QTimer
    from PySide6.QtWidgets import QWidget

    widget = QWidget()
    qtbot.addWidget(widget)
    timer = QTimer(widget)
    timer.start(10)
    thread = QThread()
    thread.start()
    thread.quit()
    assert thread.wait(5000)
    worker = threading.Thread(target=print)
    worker.start()
    worker.join()
    subprocess.run([sys.executable, "-c", ""], check=True)
    process = QProcess()
    process.start(sys.executable, ["-c", ""])
    assert process.waitForFinished(20_000)
"""

CARELESS = {
    "QTimer": """
from PySide6.QtCore import QTimer
kept = []
def test_it(qtbot):
    timer = QTimer()
    timer.start(10_000)
    kept.append(timer)
""",
    "QWidget 'forgotten'": """
from PySide6.QtWidgets import QWidget
kept = []
def test_it(qtbot):
    widget = QWidget()
    widget.setObjectName("forgotten")
    kept.append(widget)
""",
    "QThread": """
from PySide6.QtCore import QThread
kept = []
def test_it(qtbot):
    thread = QThread()
    thread.start()
    kept.append(thread)
def test_end(qtbot):
    kept[0].wait()
""",
    "QProcess": """
import sys
from PySide6.QtCore import QProcess
kept = []
def test_it(qtbot):
    process = QProcess()
    process.start(sys.executable, ["-c", "input()"])
    assert process.waitForStarted()
    kept.append(process)
def test_end(qtbot):
    kept[0].waitForFinished()
""",
    "child process": """
import subprocess, sys, pytest
kept = []
def test_it():
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
def test_end():
    kept[0].communicate()
""",
    "thread stubborn": """
import threading
gate = threading.Event()
def test_it():
    threading.Thread(target=gate.wait, name="stubborn", daemon=True).start()
def test_end():
    gate.set()
""",
}


SETTINGS = """
import pytest
from PySide6.QtCore import QSettings
@pytest.mark.parametrize("n", [1, 2])
def test_it(qtbot, n):
    settings = QSettings("gradscribe-test", "case")
    assert settings.value("theme") is None
    settings.setValue("theme", "dark")
    settings.sync()
"""

SLOW = """
import pytest
def test_quick(): pass
@pytest.mark.slow
def test_long(): pass
"""

RING = """
import gc, weakref
class Ring: pass
found = []
def test_it():
    gc.disable()
    ring = Ring()
    ring.itself = ring
    found.append(weakref.ref(ring))
def test_end():
    gc.enable()
    gc.collect()
    assert found[0]() is None
"""


def report(folder: Path, *sources: str) -> str:
    """Run each source as a test module under a copy of our conftest; return pytest's report."""
    conftest = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
    quick = conftest.replace("GRACE_S = 2.0", "GRACE_S = 0.2")
    assert quick != conftest
    (folder / "conftest.py").write_text(quick, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long\n", encoding="utf-8")
    for number, source in enumerate(sources):
        (folder / f"test_{number}.py").write_text(source, encoding="utf-8")
    words = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "."],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return done.stdout + done.stderr


def test_tidy_tests_pass_and_settings_do_not_leak_from_one_to_the_next(tmp_path):
    assert "3 passed" in (told := report(tmp_path, CAREFUL, SETTINGS)), told


def test_what_is_left_behind_fails_the_test_that_left_it(tmp_path):
    told = report(tmp_path, *CARELESS.values())
    for number, name in enumerate(CARELESS):
        (line,) = [row for row in told.splitlines() if row.startswith(f"ERROR test_{number}.py")]
        assert "test_it" in line, told
        assert f"left behind: {name}" in told, told
    assert f" {len(CARELESS)} errors" in told, told


def test_slow_tests_run_only_when_asked_for(tmp_path):
    assert "1 passed, 1 deselected" in (told := report(tmp_path, SLOW)), told


def test_what_a_test_has_done_with_does_not_stay_in_memory(tmp_path):
    assert "2 passed" in (told := report(tmp_path, RING)), told
