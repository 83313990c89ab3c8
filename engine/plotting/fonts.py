"""Matplotlib's list of fonts, prepared before the engine gives up writing.

A confined engine cannot write the list, and would look for fonts at each start: another process
writes it, once for each version of Matplotlib, while the engine starts.
"""

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

FOLDER = "MPLCONFIGDIR"
"""The variable with Matplotlib's folder."""
LONGEST_WAIT_S = 5.0
"""Seconds that the first plot on a machine waits for the list; then it looks for fonts itself."""
_BUILD = """
import glob, os, sys, tempfile
folder = sys.argv[1]
with tempfile.TemporaryDirectory(dir=folder) as partial:
    os.environ["MPLCONFIGDIR"] = partial
    import matplotlib.font_manager
    for path in glob.glob(os.path.join(partial, "fontlist-*.json")):
        os.replace(path, os.path.join(folder, os.path.basename(path)))
"""
_writers: list[subprocess.Popen[bytes]] = []
"""The process that writes the list, if this engine has started it."""


def prepare() -> None:
    """Set Matplotlib's folder to one that needs no writing, and start filling it if it is empty."""
    if importlib.util.find_spec("matplotlib") is None:
        return
    folder = _cache() / "gradscribe" / f"matplotlib-{metadata.version('matplotlib')}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        os.environ[FOLDER] = tempfile.gettempdir()
        return
    os.environ[FOLDER] = str(folder)
    if not _has_list(folder):
        with contextlib.suppress(OSError):
            writer = subprocess.Popen(
                [sys.executable, "-I", "-c", _BUILD, str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            _writers.append(writer)


def wait() -> None:
    """Wait until the list is there, if it is being written, for at most `LONGEST_WAIT_S`."""
    while _writers:
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            _writers.pop().wait(LONGEST_WAIT_S)


def _has_list(folder: Path) -> bool:
    return any(folder.glob("fontlist-*.json"))


def _cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
