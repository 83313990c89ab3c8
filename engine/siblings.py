"""The modules that stand beside a script, which it may import as ``python script.py`` lets it."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from engine import wire


def folder_of(request: wire.Run) -> str:
    """Return the folder that a script may import from; empty where there is none.

    What stands beside a program from elsewhere came from there too.
    """
    if request.policy or not os.path.isfile(request.filename):
        return ""
    return str(Path(request.filename).absolute().parent)


@contextlib.contextmanager
def siblings(folder: str) -> Iterator[None]:
    """Let a script import the modules beside it, as ``python script.py`` does: anew each time."""
    if not folder:
        yield
        return
    before = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
        for name in sys.modules.keys() - before:
            if _is_beside(str(getattr(sys.modules[name], "__file__", "")), folder):
                del sys.modules[name]


def _is_beside(file: str, folder: str) -> bool:
    """Whether a module's file is the script's own; installed ones can be loaded only once."""
    inside = file.startswith(folder + os.sep)
    return inside and not {"site-packages", "dist-packages"} & set(Path(file).parts)
