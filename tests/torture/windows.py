"""Real windows in processes of their own, to be killed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CROWDED = 5.0
"""The short forms run beside other tests, on a machine that may do nothing for seconds."""


def crowd():
    """Return how many programs want each core: what takes one second alone takes so many."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def start(program, home, what):
    """Start a window that does ``what`` by itself, at home in the folder ``home``."""
    names = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    environment = os.environ | dict.fromkeys(names, str(home))
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.app.{program}", what],
        cwd=ROOT,
        env=environment | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
