"""System libraries that Qt loads on Linux, and why it does not start without them.

Imports the standard library alone when it is loaded: set-up reads the tables before anything is
installed.
"""

import ctypes
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

OFFSCREEN = {
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
}
"""Libraries that QtCore and QtGui link to, with Debian's package for each."""

X11 = OFFSCREEN | {
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
}
"""Libraries for windows under X."""

WAYLAND = OFFSCREEN | {
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
"""Libraries for windows under Wayland alone."""

CANNOT_START = 2
"""Exit code of a program that Qt ends because it has no window system."""
_UNLOADABLE = re.compile(r"(lib[\w.+-]+\.so[\w.]*): (?:cannot open|file too short|invalid ELF)")
_NO_DISPLAY = "could not connect to display"
_NO_PLUGIN = "no Qt platform plugin could be initialized"


def loads(library: str) -> bool:
    """Return whether the dynamic loader finds ``library``."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing_libraries(
    libraries: Mapping[str, str], loads: Callable[[str], bool] = loads
) -> dict[str, str]:
    """Return those of the ``libraries`` that the dynamic loader cannot find."""
    return {name: package for name, package in libraries.items() if not loads(name)}


def install_advice(libraries: Mapping[str, str]) -> str:
    """Return the command that installs ``libraries``, as a user of this system would type it."""
    debian = f"sudo apt-get install {' '.join(libraries.values())}"
    if shutil.which("apt-get"):
        return f"run {debian}"
    # Packages of these systems declare the libraries that they bring.
    declared = " ".join(f"'{name}()(64bit)'" for name in libraries)
    for tool in ("dnf", "zypper"):
        if shutil.which(tool):
            return f"run sudo {tool} install {declared}"
    names = ", ".join(libraries)
    return f"install {names} with your package manager (on Debian and Ubuntu: {debian})"


def import_failure(error: ImportError) -> str:
    """Return a line for a library that a module of Qt lacks; empty for another error."""
    found = _UNLOADABLE.search(str(error))
    if found is None:
        return ""
    missing = missing_libraries(_for_display()) or {found[1]: found[1]}
    return f"Qt needs system libraries: {install_advice(missing)}"


@contextmanager
def explained_abort(end: Callable[[int], None] = os._exit) -> Iterator[None]:
    """End the program with one line and exit code 2 where Qt would abort it in this block.

    Qt ends the process if it cannot load the plug-in of a window system or has no connection to
    one. It says so to the message handler first; there is no other place to step in.
    """
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

    lines: list[str] = []

    def note(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        if kind == QtMsgType.QtFatalMsg and _NO_PLUGIN in text:
            sys.stderr.write(f"gradscribe: {abort_reason(lines)}\n")
            sys.stderr.flush()
            end(CANNOT_START)
        lines.append(text)
        if kind == QtMsgType.QtFatalMsg:
            sys.stderr.write(f"{text}\n")

    before = qInstallMessageHandler(note)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
        sys.stderr.write("".join(f"{line}\n" for line in lines))


def abort_reason(messages: list[str]) -> str:
    """Return why Qt has no window system, from what it wrote before it gave up."""
    unreachable = next((text for text in messages if _NO_DISPLAY in text), None)
    if unreachable is not None:
        name = unreachable.partition(_NO_DISPLAY)[2].strip() or "this display"
        return (
            f"no window can be opened on {name}: no display answers there, or it refuses you; "
            "over ssh connect with ssh -X, or use gradscribe --headless"
        )
    problems = {name: problem for name in ("xcb", "wayland") if (problem := plugin_problem(name))}
    name = next((name for name in problems if any(f'"{name}"' in text for text in messages)), "")
    if name:
        missing = missing_libraries(X11 if name == "xcb" else WAYLAND)
        found = _UNLOADABLE.search(problems[name])
        missing = missing or ({found[1]: found[1]} if found else {})
        if missing:
            return f"Qt needs system libraries to open a window: {install_advice(missing)}"
        return f"Qt cannot load its plug-in {name}: {problems[name]}"
    last = " ".join((messages or [_NO_PLUGIN])[-1].split())
    return f"Qt opens no window here ({last}); gradscribe --headless does without"


def plugin_problem(name: str) -> str:
    """Return the loader's message for a plug-in of a window system; empty if it loads."""
    from PySide6.QtCore import QLibraryInfo

    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms"
    for file in sorted(folder.glob(f"libq{name}*.so")):
        try:
            ctypes.CDLL(str(file))
        except OSError as error:
            return str(error)
    return ""


def _for_display() -> Mapping[str, str]:
    if os.environ.get("DISPLAY"):
        return X11
    return WAYLAND if os.environ.get("WAYLAND_DISPLAY") else OFFSCREEN
