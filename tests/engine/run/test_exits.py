"""Callbacks registered with atexit run at the program's own end, as with ``python script.py``."""

import atexit
import subprocess
import sys

import pytest

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run import run

PROGRAMS = {
    "last in, first out": """
import atexit
atexit.register(print, "one", end="!")
atexit.register(print, "two")
print("now")
""",
    "a decorator": """
import atexit
@atexit.register
def bye():
    print("bye")
print("now")
""",
    "one is taken back": """
import atexit
def bye(word): print(word)
atexit.register(print, "kept")
atexit.register(bye, "no")
atexit.unregister(bye)
""",
    "one registers another": """
import atexit
def later(): print("later")
atexit.register(lambda: atexit.register(later))
""",
    "the first one fails": """
import atexit
atexit.register(print, "still called")
atexit.register(lambda: 1 / 0)
""",
    "after an error": """
import atexit
atexit.register(print, "tidied up")
raise ValueError("no")
""",
    "after an exit": """
import atexit, sys
atexit.register(print, "tidied up")
sys.exit()
""",
}


def plain(source):
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_it_prints_what_plain_python_prints(source):
    before = atexit.register, atexit.unregister
    assert run.record(source).stdout == plain(source)
    assert (atexit.register, atexit.unregister) == before


def test_a_callback_that_fails_is_told_of():
    tape = run.record(PROGRAMS["the first one fails"])
    assert tape.status == "ok"
    assert "ZeroDivisionError: division by zero" in tape.stderr


def test_the_time_limit_holds_for_it_too():
    source = "import atexit\ndef f():\n    while True: pass\natexit.register(f)\n"
    assert run.execute(Run(1, source, timeout=0.3)).status == "timeout"


def test_it_is_not_called_for_a_program_that_was_stopped():
    source = "import atexit\natexit.register(print, 'no')\nwhile True: pass\n"
    tape = run.execute(Run(1, source, timeout=0.3))
    assert (tape.status, tape.stdout) == ("timeout", "")


def test_ops_in_it_are_on_the_tape():
    tape = run.record(
        "import atexit\nx = param(2.0)\natexit.register(lambda: (x * x).backward())\n"
    )
    assert [op.op for op in tape.ops] == ["mul"]
    assert tape.nodes


def test_what_libraries_register_is_left_to_the_process():
    source = (
        "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'gone')\nprint('x')"
    )
    assert run.record(source).stdout == "x\n"
