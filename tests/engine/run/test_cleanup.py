"""State that a program changes is restored, or named; the next program runs as if first."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gradscribe.engine.protocol import messages
from gradscribe.engine.run.cleanup import NamesRestorer, wait_for_threads
from tests.engine.driver import PATIENCE_S, Engine

pytestmark = pytest.mark.e2e

GOOD = (
    "x = param(2.0)\ny = x * x\ny.backward()\nprint(x.grad, nn.Linear(2, 1)(torch.ones(2)).shape)"
)
PRINTED = "tensor(4.) torch.Size([1])\n"
BUSY_THREAD = """
import threading
def f():
    while True: pass
threading.Thread(target=f, daemon=True).start()
"""
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)"
TAMPERING = (
    "import gradscribe.engine.run.run\ngradscribe.engine.run.run._explained = None",
    "from gradscribe.engine.record.recorder import Recorder\nRecorder.__exit__ = lambda *_: None",
)
FORKS = "import os\nfor _ in range(3): os.fork()\nprint('parent')"
TREE = "import subprocess\nsubprocess.Popen(['sh', '-c', 'setsid sleep 987 & sleep 987'])"

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


@pytest.fixture(scope="module")
def shared():
    engine = Engine("--open")
    engine.next()
    yield engine
    engine.close()


@pytest.fixture
def engine():
    engine = Engine("--open")
    engine.next()
    yield engine
    engine.close()


def answer(engine, source):
    return engine.until(messages.Recorded, engine.start(source))[-1]


@pytest.mark.parametrize(
    "source",
    [
        "import builtins\nbuiltins.len = lambda x: 1 / 0",
        "import builtins\ndel builtins.isinstance, builtins.print, builtins.range",
        "import builtins\nvars(builtins).clear()",
        "import builtins\nbuiltins.left_over = 1",
        "import gc\ndef late(*_): raise ValueError\ngc.callbacks.append(late)\ngc.disable()",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.modules['torch'] = sys.modules['torch.nn'] = None",
        "import sys\nsys.modules['numpy'] = 7\nimport turtle_that_is_not_there",
        "import sys\nsys.settrace(lambda *a: 1 / 0)",
        "import sys\nsys.stdout.close()\nsys.stderr = None",
        "import sys\nsys.setrecursionlimit(90)",
        "import sys\nsys.path.clear()",
        "torch.Tensor.backward = torch.ones = nn.Module.__call__ = nn.Linear.forward = None",
        "torch.Tensor.__mul__ = lambda a, b: 1 / 0",
        "np.ndarray = np.dot = np.frombuffer = None",
        "import threading\nthreading.Thread.start = threading.Event.wait = None",
        "import gc\ngc.disable()",
        "import os, tempfile\nd = tempfile.mkdtemp()\nos.chdir(d)\nos.rmdir(d)",
        "import os\nos.environ.clear()",
    ],
)
def test_what_a_program_changed_is_put_back(shared, source):
    answer(shared, source)
    after = answer(shared, GOOD)
    assert (after.tape.stdout, after.spent) == (PRINTED, False)


def test_a_name_put_among_the_builtins_is_gone_for_the_next_program(shared):
    answer(shared, "import builtins\nbuiltins.left_over = 1")
    assert answer(shared, "left_over").tape.error.type == "NameError"


def test_the_folder_and_the_environment_are_as_before(shared):
    before = answer(shared, "import os\nprint(os.getcwd(), len(os.environ))").tape.stdout
    answer(shared, "import os\nos.chdir('/')\nos.environ['LEFT_OVER'] = '1'")
    after = answer(shared, "import os\nprint(os.getcwd(), len(os.environ))").tape.stdout
    assert after == before


@posix
def test_signals_that_are_blocked_or_due_are_taken_back(shared):
    answer(shared, "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})")
    answer(shared, "import signal\nsignal.setitimer(signal.ITIMER_REAL, 5)")
    tape = answer(shared, "import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, ()))").tape
    assert tape.stdout == "set()\n"


@pytest.mark.parametrize(
    "source",
    [BUSY_THREAD, DEAF, *TAMPERING, "import os\nos.close(1)"],
    ids=["thread", "signal", "function", "class", "closed"],
)
def test_what_cannot_be_put_back_spends_the_engine(engine, source):
    assert answer(engine, source).spent


def test_a_thread_that_waits_for_work_does_no_harm(shared):
    source = "import asyncio\nasyncio.run(asyncio.to_thread(print, 3))"
    found = answer(shared, source)
    assert (found.tape.stdout, found.spent) == ("3\n", False)


def test_workers_that_load_data_are_no_leftovers(shared):
    source = "from torch.utils.data import DataLoader\nprint(*DataLoader([1, 2], num_workers=2))"
    found = answer(shared, source)
    assert (found.tape.stdout, found.spent) == ("tensor([1]) tensor([2])\n", False)


def test_a_thread_is_waited_for_as_python_does(shared):
    source = """
