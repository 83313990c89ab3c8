"""``gradscribe install-desktop``: a menu entry, and files that open with a double click.

It writes two files into the user's data folder, as the desktop specifications of freedesktop.org
lay down, and asks the system's own tools to read them.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

from gradscribe.app.cli.terminal import say
from gradscribe.app.files import atomic, documents, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol import tape_file, watch_file

KINDS = (
    ("tape", "Recorded run of a PyTorch program", tape_files.SUFFIX, tape_file.MAGIC.decode()),
    ("watch", "Watched training loop", watch_file.SUFFIX, watch_file.MAGIC.decode().split()[0]),
    ("session", "Training session of Gradscribe", documents.SESSION_SUFFIX, ""),
)
"""Name, title, suffix of each kind of file, and the text that it begins with; empty for none."""
ENTRY, TYPES = Path("applications/gradscribe.desktop"), Path("mime/packages/gradscribe.xml")
TOOLS = (("update-mime-database", "mime"), ("update-desktop-database", "applications"))
"""Programs that read the files, where the desktop has them, each with the folder that it reads."""
TOOL_S = 60.0
_RESERVED = frozenset(" \t\n\"'\\><~|&;$*?#()`%")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Add Gradscribe to the desktop's menu, and let recorded runs, watched loops and training "
        "sessions open with a double click. Linux only; nothing outside your data folder changes."
    )
    parser.add_argument("--uninstall", action="store_true", help="remove what it added")


def run(options: argparse.Namespace) -> int:
    """Write the files or remove them; return the exit code."""
    if sys.platform in ("win32", "darwin"):
        raise Refused("install-desktop is for desktops on Linux")
    folder = data_folder()
    if options.uninstall:
        removed = [file for file in (ENTRY, TYPES) if _remove(folder / file)]
        names = ", ".join(map(str, removed))
        say(f"Removed {names} from {folder}\n" if removed else f"Nothing to remove in {folder}\n")
    else:
        for file, text in ((ENTRY, entry_text()), (TYPES, types_text())):
            _write(folder / file, text)
            say(f"Wrote {folder / file}\n")
    for tool, place in TOOLS:
        if (folder / place).is_dir():
            _update_database(tool, folder / place)
    return 0


def data_folder() -> Path:
    """Return the folder of the user's data: ``XDG_DATA_HOME``, else its default."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"


def entry_text() -> str:
    """Return the entry of the menu; it starts the Python that runs this."""
    kinds = "".join(f"{mime_type(name)};" for name, *_ in KINDS)
    command = " ".join(map(quoted, (sys.executable, "-P", "-m", "gradscribe")))
    return (
        "[Desktop Entry]\nType=Application\nName=Gradscribe\nGenericName=PyTorch playground\n"
        f"Comment=See PyTorch run forward and backward\nExec={command} %f\nTerminal=false\n"
        f"Categories=Education;ArtificialIntelligence;\nMimeType={kinds}\n"
    )


def types_text() -> str:
    """Return the declaration of the kinds of files, as shared-mime-info reads it."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">',
    ]
    for name, title, suffix, begins in KINDS:
        lines.append(f"  <mime-type type={quoteattr(mime_type(name))}>")
        lines.append(f"    <comment>{title}</comment>")
        if begins:
            match = f'<match type="string" offset="0" value={quoteattr(begins)}/>'
            lines.append(f'    <magic priority="60">{match}</magic>')
        lines.append(f"    <glob pattern={quoteattr('*' + suffix)}/>")
        lines.append("  </mime-type>")
    return "\n".join([*lines, "</mime-info>", ""])


def mime_type(name: str) -> str:
    """Return the type of a kind of file."""
    return f"application/vnd.gradscribe.{name}"


def quoted(word: str) -> str:
    """Return a word of a command as the key ``Exec`` has it."""
    if not _RESERVED & {*word}:
        return word
    inner = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in word)
    # A percent sign begins a field; each backslash is doubled, as in all texts of the format.
    return '"' + inner.replace("%", "%%").replace("\\", "\\\\") + '"'


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(file, text.encode())
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
