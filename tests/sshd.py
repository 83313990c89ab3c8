"""A real ssh server on the loopback, with keys and configuration of its own, for tests."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradscribe.app.link.remote.ssh_command import CONFIG_VARIABLE

SEPARATION = Path("/run/sshd")
"""An empty folder that sshd needs when it is started by root."""


def server_path() -> str:
    """Return the path of sshd; it is in no ordinary user's PATH."""
    return shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin") or ""


def reason_to_skip() -> str:
    """Return why there can be no server here; empty if there can."""
    if sys.platform == "win32":
        return "the far side needs Unix sockets"
    if not (server_path() and shutil.which("ssh")):
        return "there is no OpenSSH server: apt-get install openssh-server"
    if os.getuid() == 0:
        try:
            SEPARATION.mkdir(mode=0o755, exist_ok=True)
        except OSError:
            return f"sshd needs {SEPARATION}"
    return ""


needs_sshd = pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip())


class Server:
    """A server that runs, and the configuration of a client that knows it as ``far``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache, self.temporary = folder / "cache", folder / "tmp"
        """The far side's folders for caches and for temporary files."""
        self.config = folder / "ssh_config"
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.temporary.mkdir()
        for name in ("host_key", "user_key", "other_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(command, check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized")
        host_key = (folder / "host_key.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {host_key}")
        (folder / "sshd_config").write_text(self._server_config())
        self.write_config()

    def _server_config(self) -> str:
        lines = {
            "Port": self.port,
            "ListenAddress": "127.0.0.1",
            "HostKey": self.folder / "host_key",
            "AuthorizedKeysFile": self.folder / "authorized",
            "PidFile": "none",
            "UsePAM": "no",
            "StrictModes": "no",
            "PermitRootLogin": "yes",
            "PasswordAuthentication": "no",
            "KbdInteractiveAuthentication": "no",
            "MaxStartups": "100",
            "SetEnv": f"XDG_CACHE_HOME={self.cache} TMPDIR={self.temporary} SECRET_TOKEN=s3cret",
        }
        return "".join(f"{key} {value}\n" for key, value in lines.items())

    def write_config(self, **more: object) -> None:
        """Write the client's configuration; ``more`` are further options for ``far``."""
        lines = {
            "HostName": "127.0.0.1",
            "Port": self.port,
            "User": getpass.getuser(),
            "IdentityFile": self.folder / "user_key",
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "UserKnownHostsFile": self.folder / "known",
            "GlobalKnownHostsFile": "none",
            "StrictHostKeyChecking": "ask",
            # The quickest to compute.
            "KexAlgorithms": "curve25519-sha256",
            **more,
        }
        text = "".join(f"  {key} {value}\n" for key, value in lines.items())
        self.config.write_text(f"Host far\n{text}")

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        command = [server_path(), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if b"listening" in line.lower():
                return
        raise RuntimeError("sshd does not start")

    def stop(self) -> None:
        """Stop it; connections that it has stay."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process = None

    def sessions(self) -> list[Path]:
        """Return the folders of the sessions on the far side."""
        return sorted(self.temporary.glob("gradscribe-*/*"))

    def url(self, python: str | Path = sys.executable) -> str:
        """Return the address of a Python on it."""
        return f"ssh://far{python}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Run a server in ``folder`` and let clients of this process use its configuration."""
    server = Server(folder)
    server.start()
    patch = pytest.MonkeyPatch()
    patch.setenv(CONFIG_VARIABLE, str(server.config))
    try:
        yield server
    finally:
        patch.undo()
        server.stop()
