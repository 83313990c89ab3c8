"""Files next to a script that are sent with it to the machine on which it runs."""

import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from gradscribe.app.link.interpreters import UnusablePython
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

MOST_BYTES, MOST_FILES = 64 << 20, 2000
"""Most bytes and files that are sent; what is more is copied by other means."""
_LEFT_OUT = ("__pycache__", "node_modules")
_ENVIRONMENT = "pyvenv.cfg"
"""A file in the folder of an environment of Python, which is not sent."""


def chosen_files(script: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the absolute paths to send: the script, then files and folders next to it.

    Raises:
        UnusablePython: the script is no file, or a name is not in its folder.
    """
    path = Path(script).absolute()
    if not path.is_file():
        raise UnusablePython(tr("{script} is no file: nothing is next to it", script=script))
    chosen = [path]
    for name in names:
        # A name that is typed is one in the current folder, or next to the script.
        here, beside = Path(name).absolute(), path.parent / name
        found = here if here.exists() else beside
        found = Path(os.path.normpath(found))
        if not found.exists():
            raise UnusablePython(tr("There is no {name} to send", name=name))
        if path.parent not in (found, *found.parents):
            raise UnusablePython(
                tr("{name} is not in the folder of {script}", name=name, script=path.name)
            )
        chosen.append(found)
    return tuple(dict.fromkeys(map(str, chosen)))


def siblings(script: str) -> tuple[str, ...]:
    """Return the script and all that `pack` sends of its folder."""
    return chosen_files(script, [str(Path(script).absolute().parent)])


def listed(chosen: Sequence[str]) -> list[Path]:
    """Return the files of chosen files and folders, each once.

    Hidden files, environments and caches in a folder are left out, and links that lead out of it.

    Raises:
        UnusablePython: they are too many or too large.
    """
    root = Path(chosen[0]).parent
    found: dict[Path, None] = {}
    size = 0
    for file in (file for name in chosen for file in _files(Path(name), root)):
        if file in found:
            continue
        found[file] = None
        size += file.stat().st_size
        if size > MOST_BYTES or len(found) > MOST_FILES:
            raise UnusablePython(
                tr(
                    "{folder} has more than {size} or {count:,} files, the most that is sent: "
                    "name those that the script needs, or copy them there",
                    folder=root,
                    size=formatting.size(MOST_BYTES),
                    count=MOST_FILES,
                )
            )
    return list(found)


def _files(path: Path, root: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        at = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not (
                name.startswith(".") or name in _LEFT_OUT or (at / name / _ENVIRONMENT).exists()
            )
        )
        for name in sorted(names):
            file = at / name
            is_inside = root.resolve() in file.resolve().parents
            if not name.startswith(".") and file.is_file() and is_inside:
                yield file


def stamp(chosen: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when one of the files does; empty if they cannot be listed."""
    try:
        states = [(file, file.stat()) for file in listed(chosen)] if chosen else []
    except (OSError, UnusablePython):
        return ()
    return tuple((str(file), state.st_size, state.st_mtime_ns) for file, state in states)


def pack(chosen: Sequence[str]) -> bytes:
    """Return the files as a zip file, by their paths in the folder of the script.

    Raises:
        UnusablePython: they cannot be read, or are too many or too large.
    """
    made, root = io.BytesIO(), Path(chosen[0]).parent
    try:
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for file in listed(chosen):
                archive.write(file, file.relative_to(root))
    except OSError as error:
        raise UnusablePython(
            tr("{file} cannot be sent: {why}", file=error.filename, why=error.strerror or error)
        ) from error
    return made.getvalue()


def described(chosen: Sequence[str]) -> str:
    """Return how many files there are to send, and their size: ``3 files, 1.2 MB``.

    Raises:
        UnusablePython: they are too many or too large.
    """
    files = listed(chosen)
    size = formatting.size(sum(file.stat().st_size for file in files))
    return f"{formatting.count(len(files), 'file')}, {size}"
