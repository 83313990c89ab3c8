"""The settings file on the disk: what is spoilt is put aside before Qt reads it, and told."""

import re
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QSettings

from app import atomic

LIMIT = 1 << 20
"""A file of more bytes was not written by us: ours has some ten thousand."""
SHAPES = "shape"
"""The group of window and splitter shapes."""
NEVER_OURS = re.compile(rb'(?:=|, )"?@(?:Variant|DateTime)\(|\0')
"""Qt makes of these whatever they say, however big it is; nothing that we write has them."""


def vetted(path: Path) -> tuple[Path | None, str]:
    """Return the file to be read and written, None for none, and what there is to tell."""
    try:
        found = path.stat()
    except OSError:
        return path, ""
    if stat.S_ISDIR(found.st_mode):
        # Told of when something is to be written.
        return path, ""
    if not stat.S_ISREG(found.st_mode):
        return None, f"Your choices are not remembered: {path} is no plain file"
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        return path, f"Your choices cannot be read: {atomic.why(error)} ({path})"
    if len(data) > LIMIT or NEVER_OURS.search(data):
        return put_aside(path)
    return path, ""


def put_aside(path: Path) -> tuple[Path | None, str]:
    """Begin with an empty file in the place of one that is spoilt."""
    try:
        spare = atomic.set_aside(path)
    except OSError as error:
        why = atomic.why(error)
        return None, f"Your choices cannot be read, and are not remembered: {path}, {why}"
    return path, f"Your choices could not be read and begin anew. The file is kept as {spare}"


def copy_aside(path: Path, what: str) -> str:
    """Keep the file as it is beside the one that goes on; returns what there is to tell."""
    spare = atomic.spare_name(path)
    try:
        shutil.copyfile(path, spare)
    except OSError as error:
        return f"{what} could not be read ({atomic.why(error)})"
    return f"{what} could not be read. The file as it was is kept as {spare}"


def is_garbled(path: Path) -> bool:
    """Return whether Qt cannot make sense of the file."""
    return _opened(path).status() == QSettings.Status.FormatError


def read(path: Path, keys: Iterable[str]) -> dict[str, object]:
    """Return what the file has of ``keys``, and every shape. Any thread may ask."""
    file = _opened(path)
    file.beginGroup(SHAPES)
    shapes = [f"{SHAPES}/{name}" for name in file.childKeys()]
    file.endGroup()
    return {key: file.value(key) for key in (*keys, *shapes) if file.contains(key)}


def write(path: Path, values: Mapping[str, object]) -> bool:
    """Have ``values`` on the disk (None: no such key) when this returns. Any thread may do it.

    What other windows wrote stays. Returns False where it cannot be written.
    """
    file = _opened(path)
    for key, value in values.items():
        if value is None:
            file.remove(key)
        else:
            file.setValue(key, value)
    file.sync()
    return file.status() != QSettings.Status.AccessError


def _opened(path: Path) -> QSettings:
    return QSettings(str(path), QSettings.Format.IniFormat)
