"""Classes of Qt are made in the GUI thread, from the start until every page is there."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

CODE = """
import builtins, sys, threading, traceback
from PySide6.QtCore import QTimer
from shiboken6 import Shiboken

made_elsewhere, build = [], builtins.__build_class__

def is_elsewhere():
    return threading.current_thread() is not threading.main_thread()

def noted(*words, **options):
    made = build(*words, **options)
    if is_elsewhere() and isinstance(made, type) and issubclass(made, Shiboken.Object):
        made_elsewhere.append((made, traceback.format_stack()))
    return made

class Finder:
    def find_spec(self, name, path=None, target=None):
        if is_elsewhere() and name.partition(".")[0] in ("PySide6", "pyqtgraph"):
            made_elsewhere.append((name, traceback.format_stack()))

builtins.__build_class__ = noted
sys.meta_path.insert(0, Finder())
from gradscribe.app.window.startup import open_window

def begin(window):
    window.workspaces.made.connect(lambda: QTimer.singleShot(0, window.close))

code = open_window(begin=begin)
assert "pyqtgraph" in sys.modules
print(code, made_elsewhere)
"""


def test_no_thread_makes_a_class_of_qt_while_the_window_starts():
    done = subprocess.run(
        [sys.executable, "-c", CODE], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "0 []\n", done.stderr
