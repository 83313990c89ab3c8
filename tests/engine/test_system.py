"""Requests of the engine to the operating system, seen from a process of their own."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.engine import system

ROOT = Path(__file__).resolve().parents[3]
AUTOGROUP = Path("/proc/self/autogroup")
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


def python(source, **options):
    """Run a program that may change its own process, and return how it ended."""
    return subprocess.run(
        [sys.executable, "-c", source],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )


def test_the_wire_is_private_and_the_program_gets_other_streams():
    source = """
import os, sys
from gradscribe.engine.system import claim_pipes as take_pipes
incoming, outgoing = take_pipes()
print("printed", flush=True)
os.write(outgoing, os.read(incoming, 9) + os.read(0, 9))
"""
    done = python(source, input=b"wire")
    assert done.stdout == b"wire"
    assert done.stderr == b"printed\n"


@pytest.mark.skipif(sys.platform == "win32", reason="closed descriptors are POSIX")
def test_a_missing_standard_error_is_no_obstacle():
    source = """
import os
from gradscribe.engine.system import claim_pipes as take_pipes
os.close(2)
take_pipes()
os.write(1, b"nowhere")
"""
    done = python(source, input=b"")
    assert (done.returncode, done.stdout) == (0, b"")


@linux
def test_a_request_for_too_much_memory_is_a_memory_error():
    source = """
from gradscribe.engine.system import cap_memory
cap_memory(0.01)
try:
    x = bytearray(os_memory := __import__("os").sysconf("SC_PHYS_PAGES") * 4096 // 10)
except MemoryError:
    print("refused")
"""
    assert python(source).stdout == b"refused\n"


@linux
def test_a_lower_limit_of_before_is_kept():
    source = """
import resource
from gradscribe.engine.system import cap_memory
_, hard = resource.getrlimit(resource.RLIMIT_DATA)
resource.setrlimit(resource.RLIMIT_DATA, (10**9, hard))
cap_memory()
print(resource.getrlimit(resource.RLIMIT_DATA)[0])
"""
    assert python(source).stdout == b"1000000000\n"


@linux
def test_it_dies_with_the_process_that_started_it():
    child = """
import os, sys
sys.path.insert(0, os.getcwd())
from gradscribe.engine.system import die_with_parent
die_with_parent()
print(os.getpid(), flush=True)
import signal
signal.pause()
"""
    parent = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {child!r}], stdout=subprocess.PIPE)
print(child.stdout.readline().decode(), end="", flush=True)
import os
os._exit(0)
"""
    pid = int(python(parent).stdout)
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with os.fdopen(handle):
        ended, _, _ = select.select([handle], [], [], 30)
    assert ended


def test_a_long_chain_of_nodes_is_taken_apart_without_breaking_the_stack():
    program = """
from gradscribe.engine.system import raise_stack_limit as deepen_stack
deepen_stack()
import torch
y = torch.tensor(1.0, requires_grad=True)
for _ in range(100_000):
    y = y * 1.0001
    y.grad_fn
del y
print("apart")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "apart\n", done.stderr


@linux
def test_a_copy_works_beside_us_until_its_pipe_is_closed():
    source = """
import os, sys
from gradscribe.engine.system import fork_worker as fork
secret, kept = os.pipe()
def work(orders, results):
    try:
        os.fstat(secret)
    except OSError:
        while data := os.read(orders, 9):
            os.write(results, data.upper())
        os.write(results, str(os.getpriority(os.PRIO_PROCESS, 0)).encode())
before = os.getpriority(os.PRIO_PROCESS, 0)
orders, results, _ = fork(work, (secret,))
os.write(orders, b"hello")
print(os.read(results, 9).decode())
os.close(orders)
told = int(os.read(results, 9))
print(told > before or told == 19, os.read(results, 9), os.waitpid(-1, 0)[1])
"""
    done = python(source)
    assert done.stdout.decode().split() == ["HELLO", "True", "b''", "0"], done.stderr


@linux
def test_a_copy_that_fails_ends_quietly():
    source = """
import os
from gradscribe.engine.system import fork_worker as fork
def work(orders, results):
    raise SystemExit(7)
orders, results, _ = fork(work, ())
print(os.read(results, 9), os.waitpid(-1, 0)[1])
"""
    done = python(source)
    assert done.stdout.decode().split() == ["b''", "0"], done.stderr


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel shares by process alone")
def test_a_session_of_its_own_takes_a_smaller_share_and_then_a_larger_one():
    source = """
from pathlib import Path
from gradscribe.engine.system import start_session, yield_to_window
start_session()
for niceness in (15, 5):
    yield_to_window(niceness)
    print(Path("/proc/self/autogroup").read_text().split()[-1])
"""
    assert python(source).stdout.split() == [b"15", b"5"]


def test_one_whose_window_ended_before_it_was_there_ends_at_once():
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading) as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "gradscribe.engine", "--spare"],
            cwd=ROOT,
            stdin=nobody,
            capture_output=True,
            timeout=60,
            check=False,
        )
    # It says that it is ready only once torch is there, half a minute later on a busy machine.
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_pipe_is_left_when_its_other_end_is_closed_and_it_is_empty():
    reading, writing = os.pipe()
    try:
        assert not system.is_abandoned(reading)
        os.write(writing, b"asked")
        os.close(writing)
        assert not system.is_abandoned(reading)
        os.read(reading, 5)
        assert system.is_abandoned(reading)
    finally:
        os.close(reading)
