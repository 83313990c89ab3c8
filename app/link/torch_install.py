"""Installation of PyTorch into an environment of its own, by uv.

The environment is a folder with a marker; only a folder with it is ever removed. While it is
incomplete, a file in the user's data folder names it, so that an installation that was interrupted
is found again, to be continued or removed.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

from msgspec import Struct

from gradscribe.app.link import own_engine
from gradscribe.app.link.interpreters import UnusablePython, ask_interpreter
from gradscribe.app.link.own_engine import OwnEngine
from gradscribe.app.link.python_search import executable
from gradscribe.playback.translation import tr

NAME = "torch-environment"
"""Name of the environment's folder, in the folder that the user chooses."""
MARKER = "made-by-gradscribe"
CACHE, ENVIRONMENT = "downloads", "env"
"""Folders in it: what was downloaded, until all is installed, and the virtual environment."""
CPU_MB, CPU_DOWNLOAD_MB = 950, 250
GPU_MB, GPU_DOWNLOAD_MB = 5500, 3000
"""Megabytes on the disk and of downloads on Linux, measured with torch 2.13 (CPU) and 2.15."""
REPORT_S = 0.5
"""Seconds between two reports."""
END_S = 3.0
"""Seconds that uv gets to end after it was asked to."""
EXTRA = "engine"
"""Extra of this package that lists what the engine imports and the window does not."""
SHARED = ("numpy", "msgspec")
"""Dependencies of this package that the engine imports, too."""
_REASON = re.compile(r"^(?:error:|.*Caused by:|\s*[×╰─▶]+|\s*cause:)\s*(.+)$", re.MULTILINE)


class InstallPlan(Struct, frozen=True):
    """Build of PyTorch to install, and the folder for it."""

    parent: str = ""
    """Folder to make the environment's folder in; empty for the user's data folder."""
    gpu: bool = False
    """True for the build that fits the graphics card, False for that for the CPU."""
    wheels: str = ""
    """Folder of wheels to install from, without a network; empty for the package index."""

    @property
    def folder(self) -> Path:
        """The environment's folder."""
        return (Path(self.parent).absolute() if self.parent else own_engine.data_folder()) / NAME

    @property
    def size_mb(self) -> int:
        """Megabytes that it takes on the disk, while what was downloaded is still there."""
        return GPU_MB if self.gpu else CPU_MB

    @property
    def download_mb(self) -> int:
        """Megabytes that are downloaded; 0 from a folder of wheels."""
        if self.wheels:
            return 0
        return GPU_DOWNLOAD_MB if self.gpu else CPU_DOWNLOAD_MB


class InstallFailed(Exception):
    """Raised when PyTorch could not be installed; the message is a line for the user."""


def amount(megabytes: float) -> str:
    """Return an amount of data in words: ``950 MB``, ``5.5 GB``."""
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"


def half_made() -> Path | None:
    """Return the folder of an installation that was interrupted; None if there is none."""
    try:
        folder = Path(_note().read_text("utf-8"))
    except (OSError, UnicodeError):
        return None
    return folder if (folder / MARKER).is_file() else None


def remove(folder: Path) -> None:
    """Remove an environment that was made here, whole or half.

    Raises:
        InstallFailed: it was not made here, or cannot be removed.
    """
    if not (folder / MARKER).is_file():
        raise InstallFailed(
            tr("{folder} was not made by Gradscribe, so it is not removed", folder=folder)
        )
    engine = own_engine.read()
    if engine is not None and engine.folder == str(folder):
        own_engine.forget()
    try:
        # The marker last: what is left when this is interrupted can be removed by a second call.
        for path in folder.iterdir():
            if path.name != MARKER:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.rmtree(folder)
    except OSError as error:
        raise InstallFailed(
            tr("{folder} cannot be removed: {value}", folder=folder, value=error.strerror or error)
        ) from error
    if _named_in_note() == folder:
        _note().unlink(missing_ok=True)


