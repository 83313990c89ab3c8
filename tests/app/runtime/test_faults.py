"""Whatever goes wrong in the window process is caught, logged within bounds and told once."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal, qWarning
from PySide6.QtWidgets import QWidget

from gradscribe.app.runtime import faults as module
from gradscribe.app.runtime.faults import Fault, FaultHandler, fault_of, report

ROOT = Path(__file__).resolve().parents[3]
SECRET = "the user's secret"


@pytest.fixture
def faults(qapp, tmp_path, monkeypatch):
    # pytest's own hooks come back when the test is over.
    made = FaultHandler(tmp_path / "logs" / "gradscribe.log")
    made.told = []
    made.caught.connect(made.told.append)
    made.install()
    yield made
    made.close()


def log(tmp_path):
    return (tmp_path / "logs" / "gradscribe.log").read_text()


def fail(*_):
    raise RuntimeError(SECRET)


class Sender(QObject):
    sent = Signal()


def in_a_slot():
    sender = Sender()
    sender.sent.connect(fail)
    sender.sent.emit()


def in_a_timer():
    QTimer.singleShot(0, fail)


def in_a_thread():
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def in_a_worker():
    class Job(QRunnable):
        def run(self):
            fail()

    pool = QThreadPool()
    pool.start(Job())
    pool.waitForDone()


def in_a_destructor():
    class Doomed:
        __del__ = fail

    Doomed()


@pytest.mark.parametrize(
    "break_it", [in_a_slot, in_a_timer, in_a_thread, in_a_worker, in_a_destructor]
)
def test_an_exception_is_caught_wherever_it_happens(faults, tmp_path, qtbot, break_it):
    break_it()
    qtbot.waitUntil(lambda: bool(faults.told))
    (fault,) = faults.told
    assert (fault.type, fault.message) == ("RuntimeError", SECRET)
    assert fault.place.endswith("in fail")
    assert SECRET in log(tmp_path)


def test_a_painting_that_fails_is_told_once(faults, tmp_path, qtbot):
    class Broken(QWidget):
        def paintEvent(self, _):
            fail()

    widget = Broken()
    qtbot.addWidget(widget)
    widget.show()

    def painted_often():
        widget.update()
        return bool(faults.told) and faults.count(faults.told[0]) >= 50

    qtbot.waitUntil(painted_often)
    # Painted once more after the test, it would print its fault between two others.
    widget.hide()
    assert len(faults.told) == 1
    assert log(tmp_path).count("RuntimeError") < 12


def test_an_interrupt_is_no_fault(faults, capsys):
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert faults.told == []
    assert "KeyboardInterrupt" in capsys.readouterr().err


@pytest.mark.qt_log_ignore("strange")
def test_what_qt_complains_of_is_logged_and_not_told(faults, tmp_path):
    for _ in range(100):
        qWarning("strange things")
    assert faults.told == []
    assert 0 < log(tmp_path).count("strange things") < 10


def test_the_log_does_not_grow_without_end(faults, tmp_path, monkeypatch):
    for count in range(600):
        faults.note(Fault("Error", "x" * 10_000, (f"a.py:{count} in b",)))
    sizes = [path.stat().st_size for path in (tmp_path / "logs").iterdir()]
    assert sum(sizes) < (module.LOG_FILES + 1.1) * module.LOG_BYTES


def test_no_log_can_be_written_and_faults_are_told_all_the_same(qapp, tmp_path):
    (tmp_path / "file").write_text("")
    made = FaultHandler(tmp_path / "file" / "gradscribe.log")
    told = []
    made.caught.connect(told.append)
    made.note(Fault("Error", "x"))
    made.close()
    assert len(told) == 1


def test_an_exception_without_words_is_a_fault_too():
    class Mute(Exception):
        def __str__(self):
            raise ValueError

    assert fault_of(Mute()).message == "(no message)"


def test_a_report_has_nothing_private_unless_one_wants_it():
    try:
        fail()
    except RuntimeError as error:
        fault = fault_of(error)
    text = report(fault, "1.2", "2.13.0")
    assert "RuntimeError" in text
    assert "test_faults.py" in text
    assert "Python 3" in text
    assert "torch 2.13.0" in text
    assert SECRET not in text
    assert str(ROOT) not in text
    assert str(Path.home()) not in text
    private = report(fault, "1.2", "", ["x = param(1.0)"])
    assert SECRET in private
    assert "x = param(1.0)" in private


CRASH = (
    "import sys; from pathlib import Path\n"
    "from gradscribe.app.runtime.faults import FaultHandler\n"
    "faults = FaultHandler(Path(sys.argv[1])); faults.install()\n"
    "import os, signal, threading\n"
    "def fall(): os.kill(os.getpid(), signal.SIGSEGV)\n"
    "def rest(): threading.Event().wait()\n"
    "threading.Thread(target=rest, daemon=True).start()\n"
)


def crash(folder, program):
    """Run a program that is to crash; its log is in ``folder``."""
    done = subprocess.run(
        [sys.executable, "-c", CRASH + program, str(folder / "gradscribe.log")],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0


def test_a_crash_of_python_itself_is_in_the_log(tmp_path):
    crash(tmp_path, "fall()")
    told = (tmp_path / "crash.log").read_text()
    assert "Segmentation fault" in told
    assert "in fall" in told
    assert "in rest" not in told


def test_words_of_a_crash_outlive_the_next_start(tmp_path):
    crash(tmp_path, "fall()")
    told = (tmp_path / "crash.log").read_text()
    for _ in range(2):
        faults = FaultHandler(tmp_path / "gradscribe.log")
        faults.close()
        assert (tmp_path / "crash-before.log").read_text() == told
        assert (tmp_path / "crash.log").read_text() == ""


def test_everything_is_put_back(qapp):
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    made = FaultHandler()
    made.install()
    assert sys.excepthook != before[0]
    made.close()
    made.close()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
