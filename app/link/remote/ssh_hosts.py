"""Names of machines in the user's ssh configuration."""

import glob
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from gradscribe.app.link.remote import ssh_command

MOST_HOSTS = 200
MOST_FILES = 50
MOST_BYTES = 1 << 20
"""Most bytes of one file."""


def configured_hosts() -> list[str]:
    """Return the names after ``Host`` that are no patterns, in the order of the configuration.

    ``Include`` is followed; what cannot be read is left out.
    """
    file = ssh_command.config_file()
    names = dict.fromkeys(_names(file, Path.home() / ".ssh", set()))
    return list(names)[:MOST_HOSTS]


def _names(file: Path, folder: Path, seen: set[Path]) -> Iterator[str]:
    place = file.resolve()
    if place in seen or len(seen) >= MOST_FILES:
        return
    seen.add(place)
    try:
        with file.open("rb") as stream:
            text = stream.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        key, words = _words(line)
        if key == "host":
            yield from (word for word in words if not {*word} & {*"*?!"} and word[:1] != "-")
        elif key == "include":
            for word in words:
                # A relative name is one in the folder of the user's configuration.
                pattern = os.path.join(folder, os.path.expanduser(word))
                for found in sorted(glob.glob(pattern)):
                    yield from _names(Path(found), folder, seen)


def _words(line: str) -> tuple[str, list[str]]:
    """Return the keyword of a line, in small letters, and its words."""
    try:
        words = shlex.split(re.sub(r"^(\s*\w+)\s*=", r"\1 ", line), comments=True)
    except ValueError:
        return "", []
    return (words[0].lower(), words[1:]) if words else ("", [])