def install(plan: InstallPlan, report: Callable[[str, int], None]) -> OwnEngine:
    """Install PyTorch, or continue or repair an installation in that folder.

    ``report`` is called with a phase in words and the megabytes on the disk so far. What is
    interrupted by an exception other than a failure stays, marked as incomplete.

    Raises:
        InstallFailed: there is no room or no network, or the folder is another program's. What was
            made for it is removed, unless the folder had an environment before.
    """
    folder, uv = plan.folder, uv_program()
    was_there = _check_folder(folder)
    _check_room(plan)
    try:
        _begin(folder)
        for phase, command in _commands(plan, uv, has_python=was_there and _fits(folder)):
            _run(command, folder, lambda mb, phase=phase: report(phase, mb))  # type: ignore[misc]
        report(tr("Checking"), _megabytes(folder))
        engine = OwnEngine(ask_interpreter(executable(folder / ENVIRONMENT)), str(folder))
        _try_torch(engine.python.path)
        own_engine.write(engine)
    except (InstallFailed, UnusablePython) as failure:
        if not was_there:
            with contextlib.suppress(InstallFailed):
                remove(folder)
        raise InstallFailed(str(failure)) from failure
    shutil.rmtree(folder / CACHE, ignore_errors=True)
    _note().unlink(missing_ok=True)
    return engine


def uv_program() -> str:
    """Return the path of uv, which comes as a dependency.

    Raises:
        InstallFailed: it is missing.
    """
    try:
        from uv import find_uv_bin

        return os.fspath(find_uv_bin())
    except (ImportError, FileNotFoundError):
        if path := shutil.which("uv"):
            return path
    raise InstallFailed(tr("uv, which installs PyTorch, is missing: reinstall Gradscribe"))


def packages() -> list[str]:
    """Return the requirements of the engine, as this package declares them."""
    found = []
    for line in metadata.requires("gradscribe") or ():
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        name = re.split(r"[^\w-]", requirement, maxsplit=1)[0]
        is_extra = re.fullmatch(rf"extra == ['\"]{EXTRA}['\"]", marker) is not None
        if is_extra or (not marker and name in SHARED):
            found.append(requirement)
    return found


def _commands(plan: InstallPlan, uv: str, has_python: bool) -> Iterator[tuple[str, list[str]]]:
    place = plan.folder / ENVIRONMENT
    base = getattr(sys, "_base_executable", "") or sys.executable
    # An environment of this Python keeps its packages: one whose Python has moved is repaired so.
    keep = "--allow-existing" if has_python else "--clear"
    yield (
        tr("Making an environment"),
        [uv, "venv", keep, "--no-project", "--python", base, str(place)],
    )
    command = [uv, "pip", "install", "--python", executable(place)]
    if plan.wheels:
        command += ["--no-index", "-f", os.path.abspath(plan.wheels)]
    else:
        command.append(f"--torch-backend={'auto' if plan.gpu else 'cpu'}")
    yield tr("Installing PyTorch"), [*command, *packages()]


def _check_folder(folder: Path) -> bool:
    """Return whether an environment of this program is there already. Raises `InstallFailed`."""
    if (folder / MARKER).is_file():
        return True
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InstallFailed(
                tr("{folder} is there already, and Gradscribe did not make it", folder=folder)
            )
    except OSError as error:
        raise InstallFailed(
            tr("{folder} cannot be read: {value}", folder=folder, value=error.strerror or error)
        ) from error
    return False


def _fits(folder: Path) -> bool:
    """Return whether the environment is one of this version of Python."""
    try:
        text = (folder / ENVIRONMENT / "pyvenv.cfg").read_text("utf-8")
    except (OSError, UnicodeError):
        return False
    found = re.search(r"^version(?:_info)?\s*=\s*(\d+\.\d+)", text, re.MULTILINE)
    return found is not None and found[1] == f"{sys.version_info[0]}.{sys.version_info[1]}"


