"""The system libraries that Qt loads on Linux: which are missing, and how to get them.

On Debian and its kin they are installed where we are root or may use sudo without a password;
anywhere else one line names what is missing and the command that installs it.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

OFFSCREEN = {
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
}
"""What QtCore and QtGui themselves link to, and Debian's package for each."""

X11 = OFFSCREEN | {
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
}
"""What a real window under X needs as well."""

WAYLAND = OFFSCREEN | {
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
"""What one under Wayland alone needs as well."""

FONTS = {"Inter": "fonts-inter", "JetBrains Mono": "fonts-jetbrains-mono"}
"""The faces the interface prefers; without them it takes the system's own."""


class Missing(Exception):
    """Something the project needs is not there; the text tells what to do, in one line."""


def say(line: str) -> None:
    """Tell the user what is going on."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def has_screen() -> bool:
    """Tell whether a window can be shown here."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def needed() -> dict[str, str]:
    """Return the libraries for the screen there is, or for none, with Debian's packages."""
    if os.environ.get("DISPLAY"):
        return X11
    return WAYLAND if os.environ.get("WAYLAND_DISPLAY") else OFFSCREEN


def provide(libraries: dict[str, str]) -> None:
    """See that the system has ``libraries``; on Linux only, where Qt's packages come without them.

    Raises:
        Missing: some are not there and we may not install them.
    """
    if not sys.platform.startswith("linux"):
        return
    packages = missing(libraries)
    if not packages:
        return
    install = installer()
    if install is None:
        raise Missing(f"Qt needs system libraries: {advice(packages)}")
    # Fonts come along for root only: nobody's sudo should be spent on taste.
    fonts = missing_fonts() if install[:1] != ["sudo"] else []
    say(f"Installing what Qt needs from the system: {' '.join(packages)}")
    if not apt(install, packages) or missing(libraries):
        raise Missing(f"apt-get could not install what Qt needs: {advice(packages)}")
    if fonts:
        apt(install, fonts)


def provide_venv() -> None:
    """See that Python can make virtual environments, which Debian keeps in a package of its own.

    Raises:
        Missing: it cannot and we may not install the package.
    """
    package = f"python3.{sys.version_info.minor}-venv"
    install = installer()
    if install is None or not apt(install, [package]):
        raise Missing(f"This Python has no venv: {advice([package])}")


def missing(libraries: dict[str, str]) -> list[str]:
    """Return the packages of those libraries that the loader cannot find."""
    return [package for library, package in libraries.items() if not loads(library)]


def loads(library: str) -> bool:
    """Tell whether the dynamic loader finds ``library``."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing_fonts() -> list[str]:
    """Return the packages of the preferred faces that fontconfig does not list."""
    if shutil.which("fc-list") is None:
        return list(FONTS.values())
    listed = subprocess.run(
        ["fc-list", ":", "family"], capture_output=True, text=True, check=False
    ).stdout
    return [package for family, package in FONTS.items() if family not in listed]


def installer() -> list[str] | None:
    """Return the words that put a command in root's hands, or None where we may not install."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    allowed = subprocess.run(
        ["sudo", "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return ["sudo", "-n"] if allowed.returncode == 0 else None


def apt(install: Sequence[str], packages: Sequence[str]) -> bool:
    """Install Debian packages after a fresh look at what there is; tell whether it worked."""
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-y"]
    for words in (["update"], ["install", "--no-install-recommends", *packages]):
        done = subprocess.run(
            [*install, *quiet, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
    return done.returncode == 0


def advice(packages: Sequence[str]) -> str:
    """Return the command that installs ``packages``, as a user would type it."""
    command = f"sudo apt-get install {' '.join(packages)}"
    if shutil.which("apt-get") is None:
        return f"install them with your package manager (on Debian and Ubuntu: {command})"
    return f"run {command}"
