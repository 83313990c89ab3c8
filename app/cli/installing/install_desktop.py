"""``gradscribe install-desktop``: a menu entry, icons, and files that open with a double click.

It copies the files of ``assets/desktop`` into the user's data folder, where the specifications of
freedesktop.org look for them, and asks the system's own tools to read them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from gradscribe.app.cli.terminal import say
from gradscribe.app.files import atomic
from gradscribe.app.files.documents import Refused

ENTRY, TYPES = Path("applications/gradscribe.desktop"), Path("mime/packages/gradscribe.xml")
ICONS = Path("icons/hicolor")
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
"""Sizes of the icon that are written as pictures, in pixels; not every desktop scales."""
SOURCES = Path(str(resources.files("gradscribe.assets"))) / "desktop"
"""The files as they are in the source, and as a package of the system installs them."""
TOOLS = (("update-mime-database", "mime"), ("update-desktop-database", "applications"))
"""Programs that read the files, where the desktop has them, each with the folder that it reads."""
TOOL_S = 60.0
_RESERVED = frozenset(" \t\n\"'\\><~|&;$*?#()`%")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Add Gradscribe to the desktop's menu, let recorded runs, watched loops and training "
        "sessions open with a double click, and offer it for scripts and set-ups. Linux only; "
        "nothing outside your data folder changes."
    )
    parser.add_argument("--uninstall", action="store_true", help="remove what it added")


def run(options: argparse.Namespace) -> int:
    """Write the files or remove them; return the exit code."""
    if sys.platform in ("win32", "darwin"):
        raise Refused("install-desktop is for desktops on Linux")
    folder = data_folder()
    if options.uninstall:
        removed = [file for file in (ENTRY, TYPES, *icon_files()) if _remove(folder / file)]
        what = ", ".join(map(str, removed[:2])) + (" and the icons" if removed[2:] else "")
        say(f"Removed {what} from {folder}\n" if removed else f"Nothing to remove in {folder}\n")
    else:
        for file, text in ((ENTRY, entry_text()), (TYPES, _source("gradscribe.xml"))):
            _write(folder / file, text.encode())
            say(f"Wrote {folder / file}\n")
        for file, size in icon_files().items():
            _write(folder / file, icon(size))
        say(f"Wrote the icons in {folder / ICONS}\n")
    for tool, place in TOOLS:
        if (folder / place).is_dir():
            _update_database(tool, folder / place)
    return 0


def data_folder() -> Path:
    """Return the folder of the user's data: ``XDG_DATA_HOME``, else its default."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"


def entry_text(program: Sequence[str] = ()) -> str:
    """Return the entry of the menu, which starts ``program``, by default with this Python."""
    words = program or (sys.executable, "-P", "-m", "gradscribe")
    command = f"Exec={' '.join(map(quoted, words))}"
    text = _source("gradscribe.desktop")
    return re.sub(r"^Exec=gradscribe", lambda _: command, text, flags=re.MULTILINE)


def icon_files() -> dict[Path, int]:
    """Return the icon's files by their places, with their sizes; 0 for the one of any size."""
    files = {ICONS / f"{size}x{size}" / "apps" / "gradscribe.png": size for size in SIZES}
    return {**files, ICONS / "scalable" / "apps" / "gradscribe.svg": 0}


def icon(size: int) -> bytes:
    """Return the icon as a PNG of that size in pixels; as SVG for 0."""
    data = (SOURCES / "gradscribe.svg").read_bytes()
    if not size:
        return data
    # Qt is loaded for this alone.
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    with QPainter(image) as painter:
        QSvgRenderer(QByteArray(data)).render(painter)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _source(name: str) -> str:
    return (SOURCES / name).read_text("utf-8")


def quoted(word: str) -> str:
    """Return a word of a command as the key ``Exec`` has it."""
    if not _RESERVED & {*word}:
        return word
    inner = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in word)
    # A percent sign begins a field; each backslash is doubled, as in all texts of the format.
    return '"' + inner.replace("%", "%%").replace("\\", "\\\\") + '"'


def _write(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(file, data)
    except OSError as error:
        raise Refused(f"{file} cannot be written: {error.strerror or error}") from error


def _remove(file: Path) -> bool:
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Refused(f"{file} cannot be removed: {error.strerror or error}") from error
    return True


def _update_database(tool: str, folder: Path) -> None:
    """Let the desktop read its files again; one without this tool reads them by itself."""
    path = shutil.which(tool)
    if path is None:
        return
    try:
        done = subprocess.run(
            [path, str(folder)], capture_output=True, text=True, timeout=TOOL_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"{tool} failed: {error}\n")
        return
    if done.returncode:
        say(f"{tool} failed: {(done.stderr.strip().splitlines() or [''])[-1]}\n")
