"""The settings file before Qt reads it: what is spoilt is put aside, and that is told."""

import re
import shutil
import stat
from pathlib import Path

from app import atomic

LIMIT = 1 << 20
"""A file of more bytes was not written by us: ours has some ten thousand."""
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
