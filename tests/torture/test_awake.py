"""The stop watch beside the soak: a processor that is gone for a while is told of."""

import os
import signal
import sys
import threading

import pytest

from tests.torture.awake import Awake

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
