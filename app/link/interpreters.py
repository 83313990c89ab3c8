"""Other Pythons to run programs in: what they have, and the engine's source for them.

Nothing is installed into such a Python. It gets the engine's source from a folder in the user's
cache, and needs torch, numpy and msgspec of its own.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from gradscribe.playback.translation import tr

OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = (2, 6)
NEEDED = ("torch", "numpy", "msgspec")
TIMEOUT_S = 30.0
"""Most seconds for a Python to say what it has, on a cold disk."""
_ASK = """
import json, sys
from importlib import metadata
found = {}
for name in %r:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
places = [place for place in sys.path[1:] if "-packages" in place or not place.startswith(
    (sys.prefix, sys.base_prefix))]
print(json.dumps([sys.version_info[:3], sys.executable, found, places]))
"""


class UnusablePython(Exception):
    """Raised for a Python that programs cannot run in; the message is a line for the user."""

    def __init__(self, message: str, path: str = "", packages: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.path, self.packages = path, packages
        """The Python, and the packages to install that make it usable; none if nothing does."""


class Interpreter(Struct, frozen=True):
    """A Python that can run the engine."""

    path: str
    """Its executable, as the user names it: an environment's Python is a link to another."""
    version: str
    torch: str
    packages: tuple[str, ...] = ()
    """The folders of its packages."""
    host: str = ""
    """The machine it is on, as the address ``ssh://user@host:port``; empty for this one."""
    sent: tuple[str, ...] = ()
    """Paths here of the script and of what lies next to it that are sent to that machine."""

    @property
    def release(self) -> tuple[int, ...]:
        """The numbers of the version of Python."""
        return _release(self.version)

    @property
    def url(self) -> str:
        """Its whole address: a path on this machine, else ``ssh://user@host/path``."""
        if not self.host:
            return self.path
        return f"{self.host}{'' if self.path.startswith('/') else '/'}{self.path}"


def ask_interpreter(name: str) -> Interpreter:
    """Return the Python of that name or path, once it has said what it has.

    Raises:
        UnusablePython: it is not there, is no Python, is too old, or lacks a package; the message
            has the command that installs it.
    """
    path = shutil.which(os.path.expanduser(name))
    if path is None:
        raise UnusablePython(tr("There is no Python at {name}", name=name))
    # Absolute, but with its links: an environment is found by the place of the link.
    path = os.path.abspath(path)
    version, found, packages = _answer(path)
    torch = checked_torch(name, version, found, path, lambda words: install_command(path, words))
    return Interpreter(path, ".".join(map(str, version)), torch, packages)


def checked_torch(
    name: str,
    version: tuple[int, ...],
    found: dict[str, str],
    path: str,
    command: Callable[[list[str]], str],
) -> str:
    """Return the version of torch of a Python that can run the engine.

    Args:
        name: the Python as the user names it.
        version: its version.
        found: the packages it has, with their versions.
        path: where packages are installed for it.
        command: returns the command that does that.

    Raises:
        UnusablePython: it is too old, or lacks a package.
    """
    if version < OLDEST_PYTHON:
        words, oldest = (".".join(map(str, part)) for part in (version, OLDEST_PYTHON))
        raise UnusablePython(
            tr(
                "{name} is Python {words}: Gradscribe runs programs in {oldest} or newer",
                name=name,
                words=words,
                oldest=oldest,
            )
        )
    missing = [package for package in NEEDED if package not in found]
    if missing:
        raise UnusablePython(
            tr(
                "{name} has no {packages}: {command}",
                name=name,
                packages=tr(" and no ").join(missing),
                command=command(missing),
            ),
            path,
            tuple(missing),
        )
    if _release(found["torch"]) < OLDEST_TORCH:
        raise _old_torch(name, found["torch"], path, command)
    return found["torch"]


def _old_torch(
    name: str, torch: str, path: str, command: Callable[[list[str]], str]
) -> UnusablePython:
    oldest = ".".join(map(str, OLDEST_TORCH))
    newer = f"torch>={oldest}"
    words = tr(
        "{name} has torch {torch}, {oldest} or newer is needed: {command}",
        name=name,
        torch=torch,
        oldest=oldest,
        command=command([newer]),
    )
    return UnusablePython(words, path, (newer,))


def install_command(path: str, packages: list[str]) -> str:
    """Return the command that installs packages for a Python."""
    words = (f'"{word}"' if {*word} & {*" <>"} else word for word in (path, *packages))
    python, *names = words
    return f"{python} -m pip install {' '.join(names)}"


def _answer(path: str) -> tuple[tuple[int, ...], dict[str, str], tuple[str, ...]]:
    """Return the version of a Python, those of the packages it has, and the packages' folders.

    Raises:
        UnusablePython: it is no Python, or does not answer.
    """
    try:
        done = subprocess.run(
            [path, "-c", _ASK % (NEEDED,)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            # Not in the user's folder, whose files would be imported.
            cwd=os.path.dirname(path),
        )
        version, _, found, *more = json.loads(done.stdout)
        versions = {str(name): str(text) for name, text in found.items()}
        return tuple(map(int, version)), versions, tuple(map(str, more[0] if more else ()))
    except OSError as error:
        raise UnusablePython(
            tr("{path} cannot be started: {value}", path=path, value=error.strerror or error)
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UnusablePython(tr("{path} does not answer", path=path)) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UnusablePython(
            tr("{path} is no Python that Gradscribe can use", path=path)
        ) from error


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: ``2.6.0+cpu`` is (2, 6, 0)."""
    words = version.partition("+")[0].split(".")
    return tuple(int(word) for word in words if word.isdecimal())


@cache
def lent_source() -> Path:
    """Return a folder with the package ``gradscribe`` that holds the engine alone.

    It is a copy in the user's cache, by its content, so that a Python sees this version's engine
    and none of the packages next to it.

    Raises:
        UnusablePython: the cache cannot be written.
    """
    files = engine_files()
    content = hashlib.sha256()
    for path, data in sorted(files.items()):
        content.update(f"{path}\0{len(data)}\0".encode() + data)
    try:
        return _copied(files, _cache_folder() / f"engine-{content.hexdigest()[:16]}")
    except OSError as error:
        why = error.strerror or error
        raise UnusablePython(
            tr("The engine cannot be copied for another Python: {why}", why=why)
        ) from error


@cache
def engine_files() -> dict[str, bytes]:
    """Return the package ``gradscribe`` with the engine alone: files by their paths in it."""
    engine = Path(__file__).parents[2] / "engine"
    files = {path: source.read_bytes() for path, source in _sources(engine)}
    files["__init__.py"] = b"# The engine alone, for programs in another Python.\n"
    return files


def _sources(engine: Path) -> Iterator[tuple[str, Path]]:
    """Yield the engine's files by their path in the package."""
    for path in engine.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"engine/{path.relative_to(engine).as_posix()}", path


def _copied(files: dict[str, bytes], folder: Path) -> Path:
    """Return ``folder`` with a package of these files, written as a whole or not at all."""
    if folder.is_dir():
        if all(_has(folder / "gradscribe" / path, data) for path, data in files.items()):
            return folder
        shutil.rmtree(folder)  # Parts of it have been removed.
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        for path, data in files.items():
            file = made / "gradscribe" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # Else another process has written it.
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def _has(file: Path, data: bytes) -> bool:
    try:
        return file.read_bytes() == data
    except OSError:
        return False


def _cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir()), "gradscribe")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gradscribe"
    known = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(known) if os.path.isabs(known) else Path.home() / ".cache") / "gradscribe"
