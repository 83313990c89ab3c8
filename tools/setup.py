"""Install what the project needs: system libraries, the virtual environment, pinned packages.

Run by `make` with the system's Python, 3.11 or newer; needs nothing but the standard library. A
stamp in the environment remembers what was installed, so that a second call takes no time.

Environment: ``VENV`` (default ``.venv``), ``TORCH=skip`` (keep the PyTorch that is there),
``SYSTEM=skip`` (do not look for system libraries), ``BROWSER=install`` (as root on Debian: install
Chromium, for the tests of pages), ``SSHD=install`` (the same with an OpenSSH server, for tests of
engines on other machines), ``SCREEN=install`` (the same with a virtual screen and AT-SPI, for tests
of the real window). Exit code 0 when all is ready, else 1 with one line that says what to do.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import system

ROOT = Path(__file__).resolve().parent.parent
RECIPES = ("pyproject.toml", "setup.py", "constraints.txt")
STAMP = "gradscribe.stamp"
FOLDERS = ("engine", "playback", "widgets", "app", "assets")
"""Folders that are installed as subpackages of `gradscribe`."""
KEPT = " torch kept"
"""Suffix of a stamp if the environment's own torch was not replaced."""


def main() -> int:
    """Set up what is missing and return the exit code."""
    place = Path(os.environ.get("VENV") or ".venv")
    place = place if place.is_absolute() else ROOT / place
    keep_torch = os.environ.get("TORCH") == "skip"
    try:
        if os.environ.get("SYSTEM") != "skip":
            system.provide(system.needed())
        if os.environ.get("BROWSER") == "install":
            system.provide_browser()
        if os.environ.get("SSHD") == "install":
            system.provide_ssh_server()
        if os.environ.get("SCREEN") == "install":
            system.provide_screen()
        prepare(place, keep_torch)
        link(ROOT)
    except system.Missing as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def prepare(place: Path, keep_torch: bool) -> None:
    """Update the environment at ``place``, unless its stamp is up to date.

    A torch that was not installed by this script is always kept: replacing a user's CUDA build is
    worse than running with an untested version.

    Raises:
        system.Missing: this Python cannot make environments, or pip could not install.
    """
    stamp, python = place / STAMP, python_of(place)
    noted = stamp.read_text() if stamp.is_file() else ""
    if python.exists():
        keep_torch = keep_torch or noted.endswith(KEPT) or (not noted and has_torch(python))
    wanted = fingerprint() + (KEPT if keep_torch else "")
    if noted == wanted and python.exists():
        return
    if not python.exists():
        make_environment(place, keep_torch)
        stamp.write_text("begun")
    system.say(f"Installing the pinned packages into {place.name} (once; some minutes)")
    install(python, keep_torch)
    stamp.write_text(wanted)


def link(root: Path) -> None:
    """Make ``.links/gradscribe`` under ``root``: the package as one folder, for static checkers.

    They do not see through the finder of an editable install. A system without symbolic links goes
    without; nothing that runs needs them.
    """
    folder = root / ".links" / "gradscribe"
    wanted = {path.name: path for path in (root / "api").glob("*.py")}
    wanted |= {name: root / name for name in FOLDERS}
    wanted["manual"] = root / "docs" / "manual"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        for old in folder.iterdir():
            if old.name not in wanted:
                old.unlink()
        for name, path in wanted.items():
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(os.path.relpath(path, folder))


def fingerprint() -> str:
    """Return a digest of the files that determine the packages, and of the source folder's path."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in RECIPES:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def python_of(place: Path) -> Path:
    """Return the interpreter of the environment at ``place``."""
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment(place: Path, keep_torch: bool) -> None:
    """Create a virtual environment; one that keeps its torch sees the system's packages.

    Raises:
        system.Missing: the standard library came without ensurepip, as on a bare Debian.
    """
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        system.provide_venv()
    system.say(f"Making {place.name} with Python {sys.version.split()[0]}")
    command = [sys.executable, "-m", "venv", str(place)]
    if keep_torch:
        command.insert(3, "--system-site-packages")
    # A new process, because an ensurepip installed just now is not in this one's import caches.
    if subprocess.run(command, check=False).returncode != 0:
        shutil.rmtree(place, ignore_errors=True)
        raise system.Missing(f"Python's venv could not make {place}: see the lines above")


def install(python: Path, keep_torch: bool) -> None:
    """Install the project, editable, with its pinned packages.

    Raises:
        system.Missing: there is no torch to keep, or pip failed.
    """
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    if keep_torch:
        if not has_torch(python):
            raise system.Missing(
                f"TORCH=skip, but {python} has no torch: install it there, or leave TORCH=skip out"
            )
        lines = constraints.splitlines(keepends=True)
        constraints = "".join(line for line in lines if not line.startswith("torch=="))
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "constraints.txt"
        pins.write_text(constraints, encoding="utf-8")
        command = [str(python), "-m", "pip", "install", *loudness()]
        command += ["-e", ".[dev]", "-c", str(pins)]
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            raise system.Missing("pip could not install the pinned packages: see the lines above")


def has_torch(python: Path) -> bool:
    """Return whether the environment of ``python`` has torch (without importing it)."""
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    return subprocess.run([str(python), "-c", probe], check=False).returncode == 0


def loudness() -> list[str]:
    """Return pip's options: with progress on a terminal, errors only in a log."""
    if sys.stdout.isatty() and "CI" not in os.environ:
        return ["--disable-pip-version-check"]
    return ["-qq", "--disable-pip-version-check", "--progress-bar", "off"]


if __name__ == "__main__":
    sys.exit(main())
