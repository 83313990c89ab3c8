"""The system libraries that Qt loads on Linux: which are missing, and how to get them.

On Debian derivatives they are installed if this is root or sudo works without a password; elsewhere
one line names what is missing and the command that installs it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "app" / "runtime"))

from qt_libraries import OFFSCREEN, WAYLAND, X11, loads

sys.path.pop()

FONTS = {"Inter": "fonts-inter", "JetBrains Mono": "fonts-jetbrains-mono"}
"""Preferred fonts of the interface; without them it uses the system's."""


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs that the tests of pages can use."""

SCREEN = {
    "Xvfb": "xvfb",
    "openbox": "openbox",
    "xdotool": "xdotool",
    "import": "imagemagick",
    "dbus-run-session": "dbus",
    "/usr/libexec/at-spi2-registryd": "at-spi2-core",
    "/usr/lib/python3/dist-packages/pyatspi/__init__.py": "python3-pyatspi",
}
"""Programs and files for tests of the real window, with Debian's package for each."""

SERVER_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
"""Folders where sshd may be, which an ordinary user's PATH lacks."""


class Missing(Exception):
    """Something that the project needs is missing; the text is one line that says what to do."""


def say(line: str) -> None:
    """Print a progress message."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def has_screen() -> bool:
    """Return whether there is a display."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def needed() -> dict[str, str]:
    """Return the libraries for the current display, or for none, with Debian's packages."""
    if os.environ.get("DISPLAY"):
        return X11
    return WAYLAND if os.environ.get("WAYLAND_DISPLAY") else OFFSCREEN


def provide(libraries: dict[str, str]) -> None:
    """Install missing ``libraries``; on Linux only, where Qt's packages come without them.

    Raises:
        Missing: some are missing and cannot be installed.
    """
    if not sys.platform.startswith("linux"):
        return
    packages = missing(libraries)
    if not packages:
        return
    install = installer()
    if install is None:
        raise Missing(f"Qt needs system libraries: {advice(packages)}")
    # Install fonts for root only: sudo is not used for optional packages.
    fonts = missing_fonts() if install[:1] != ["sudo"] else []
    say(f"Installing what Qt needs from the system: {' '.join(packages)}")
    if not apt(install, packages) or missing(libraries):
        raise Missing(f"apt-get could not install what Qt needs: {advice(packages)}")
    if fonts:
        apt(install, fonts)


def provide_browser() -> None:
    """Install a browser, in which tests open pages; without it they are skipped."""
    if not sys.platform.startswith("linux") or any(map(shutil.which, BROWSERS)):
        return
    install = installer()
    if install == []:
        say("Installing a browser for the tests of pages")
        apt(install, ["chromium"])


def provide_ssh_server() -> None:
    """Install an ssh server, which tests start on the loopback; without it they are skipped."""
    if not sys.platform.startswith("linux") or shutil.which("sshd", path=SERVER_PATH):
        return
    install = installer()
    if install == []:
        say("Installing an ssh server for the tests of engines on other machines")
        apt(install, ["openssh-server"])


def provide_screen() -> None:
    """Install a virtual screen and AT-SPI, for tests of the real window; skipped without them."""
    if not sys.platform.startswith("linux"):
        return
    packages = [
        package
        for name, package in SCREEN.items()
        if not (Path(name).exists() if name.startswith("/") else shutil.which(name))
    ]
    packages += missing(X11)
    if packages and installer() == []:
        say(f"Installing what tests of the real window need: {' '.join(packages)}")
        apt([], packages)


def provide_venv() -> None:
    """Install Debian's separate package for Python's virtual environments.

    Raises:
        Missing: the package cannot be installed.
    """
    package = f"python3.{sys.version_info.minor}-venv"
    install = installer()
    if install is None or not apt(install, [package]):
        raise Missing(f"This Python has no venv: {advice([package])}")


def missing(libraries: dict[str, str]) -> list[str]:
    """Return the packages of those libraries that the loader cannot find."""
    return [package for library, package in libraries.items() if not loads(library)]


def missing_fonts() -> list[str]:
    """Return the packages of the preferred fonts that fontconfig does not list."""
    if shutil.which("fc-list") is None:
        return list(FONTS.values())
    listed = subprocess.run(
        ["fc-list", ":", "family"], capture_output=True, text=True, check=False
    ).stdout
    return [package for family, package in FONTS.items() if family not in listed]


def installer() -> list[str] | None:
    """Return the command prefix to run as root (empty if root), or None if there is none."""
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
    """Update the package lists and install Debian packages; return whether it worked."""
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
