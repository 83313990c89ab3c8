"""The system's OpenSSH client: its command line, and its errors in the user's words."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from gradscribe.app.link.remote.address import Address
from gradscribe.playback.translation import tr

CONFIG_VARIABLE = "GRADSCRIBE_SSH_CONFIG"
"""Environment variable with the path of an ssh configuration to use in place of the user's."""
CONNECT_S = 10
ALIVE_S, ALIVE_COUNT = 5, 3
"""Seconds between signs of life of a line, and how many may be missing before it is lost."""
OPTIONS = {
    # It asks for nothing: there is nobody at its terminal.
    "BatchMode": "yes",
    "ConnectTimeout": str(CONNECT_S),
    "ServerAliveInterval": str(ALIVE_S),
    "ServerAliveCountMax": str(ALIVE_COUNT),
    # What the configuration adds for a terminal: ports that listen, a screen, a command.
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "RequestTTY": "no",
    "Tunnel": "no",
    # A master would stay with this side's pipes open; one that runs already is used.
    "ControlMaster": "no",
}
_ERRORS = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        tr("{place} has another host key than before: if that is right, ssh-keygen -R {host}"),
    ),
    (
        r"Host key verification failed|No \S+ host key is known",
        tr("{place} is unknown: connect once with ssh {ssh} and check its host key"),
    ),
    (
        r"Permission denied|Too many authentication failures|No more authentication methods",
        tr(
            "{place} accepts no key of yours and asks for "
            "a password: give it one by ssh-copy-id {ssh}"
        ),
    ),
    (
        r"Could not resolve hostname|Name or service not known|nodename nor servname",
        tr("There is no machine named {host}"),
    ),
    (r"Connection refused", tr("{place} refuses connections: no ssh server answers there")),
    (r"[Tt]imed out|No route to host|unreachable|Host is down", tr("{place} does not answer")),
    (r"Bad configuration option|Bad owner or permissions|terminating, \d+ bad", "{line}"),
    (r"Connection (?:closed|reset)|Broken pipe|kex_exchange|[Dd]isconnect", tr("{place} hung up")),
)


def client() -> str:
    """Return the path of the OpenSSH client; empty without one."""
    return shutil.which("ssh") or ""


def config_options() -> list[str]:
    """Return the options that name the ssh configuration; none for the user's own."""
    file = os.environ.get(CONFIG_VARIABLE, "")
    return ["-F", file] if file else []


def config_file() -> Path:
    """Return the path of the ssh configuration."""
    file = os.environ.get(CONFIG_VARIABLE, "")
    return Path(file) if file else Path.home() / ".ssh" / "config"


def arguments(address: Address, command: str) -> list[str]:
    """Return the command line that runs a command of the far shell."""
    options = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
    port = ["-p", str(address.port)] if address.port else []
    return [
        client() or "ssh",
        *config_options(),
        "-T",
        *options,
        *port,
        "--",
        address.target,
        command,
    ]


def typed(address: Address, *words: str) -> str:
    """Return a command for the far machine as a user would type it."""
    return " ".join(("ssh", _typed_place(address), *words))


def _typed_place(address: Address) -> str:
    port = f"-p {address.port} " if address.port else ""
    return f"{port}{address.target}"


def reason(address: Address, code: int, errors: str) -> str:
    """Return one line that says why a connection failed.

    Args:
        address: the machine.
        code: the exit code of ssh, which is that of the command if it is not 255.
        errors: what was written to its standard error.
    """
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    last = lines[-1][:200] if lines else ""
    names = {"place": address.place, "host": address.host, "ssh": _typed_place(address)}
    if code == 255:
        for pattern, words in _ERRORS:
            if found := next((line for line in lines if re.search(pattern, line)), ""):
                return words.format(line=found[:200], **names)
    if code == 127 or re.search(r"not found|No such file", last):
        return tr("{place} has no Python at {python}", place=address.place, python=address.python)
    if code == 126:
        return tr(
            "{python} on {place} cannot be run: {last}",
            python=address.python,
            place=address.place,
            last=last,
        )
    return tr("{place} hung up", place=address.place) + (f": {last}" if last else "")


def resolved(name: str) -> dict[str, str]:
    """Return how ssh understands the name of a machine: ``hostname``, ``user``, ``port``.

    Empty if it cannot say it.
    """
    try:
        done = subprocess.run(
            [client() or "ssh", *config_options(), "-G", "--", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CONNECT_S,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0)
            if sys.platform == "win32"
            else 0,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = (line.partition(" ") for line in done.stdout.decode(errors="replace").splitlines())
    return {key: value for key, _, value in lines if key in ("hostname", "user", "port")}
