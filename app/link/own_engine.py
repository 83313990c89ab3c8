"""The Python that runs programs for which no other is chosen.

It is the one that runs the window, if that has PyTorch. Otherwise it is one that was chosen or
installed at the first start (`torch_install`); a file in the user's data folder names it.
"""

import contextlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import msgspec
from msgspec import Struct

from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.playback.translation import tr

NO_TORCH = tr("PyTorch is not installed: set it up in the window, or with gradscribe install-torch")


class OwnEngine(Struct, frozen=True):
    """The Python of the file."""

    python: Interpreter
    folder: str = ""
    """The folder that was made for it; empty for a Python of the user's."""


def has_torch() -> bool:
    """Return whether this process's Python has PyTorch, without importing it."""
    try:
        return importlib.util.find_spec("torch") is not None
    except (ImportError, ValueError):  # Half removed, or replaced in sys.modules.
        return False


def resolve(interpreter: Interpreter | None) -> Interpreter | None:
    """Return the Python that a program runs in; None for this process's.

    Args:
        interpreter: the Python that was chosen for it; None if none was.

    Raises:
        UnusablePython: none was chosen, and no Python with PyTorch is known.
    """
    if interpreter is not None or has_torch():
        return interpreter
    engine = read()
    if engine is None:
        raise UnusablePython(NO_TORCH)
    if not os.path.isfile(engine.python.path):
        raise UnusablePython(
            tr(
                "The Python with PyTorch is gone, {path}: gradscribe install-torch repairs "
                "or replaces it",
                path=engine.python.path,
            )
        )
    return engine.python


def is_missing() -> bool:
    """Return whether programs cannot run unless a Python is chosen for them."""
    try:
        resolve(None)
    except UnusablePython:
        return True
    return False


def read() -> OwnEngine | None:
    """Return what the file says; None without one, or if it is damaged."""
    try:
        return msgspec.json.decode(_file().read_bytes(), type=OwnEngine)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None


def write(engine: OwnEngine) -> None:
    """Store the Python that programs run in.

    Raises:
        UnusablePython: the file cannot be written.
    """
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(msgspec.json.encode(engine))
            os.replace(name, file)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise UnusablePython(
            tr("{file} cannot be written: {value}", file=file, value=error.strerror or error)
        ) from error


def forget() -> None:
    """Remove the file."""
    with contextlib.suppress(OSError):
        _file().unlink()


def data_folder() -> Path:
    """Return the folder of the user's data of this program."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir()), "gradscribe")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "gradscribe"
    named = os.environ.get("XDG_DATA_HOME", "")
    home = Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"
    return home / "gradscribe"


def _file() -> Path:
    return data_folder() / "engine.json"
