"""Imports of the modules in a script's own folder, as with ``python script.py``."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.structs import replace

SENT_FILES = "GRADSCRIBE_SENT_FILES"
"""Environment variable with the folder of the files that were sent with a script."""


def next_to_sent_files(request: messages.Run) -> messages.Run:
    """Return a request whose script is next to the files that were sent to this machine with it.

    A script that was sent without any, and one from elsewhere, are returned as they are.
    """
    folder = os.environ.get(SENT_FILES, "")
    if not folder or request.policy:
        return request
    name = re.split(r"[\\/]", request.filename)[-1]
    return replace(request, filename=os.path.join(folder, name))


def script_folder(request: messages.Run) -> str:
    """Return the folder that a script may import from; empty if there is none.

    The folder of an untrusted program is not offered: its files come from the same source.
    """
    if request.policy or not os.path.isfile(request.filename):
        return ""
    return str(Path(request.filename).absolute().parent)


@contextlib.contextmanager
def script_imports(folder: str) -> Iterator[None]:
    """Let a script import modules from its folder; they are unloaded when the context ends."""
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
            if _belongs_to(str(getattr(sys.modules[name], "__file__", "")), folder):
                del sys.modules[name]


def _belongs_to(file: str, folder: str) -> bool:
    """Return whether a module's file belongs to the script, not to an installed package.

    Installed packages must stay loaded: some cannot be imported twice.
    """
    inside = file.startswith(folder + os.sep)
    return inside and not {"site-packages", "dist-packages"} & set(Path(file).parts)