import threading
def late():
    threading.Event().wait(0.2)
    print("late")
threading.Thread(target=late).start()
print("early")
"""
    assert answer(shared, source).tape.stdout == "early\nlate\n"


def test_a_thread_is_not_waited_for_without_end():
    done = threading.Event()
    before = set(threading.enumerate())
    thread = threading.Thread(target=done.wait)
    thread.start()
    wait_for_threads(before, 0.05)
    assert thread.is_alive()
    done.set()
    thread.join()


def test_a_thread_is_waited_for_when_an_earlier_thread_ended_meanwhile():
    leave = threading.Event()
    earlier, late = threading.Thread(target=leave.wait), threading.Timer(0.2, bool)
    earlier.start()
    with NamesRestorer():
        leave.set()
        earlier.join()
        late.start()
    assert not late.is_alive()


def test_a_thread_that_prints_for_ever_is_not_heard_after_the_end(engine):
    source = "import threading\ndef f():\n    while True: print('.')\n"
    found = answer(engine, source + "threading.Thread(target=f, daemon=True).start()")
    assert (found.tape.status, found.spent) == ("ok", True)


@linux
@pytest.mark.parametrize("source", [FORKS, TREE])
def test_no_process_outlives_its_program(shared, source):
    found = answer(shared, source)
    assert (found.tape.status, found.spent) == ("ok", False)
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(shared.process.pid)], capture_output=True, check=False
    )
    assert listed.stdout.split() == []
    assert answer(shared, GOOD).tape.stdout == PRINTED


@linux
def test_a_forked_process_keeps_off_the_wire(shared):
    source = "import os\nif os.fork() == 0: print('child')\nelse: print('parent', os.wait()[1])"
    run_id = shared.start(source)
    seen = shared.until(messages.Recorded, run_id)
    assert seen[-1].tape.stdout == "parent 0\n"
    assert [type(m) for m in seen].count(messages.Started) == 1


def test_what_runs_when_objects_die_does_not_meet_the_next_program(shared):
    source = "class Late:\n    def __del__(self): print('died')\na = Late()\na.me = a"
    answer(shared, source)
    assert answer(shared, GOOD).tape.stdout == PRINTED


@pytest.mark.parametrize("held", ["", "a.me = a"], ids=["alone", "in a circle"])
def test_an_object_that_does_not_die_holds_nobody_up(shared, held):
    source = "class Late:\n    def __del__(self):\n        while True: pass\na = Late()\n"
    answer(shared, source + held)
    begun = time.monotonic()
    for _ in range(3):
        assert answer(shared, GOOD).tape.stdout == PRINTED
    assert time.monotonic() - begun < PATIENCE_S / 2


def test_what_a_program_made_is_gone_with_it(shared):
    answer(shared, "import sys, builtins, xml\nclass Big: pass\nbig = Big()")
    found = "import gc\nprint([1 for one in gc.get_objects() if type(one).__name__ == 'Big'])"
    assert answer(shared, found).tape.stdout == "[]\n"


def test_a_module_beside_the_script_is_read_anew(shared, tmp_path):
    beside, script = tmp_path / "beside_it.py", tmp_path / "script.py"
    script.write_text("import beside_it\nprint(beside_it.number)")
    for number in ("7", "1234"):
        beside.write_text(f"number = {number}")
        run_id = shared.start(script.read_text(), filename=str(script))
        assert shared.until(messages.Recorded, run_id)[-1].tape.stdout == f"{number}\n"


def test_no_browser_opens(shared):
    source = "import webbrowser, antigravity\nprint(webbrowser.open('http://localhost:1'))"
    assert answer(shared, source).tape.stdout == "False\n"


@posix
def test_a_program_that_is_deaf_to_signals_is_interrupted_all_the_same(shared):
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    run_id = shared.start(deaf + "while True: pass", timeout=0.2)
    tape = shared.until(messages.Recorded, run_id)[-1].tape
    assert (tape.status, tape.error.type, tape.error.place.line) == ("timeout", "Timeout", 3)


@posix
def test_killing_its_group_kills_what_it_started(engine):
    run_id = engine.start("import subprocess\nsubprocess.run(['sleep', '987'])")
    engine.until(messages.Started, run_id)
    os.killpg(engine.process.pid, signal.SIGKILL)
    assert engine.wait_end() == -signal.SIGKILL
