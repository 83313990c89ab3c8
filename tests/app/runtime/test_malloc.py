"""Memory that the window has freed goes back to the system."""

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
import numpy as np
from gradscribe.app.runtime.malloc import limit_arenas as keep_small

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20

def work(kept):
    # What was freed once makes glibc keep all that is smaller in its heaps.
    del [np.ones(30 << 20, np.uint8)][:]
    blocks = []
    for _ in range(100):
        blocks.append(np.ones(1 << 20, np.uint8))
        kept.append(np.ones(1 << 14, np.uint8))

if sys.argv[1] == "kept small":
    assert keep_small()
kept, before = [], resident()
threads = [threading.Thread(target=work, args=(kept,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(resident() - before)
"""


def left(how):
    """Return the MB that two threads leave behind, which made and dropped 200 MB."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="glibc has it"
)
def test_what_threads_drop_goes_back_to_the_system():
    assert left("left alone") > 100
    assert left("kept small") < 40
