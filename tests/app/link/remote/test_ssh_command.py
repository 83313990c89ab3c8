"""The OpenSSH client: its command line, and what its errors mean."""

import shutil
import subprocess

import pytest

from gradscribe.app.link.remote import ssh_command
from gradscribe.app.link.remote.address import parse

LAB = parse("ssh://user@lab:2222/py/bin/python")
needs_ssh = pytest.mark.skipif(not shutil.which("ssh"), reason="there is no OpenSSH client")


def test_the_machine_is_never_taken_for_an_option():
    words = ssh_command.arguments(LAB, "true")
    assert words[-3:] == ["--", "user@lab", "true"]
    assert words[words.index("-p") + 1] == "2222"


@needs_ssh
def test_no_port_listens_and_nothing_is_asked_whatever_the_configuration_says(
    tmp_path, monkeypatch
):
    config = tmp_path / "config"
    config.write_text(
        "Host lab\n  LocalForward 9999 localhost:1\n  DynamicForward 9998\n  ForwardAgent yes\n"
        "  RequestTTY force\n  RemoteCommand reboot\n  BatchMode no\n  ControlMaster auto\n"
    )
    monkeypatch.setenv(ssh_command.CONFIG_VARIABLE, str(config))
    words = ssh_command.arguments(LAB, "true")
    done = subprocess.run(
        [words[0], "-G", *words[1:-1]], capture_output=True, text=True, check=True
    )
    said = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    assert said["clearallforwardings"] == "yes"
    assert said["batchmode"] == "yes"
    assert said["forwardagent"] == "no"
    assert said["requesttty"] == "false"
    assert said["controlmaster"] == "false"
    assert said.get("remotecommand", "none") == "none"


@pytest.mark.parametrize(
    ("code", "errors", "words"),
    [
        (255, "user@lab: Permission denied (publickey,password).", "ssh-copy-id -p 2222 user@lab"),
        (255, "Host key verification failed.", "connect once with ssh -p 2222 user@lab"),
        (255, "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nx", "another host key"),
        (255, "ssh: Could not resolve hostname lab: Name or", "There is no machine named lab"),
        (255, "ssh: connect to host lab port 22: Connection refused", "refuses connections"),
        (255, "ssh: connect to host lab port 22: No route to host", "does not answer"),
        (255, "Timeout, server lab not responding.", "lab:2222 hung up"),
        (255, "client_loop: send disconnect: Broken pipe", "hung up"),
        (255, "cfg: line 3: Bad configuration option: x\ncfg: terminating, 1 bad", "cfg: line 3"),
        (255, "", "user@lab:2222 hung up"),
        (127, "sh: 1: /py/bin/python: not found", "has no Python at /py/bin/python"),
        (1, "bash: line 1: /py/bin/python: No such file or directory", "has no Python at"),
        (126, "sh: /py/bin/python: Permission denied", "/py/bin/python on user@lab:2222 cannot be"),
    ],
)
def test_an_error_is_one_line_in_the_words_of_the_user(code, errors, words):
    line = ssh_command.reason(LAB, code, errors)
    assert words in line
    assert "\n" not in line


@needs_ssh
def test_a_name_is_resolved_by_ssh_itself(tmp_path, monkeypatch):
    config = tmp_path / "config"
    config.write_text("Host gpu\n  HostName 10.0.0.7\n  Port 2200\n  User user\n")
    monkeypatch.setenv(ssh_command.CONFIG_VARIABLE, str(config))
    assert ssh_command.resolved("gpu") == {"hostname": "10.0.0.7", "user": "user", "port": "2200"}


def test_without_a_client_nothing_is_resolved(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ssh_command.resolved("gpu") == {}
