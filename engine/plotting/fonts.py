"""Matplotlib's list of fonts, prepared before the engine gives up writing.

A confined engine can neither write the list nor look for fonts: another process writes it, once
for each version of Matplotlib, while the engine starts. Until then Matplotlib's own fonts serve.
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
_BUILD = "import matplotlib.font_manager"


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
    if not any(folder.glob("fontlist-*.json")):
        with contextlib.suppress(OSError):
            subprocess.Popen(
                [sys.executable, "-I", "-c", _BUILD],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )


def _cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
