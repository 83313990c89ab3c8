"""The windows that tests start end with them."""

import os
import select
import signal
import subprocess
import sys

import pytest

from tests.torture.windows import ROOT

PARENT = """
import sys
from pathlib import Path
from tests.torture.windows import start
with start("typist", Path(sys.argv[1]), "type") as window:
    window.stdout.readline()
    print(window.pid, flush=True)
    window.wait()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="there is no such descriptor")
def test_a_window_whose_test_is_killed_ends(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        window = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
    try:
        assert ended(window)
    finally:
        os.close(window)


def ended(window):
    """Wait until a process has ended; False, and it is made to, where it goes on for a minute."""
    waiting = select.poll()
    waiting.register(window, select.POLLIN)
    if waiting.poll(60_000):
        return True
    signal.pidfd_send_signal(window, signal.SIGKILL)
    return False
