"""Import of pyqtgraph in a thread: in the GUI thread it would stop the window for a moment."""

import threading
from importlib import import_module


def start() -> threading.Thread:
    """Return the running thread that imports pyqtgraph."""
    thread = threading.Thread(
        target=import_module, args=("pyqtgraph",), name="pyqtgraph import", daemon=True
    )
    thread.start()
    return thread
