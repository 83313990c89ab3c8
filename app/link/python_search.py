"""Search for Pythons that a program may be meant for, by their files alone."""

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from gradscribe.app.link.interpreters import Interpreter

FOLDERS = (".venv", "venv", "env", ".pixi/envs/*")
"""Places of environments in a project, as patterns."""
PARENTS = 4
"""Folders above a script that may be its project's."""
MOST = 40
"""Most Pythons that are listed."""
_GENERIC = frozenset(name.strip(".") for name in FOLDERS if "/" not in name) | {"envs"}


class FoundPython(Struct, frozen=True):
    """A Python on the disk; `ask_interpreter` tells whether it can run programs."""

    path: str
    """Its executable."""
    name: str
    """Its environment as people call it: ``mnist/.venv``."""
    version: str = ""
    """Of Python; empty if its files do not say it."""
    torch: str = ""
    """The version of torch; empty without it."""


def find_pythons(folder: str, used: Iterable[str] = ()) -> list[FoundPython]:
    """Return the Pythons that a script in ``folder`` may be meant for, the nearest first.

    Environments in the folder and above it, the active ones, those that conda and poetry know, and
    the executables ``used`` before; without the Python of this process.
    """
    found: dict[str, FoundPython] = {}
    own = os.path.realpath(sys.prefix)
    prefixes = [*_of_project(folder), *_active(), *_of_poetry(folder), *_of_conda()]
    paths = [path for prefix in prefixes if (path := executable(prefix))]
    for path in [*paths, *used]:
        prefix = _prefix(path)
        place = os.path.realpath(prefix)
        if len(found) < MOST and place != own and place not in found and os.path.isfile(path):
            found[place] = FoundPython(path, environment_name(path), *_versions(prefix))
    return list(found.values())


def find_torch(folder: str) -> list[FoundPython]:
    """Return the Pythons with PyTorch that a program in ``folder`` could run in, the nearest first.

    Those of `find_pythons`, and the one that the user's shell finds.
    """
    there = filter(None, map(shutil.which, ("python3", "python")))
    return [python for python in find_pythons(folder, there) if python.torch]


def python_name(python: Interpreter) -> str:
    """Return the name of a Python: that of its environment, or of the machine it is on."""
    return python.host.removeprefix("ssh://") or environment_name(python.path)


def environment_name(path: str) -> str:
    """Return the name of the environment that an executable belongs to."""
    prefix = _prefix(path)
    if prefix.name.strip(".") in _GENERIC:
        return f"{prefix.parent.name}/{prefix.name}"
    return prefix.name or path


def executable(prefix: Path) -> str:
    """Return the path of an environment's Python; empty if there is none."""
    names = ("Scripts/python.exe", "python.exe") if os.name == "nt" else ("bin/python",)
    for name in names:
        if (path := prefix / name).is_file():
            return str(path)
    return ""


def _prefix(path: str) -> Path:
    folder = Path(path).parent
    return folder.parent if folder.name in ("bin", "Scripts") else folder


def _of_project(folder: str) -> Iterator[Path]:
    for place in _project_folders(folder):
        for pattern in FOLDERS:
            yield from sorted(place.glob(pattern))


def _project_folders(folder: str) -> list[Path]:
    """Return the folder and those above it, up to the root of a repository or the home."""
    if not folder:
        return []
    places: list[Path] = []
    for place in (Path(folder), *Path(folder).parents)[: PARENTS + 1]:
        places.append(place)
        if (place / ".git").exists() or place == Path.home():
            break
    return places


def _active() -> Iterator[Path]:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if prefix := os.environ.get(name):
            yield Path(prefix)


def _of_poetry(folder: str) -> Iterator[Path]:
    """Yield poetry's environments of the project: it stores them by the project's name."""
    cache = os.environ.get("POETRY_CACHE_DIR") or _cache_folder() / "pypoetry"
    for place in _project_folders(folder):
        name = _project_name(place / "pyproject.toml")
        if name:
            yield from sorted(Path(cache, "virtualenvs").glob(f"{name}-*-py3*"))


def _cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _project_name(file: Path) -> str:
    try:
        table = tomllib.loads(file.read_text("utf-8"))
        name = table.get("tool", {}).get("poetry", {}).get("name")
        name = name or table.get("project", {}).get("name", "")
    except (OSError, ValueError, AttributeError):
        return ""
    # As poetry names its folders; what is left has no meaning in a pattern.
    return re.sub(r"[^a-z0-9.-]", "-", str(name).lower())[:42]


def _of_conda() -> Iterator[Path]:
    """Yield the environments in conda's own list."""
    try:
        lines = (Path.home() / ".conda" / "environments.txt").read_text("utf-8").splitlines()
    except (OSError, UnicodeError):
        return
    yield from (Path(line.strip()) for line in lines if line.strip())


def _versions(prefix: Path) -> tuple[str, str]:
    """Return the versions of Python and torch that an environment's files say."""
    libraries = sorted((*prefix.glob("lib/python3.*"), *prefix.glob("Lib")))
    infos = (info for place in libraries for info in place.glob("*-packages/torch-*.dist-info"))
    torch = next((info.name.split("-")[1].removesuffix(".dist") for info in infos), "")
    version = _configured_version(prefix / "pyvenv.cfg")
    if not version:
        metas = (
            re.match(r"python-(\d+\.\d+\.\d+)-", meta.name)
            for meta in prefix.glob("conda-meta/python-3*.json")
        )
        version = next((meta[1] for meta in metas if meta), "")
    if not version and libraries and libraries[0].name.startswith("python"):
        version = libraries[0].name.removeprefix("python")
    return version, torch


def _configured_version(file: Path) -> str:
    try:
        found = re.search(
            r"^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", file.read_text("utf-8"), re.M
        )
    except (OSError, UnicodeError):
        return ""
    return found[1] if found else ""
