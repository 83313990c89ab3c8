"""A virtual screen with a window manager and a session bus of its own, for the real program.

Everything is a process that ends with the context: Xvfb, Openbox, the session bus, and what the bus
starts by itself (the registry of assistive technologies).
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

PROGRAMS = ("Xvfb", "openbox", "xdotool", "dbus-daemon", "import")
REGISTRY = Path("/usr/libexec/at-spi2-registryd")
PACKAGES = "xvfb openbox xdotool imagemagick dbus at-spi2-core"


def reason_to_skip() -> str:
    """Return why the real program cannot be driven here; empty if it can."""
    if not sys.platform.startswith("linux"):
        return "X11 and AT-SPI are those of Linux"
    if not all(map(shutil.which, PROGRAMS)) or not REGISTRY.exists():
        return f"no virtual screen or no registry of accessibility: apt-get install {PACKAGES}"
    return ""


class Screen:
    """A screen of ``size`` pixels; ``environment`` is that of programs that shall appear on it."""

    def __init__(self, folder: Path, size: tuple[int, int]) -> None:
        self.folder, self.size = folder, size
        self.environment: dict[str, str] = {}
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> "Screen":
        """Start the screen, its window manager and its bus."""
        number = self._start_server()
        runtime = self.folder / "runtime"
        runtime.mkdir(mode=0o700)
        homes = {
            f"XDG_{kind}_HOME": str(self.folder / kind.lower())
            for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        self.environment = {
            **{name: text for name, text in os.environ.items() if not _LEFT_OUT.fullmatch(name)},
            **homes,
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(runtime),
            "DISPLAY": f":{number}",
            "QT_QPA_PLATFORM": "xcb",
            # Qt offers its tree without a screen reader that asks the desktop for it.
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "LANG": "C.UTF-8",
        }
        bus = self._start(["dbus-daemon", "--session", "--print-address", "--nofork"], True)
        assert bus.stdout is not None
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()
        self._start(["openbox"])
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            # A group each: the bus takes along what it has started.
            try:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(10)
            except ProcessLookupError:
                pass
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def run(self, *words: str) -> str:
        """Run a program on this screen to its end and return what it prints."""
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout

    def picture(self, path: Path) -> Path:
        """Write the whole screen as a PNG, and return its path."""
        self.run("import", "-window", "root", "-depth", "8", str(path))
        return path

    def pixels(self, box: tuple[int, int, int, int]) -> bytes:
        """Return a part of the screen (left, top, width, height) as bytes of RGB."""
        left, top, wide, high = box
        words = ["import", "-window", "root", "-crop", f"{wide}x{high}+{left}+{top}", "-depth", "8"]
        done = subprocess.run(
            [*words, "rgb:-"], env=self.environment, capture_output=True, check=True, timeout=60
        )
        return done.stdout

    def _start_server(self) -> str:
        read_end, write_end = os.pipe()
        wide, high = self.size
        display = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", f"{wide}x{high}x24"]
        process = subprocess.Popen(
            [*display, "-nolisten", "tcp", "-noreset"],
            pass_fds=(write_end,),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._processes.append(process)
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            return pipe.readline().strip()

    def _start(self, words: list[str], reads: bool = False) -> subprocess.Popen:
        process = subprocess.Popen(
            words,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if reads else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._processes.append(process)
        return process


_LEFT_OUT = re.compile(
    "WAYLAND_DISPLAY|QT_STYLE_OVERRIDE|QT_SCALE_FACTOR|PYTHONPATH|LANGUAGE|LC_.*|GRADSCRIBE_.*"
)
