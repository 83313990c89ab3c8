"""The stop watch beside the soak: a processor that is gone for a while is told of."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.torture.awake import Awake, first, servers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processors are chosen by Linux")
GONE_S = 0.3


def test_every_processor_is_kept_awake_and_none_is_left_so():
    with Awake() as awake:
        running = [beat.pid for beat in awake._beats]
        assert len(running) == len(os.sched_getaffinity(0))
    assert awake.longest_ms > 0
    assert all(beat.returncode == 0 for beat in awake._beats)


def test_a_beat_that_was_kept_waiting_says_for_how_long():
    with Awake() as awake:
        first = awake._beats[0].pid
        os.kill(first, signal.SIGSTOP)
        threading.Event().wait(GONE_S)
        os.kill(first, signal.SIGCONT)
    assert awake.longest_ms >= 1000 * GONE_S * 0.9


@pytest.fixture
def server(tmp_path):
    """A process that looks like the server of display 8700."""
    program = tmp_path / "Xvfb"
    program.symlink_to(sys.executable)
    code = "import sys; print('up', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([program, "-c", code, ":8700"], **pipes) as made:
        assert made.stdout.readline() == b"up\n"
        yield made.pid
        made.stdin.close()


def test_the_server_of_a_display_is_found(server):
    assert servers(":8700") == [server]
    assert servers(":8700.0") == [server]
    assert servers(":870") == []
    assert servers("") == []


def test_who_goes_first_does_so_no_longer_than_asked(server):
    with first([server]) as those:
        expected = os.SCHED_RR if those else os.SCHED_OTHER
        assert os.sched_getscheduler(server) == expected
    assert os.sched_getscheduler(server) == os.SCHED_OTHER


def test_who_is_gone_is_passed_over():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with first([gone.pid]) as those:
        assert those == []