def _check_room(plan: InstallPlan) -> None:
    """Raise `InstallFailed` if the disk has too little room for what is not there yet."""
    place = plan.folder
    while not place.is_dir() and place != place.parent:
        place = place.parent
    try:
        free = shutil.disk_usage(place).free >> 20
    except OSError as error:
        raise InstallFailed(
            tr("{place} cannot be read: {value}", place=place, value=error.strerror or error)
        ) from error
    needed = plan.size_mb - _megabytes(plan.folder)
    if free < needed:
        raise InstallFailed(
            tr(
                "PyTorch needs {amount}, and the disk of {place} has {amount_2} left: "
                "choose another folder",
                amount=amount(needed),
                place=place,
                amount_2=amount(free),
            )
        )


def _begin(folder: Path) -> None:
    """Make the folder with its marker, and note that it is incomplete. Raises `InstallFailed`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).write_text("Gradscribe may remove this folder.\n", "utf-8")
        _note().parent.mkdir(parents=True, exist_ok=True)
        _note().write_text(str(folder), "utf-8")
    except OSError as error:
        raise InstallFailed(
            tr("{folder} cannot be made: {value}", folder=folder, value=error.strerror or error)
        ) from error


def _run(command: list[str], folder: Path, report: Callable[[int], None]) -> None:
    """Run uv and report the size of the folder meanwhile; end it if this is interrupted.

    Raises:
        InstallFailed: it failed.
    """
    variables = {**os.environ, "UV_CACHE_DIR": str(folder / CACHE), "UV_NO_PROGRESS": "1"}
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH"):
        variables.pop(name, None)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                # Not in the user's folder, whose configuration of uv is that of a project.
                cwd=folder,
                env=variables,
            )
        except OSError as error:
            raise InstallFailed(
                tr("uv does not start: {value}", value=error.strerror or error)
            ) from error
        try:
            while _is_running(process):
                report(_megabytes(folder))
        finally:
            _end(process)
        if process.returncode:
            errors.seek(0)
            raise InstallFailed(_why(errors.read().decode("utf-8", "replace"), process.returncode))


def _is_running(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(REPORT_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        with contextlib.suppress(OSError):
            process.send_signal(getattr(signal, "SIGINT", signal.SIGTERM))
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _why(errors: str, code: int) -> str:
    """Return why uv failed, in one line."""
    reasons = [" ".join(found[1].split()) for found in _REASON.finditer(errors)]
    if not reasons:
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        reasons = lines[-1:] or [tr("uv ended with {code}", code=code)]
    first, last = reasons[0], reasons[-1]
    text = first if first == last else f"{first}: {last}"
    if re.search(r"dns error|connect|network|timed out", errors, re.IGNORECASE):
        return tr("The packages cannot be downloaded; is there a network? {text}", text=text[:300])
    return text[:300]


def _try_torch(python: str) -> None:
    """Raise `InstallFailed` unless that Python can compute with torch."""
    program = "import torch; torch.ones(2).sum()"
    done = subprocess.run(
        [python, "-P", "-c", program] if sys.version_info >= (3, 11) else [python, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InstallFailed(
            tr("PyTorch was installed but does not start: {value}", value=(lines or [""])[-1])
        )


def _megabytes(folder: Path) -> int:
    """Return the size of a folder; a file with several links counts once."""
    total, seen, places = 0, set(), [os.fspath(folder)]
    while places:
        try:
            with os.scandir(places.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        places.append(entry.path)
                        continue
                    found = entry.stat(follow_symlinks=False)
                    if found.st_nlink < 2 or found.st_ino not in seen:
                        total += found.st_size
                        seen.add(found.st_ino)
        except OSError:  # It was removed meanwhile.
            continue
    return total >> 20


def _note() -> Path:
    return own_engine.data_folder() / "torch-incomplete"


def _named_in_note() -> Path | None:
    try:
        return Path(_note().read_text("utf-8"))
    except (OSError, UnicodeError):
        return None
