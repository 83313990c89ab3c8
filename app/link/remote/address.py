"""Addresses of Pythons on other machines: ``ssh://user@host:port/path/to/python``."""

import re
import shlex

from msgspec import Struct

from gradscribe.playback.translation import tr

SCHEME = "ssh://"
DEFAULT_PYTHON = "python3"
EXAMPLE = "ssh://user@host/path/to/python"
_PLACE = re.compile(
    r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[^@/:\s\[\]]+)(?::(?P<port>\d+))?"
)


class BadAddress(ValueError):
    """Raised for what is no address; the message is a line for the user."""


class Address(Struct, frozen=True):
    """A Python on another machine. ``host`` may be a name of the user's ssh configuration."""

    host: str
    user: str = ""
    port: int = 0
    """0: as the ssh configuration says."""
    python: str = DEFAULT_PYTHON
    """Its path there; one that begins with ``~/`` is in the user's home."""

    @property
    def place(self) -> str:
        """The machine as a user names it: ``user@host:port``."""
        port = f":{self.port}" if self.port else ""
        return f"{self.target}{port}"

    @property
    def target(self) -> str:
        """The machine as ssh takes it: ``user@host``."""
        return f"{self.user}@{self.host}" if self.user else self.host

    @property
    def machine(self) -> str:
        """The address without the Python."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        user, port = f"{self.user}@" if self.user else "", f":{self.port}" if self.port else ""
        return f"{SCHEME}{user}{host}{port}"

    @property
    def url(self) -> str:
        """The whole address."""
        path = self.python if self.python.startswith("/") else f"/{self.python}"
        return f"{self.machine}{path}"

    @property
    def shell_python(self) -> str:
        """The Python as a word for the shell there."""
        if self.python.startswith("~/"):
            return "~/" + shlex.quote(self.python[2:])
        return shlex.quote(self.python)


def parse(text: str) -> Address:
    """Return the address in a text.

    Without a path it is the ``python3`` that the machine finds; ``/~/`` begins a path in the home.

    Raises:
        BadAddress: the text is no address.
    """
    if not text.startswith(SCHEME):
        raise BadAddress(
            tr("{text} is no address of an engine: write {example}", text=text, example=EXAMPLE)
        )
    place, _, path = text.removeprefix(SCHEME).partition("/")
    found = _PLACE.fullmatch(place)
    # What begins with a hyphen would be an option of ssh.
    if found is None or place.startswith("-") or found["host"].startswith("-"):
        raise BadAddress(tr("{text} names no machine: write {example}", text=text, example=EXAMPLE))
    port = int(found["port"] or 0)
    if found["port"] and not 0 < port < 1 << 16:
        raise BadAddress(tr("{text} has a port that is none: ports are 1 to 65535", text=text))
    if not path.isprintable():
        raise BadAddress(tr("{text!r} has a path that is none", text=text))
    python = path if path.startswith("~/") or not path else f"/{path}"
    if path and "/" not in path.removeprefix("~/") and not path.startswith("~/"):
        python = path  # ssh://host/python3.12: a program that the machine finds.
    host = found["host"].strip("[]")
    return Address(host, found["user"] or "", port, python.rstrip("/") or DEFAULT_PYTHON)
