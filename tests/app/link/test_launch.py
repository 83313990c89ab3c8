"""Causes of an engine's death, read from what it left behind."""

import os
import signal
import subprocess
import sys

import pytest

from gradscribe.app.link import launch
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem, Tape

FATAL = """warning: something
Fatal Python error: Segmentation fault

Thread 0x00007f (most recent call first):
  File "threading.py", line 331 in wait

Current thread 0x00007f (most recent call first):
  File "ctypes/__init__.py", line 519 in string_at
  File "<mine>", line 2 in f
  File "<mine>", line 4 in <module>

Extension modules: numpy (total: 1)
"""
SOURCE = "def f():\n    crash()\n\nf()\n"


@pytest.mark.parametrize(
    ("code", "crashed", "errors", "told"),
    [
        (9, True, "", "killed, signal 9"),
        (15, True, "", "signal 15, SIGTERM"),
        (11, True, FATAL, "segmentation fault"),
        (99, True, "", "signal 99"),
        (3, False, "", "exit code 3"),
        (1, False, "Traceback\nImportError: no torch\n\n", "exit code 1: ImportError: no torch"),
        (0, False, "a warning", "exit code 0"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_the_cause_is_told_in_a_few_words(code, crashed, errors, told):
    assert launch.exit_reason(code, crashed, errors) == told


def test_a_crash_is_placed_at_the_innermost_line_of_the_program():
    place = launch.crash_place(SOURCE, "<mine>", FATAL)
    assert (place.line, place.column, place.end_column) == (2, 4, 11)


def test_a_crash_elsewhere_or_beyond_the_text_has_no_place():
    assert launch.crash_place(SOURCE, "<other>", FATAL).line == 0
    assert launch.crash_place("one line", "<mine>", FATAL).line == 0


def test_the_tape_of_a_crash_keeps_what_was_printed():
    tape = launch.crash_tape(SOURCE, "<mine>", "segmentation fault", FATAL, "hello\n")
    assert (tape.status, tape.stdout) == ("died", "hello\n")
    assert tape.error.message == "Python crashed (segmentation fault)"
    assert tape.error.place.line == 2


@pytest.mark.parametrize(
    ("why", "ends", "told"),
    [
        ("exit code 3", True, "The program ended Python itself (exit code 3)"),
        ("killed, signal 9", True, "The program ended Python itself (killed, signal 9)"),
        ("killed, signal 9", False, "Python was killed, signal 9"),
        ("signal 15, SIGTERM", False, "Python was ended by signal 15, SIGTERM"),
        ("signal 15, SIGTERM", True, "The program ended Python itself (signal 15, SIGTERM)"),
        ("signal 11, SIGSEGV", False, "Python crashed (signal 11, SIGSEGV)"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_an_end_is_placed_where_the_program_said_it_was(why, ends, told):
    tape = launch.crash_tape(SOURCE, "<mine>", why, "", at=CurrentLine(1, 2, ends))
    assert (tape.error.message, tape.error.place.line) == (told, 2)
    assert ("last seen on this line" in tape.error.hint) is not ends


def test_what_a_crash_left_word_of_counts_more_than_what_was_told_before():
    tape = launch.crash_tape(SOURCE, "<mine>", "segmentation fault", FATAL, at=CurrentLine(1, 1))
    assert tape.error.place.line == 2
    assert "last seen" not in tape.error.hint


def test_who_never_said_where_it_was_has_no_place():
    tape = launch.crash_tape(SOURCE, "<mine>", "killed, signal 9", "")
    assert tape.error.place.line == 0
    assert "last seen" not in tape.error.hint


def test_late_and_stopped_are_two_things():
    late = launch.timeout_tape(SOURCE, "<mine>", 5.0, FATAL)
    stopped = launch.timeout_tape(SOURCE, "<mine>", 5.0, "", stopped=True)
    assert (late.status, late.error.message) == ("timeout", "Still running after 5 s: crash()")
    assert (stopped.status, stopped.error.message) == ("error", "The program was stopped")


def test_the_engine_is_found_from_any_folder(tmp_path):
    (tmp_path / "engine.py").write_text("raise SystemExit('the wrong engine')")
    done = subprocess.run(
        [
            launch.python_executable(),
            "-P",
            "-c",
            "from gradscribe.engine.protocol import frames; print(frames.CHUNK)",
        ],
        cwd=tmp_path,
        env=launch.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == 1 << 20


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_only_a_living_process_can_be_aborted():
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    assert launch.abort(process.pid)
    assert process.wait(30) == -signal.SIGABRT
    assert not launch.abort(0)


@pytest.mark.parametrize(
    "name",
    "AWS_SECRET_ACCESS_KEY GITHUB_TOKEN PGPASSWORD HF_TOKEN MY_OWN_KEY NVIDIA_API_KEY "
    "CONDA_TOKEN PYTHON_KEYRING_PASSWORD".split(),
)
def test_an_engine_is_told_no_password_unless_its_programs_may_use_files(monkeypatch, name):
    monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert "secret" not in launch.environment().values()
    assert launch.environment()["OMP_NUM_THREADS"] == "3"
    assert launch.environment(is_open=True)[name] == "secret"


@pytest.mark.parametrize("version", ["3.10.13", "3.11.7"])
def test_a_module_is_run_without_the_files_of_the_folder(tmp_path, version):
    (tmp_path / "wave.py").write_text("raise SystemExit('the wrong module')")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "shown.py").write_text(
        "import sys, wave\nprint(__name__, sys.argv[1:], wave.__name__)"
    )
    python = Interpreter(sys.executable, version, "2.6.0")
    words = launch.arguments_for(python, ["-P", "-u", "-m", "shown", "--alone", "it's"])
    done = subprocess.run(
        [python.path, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "__main__ ['--alone', \"it's\"] wave"
    assert ("-P" in words) == (version != "3.10.13")


@pytest.mark.parametrize("kind", ["FileNotFoundError", "ModuleNotFoundError"])
def test_a_file_that_another_machine_lacks_is_said_to_be_missing_there(kind):
    tape = Tape(status="error", error=Problem(kind, "no data.csv", "Is it there?"))
    far = Interpreter("python3", "3.12.1", "2.6.0", host="ssh://user@lab:22")
    assert "It ran on user@lab:22" in launch.with_far_hint(tape, far).error.hint
    assert launch.with_far_hint(tape, None) == tape
    assert launch.with_far_hint(tape, replace(far, host="")) == tape
    other = replace(tape, error=Problem("ValueError", "no"))
    assert launch.with_far_hint(other, far) == other
