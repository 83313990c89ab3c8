"""The settings file: read, write and vet it; a damaged file is renamed before Qt reads it."""

import re
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QSettings

from gradscribe.app.files import atomic
from gradscribe.playback.translation import tr

LIMIT = 1 << 20
"""Most bytes of a settings file; a genuine one has some ten thousand."""
SHAPES = "shape"
"""The INI group of window geometries and splitter states."""
UNSAFE_VALUES = re.compile(rb'(?:=|, )"?@(?:Variant|DateTime)\(|\0')
"""Values that Qt would deserialize without a size limit; this program never writes them."""


def vet(path: Path) -> tuple[Path | None, str]:
    """Return the file to use (None for none) and a message for the user (may be empty)."""
    try:
        found = path.stat()
    except OSError:
        return path, ""
    if stat.S_ISDIR(found.st_mode):
        # Reported when something is written.
        return path, ""
    if not stat.S_ISREG(found.st_mode):
        return None, tr("Your choices are not remembered: {path} is no plain file", path=path)
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        return path, tr(
            "Your choices cannot be read: {reason} ({path})", reason=atomic.reason(error), path=path
        )
    if len(data) > LIMIT or UNSAFE_VALUES.search(data):
        return reset_damaged(path)
    return path, ""


def reset_damaged(path: Path) -> tuple[Path | None, str]:
    """Rename a damaged file, so that an empty one takes its place."""
    try:
        spare = atomic.rename_to_backup(path)
    except OSError as error:
        why = atomic.reason(error)
        return None, tr(
            "Your choices cannot be read, and are not remembered: {path}, {why}", path=path, why=why
        )
    return path, tr(
        "Your choices could not be read and were reset. The file is kept as {spare}", spare=spare
    )


def back_up(path: Path, what: str) -> str:
    """Make a backup copy of the file; return a message for the user."""
    spare = atomic.backup_name(path)
    try:
        shutil.copyfile(path, spare)
    except OSError as error:
        return tr("{what} could not be read ({reason})", what=what, reason=atomic.reason(error))
    return tr(
        "{what} could not be read. The file as it was is kept as {spare}", what=what, spare=spare
    )


def is_garbled(path: Path) -> bool:
    """Return whether Qt cannot parse the file."""
    return _opened(path).status() == QSettings.Status.FormatError


def read(path: Path, keys: Iterable[str]) -> dict[str, object]:
    """Return the file's values of ``keys``, and every shape. Thread-safe."""
    file = _opened(path)
    file.beginGroup(SHAPES)
    shapes = [f"{SHAPES}/{name}" for name in file.childKeys()]
    file.endGroup()
    return {key: file.value(key) for key in (*keys, *shapes) if file.contains(key)}


def as_list(value: object) -> list[str]:
    """Return a stored list of texts; Qt stores a single one as a text."""
    values = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return list(map(str, values))


def write(path: Path, values: Mapping[str, object]) -> bool:
    """Write ``values`` (None removes a key) and sync. Thread-safe.

    Other keys stay as other windows wrote them. Returns False if the file cannot be written.
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
