"""The machines that a user's ssh configuration names."""

import pytest

from gradscribe.app.link.remote import ssh_command, ssh_hosts


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / ".ssh").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv(ssh_command.CONFIG_VARIABLE, raising=False)
    return tmp_path / ".ssh"


def test_names_are_listed_without_patterns_and_with_included_files(home):
    (home / "config").write_text(
        "# Host no\nInclude parts/* gone\nHost gpu  lab.example *.example !bad web?\n  Port 22\n"
        'host=alpha\nHOST "beta" # remark\nHost gpu -oProxyCommand=x\nMatch host x\nHost "open\n'
    )
    (home / "parts").mkdir()
    (home / "parts" / "a").write_text("Host first\nInclude ~/.ssh/config\n")
    (home / "parts" / "b").write_bytes(b"Host \xff second\n")
    found = ssh_hosts.configured_hosts()
    assert found[:1] == ["first"]
    assert found[2:] == ["second", "gpu", "lab.example", "alpha", "beta"]


def test_without_a_configuration_there_are_none(home):
    assert ssh_hosts.configured_hosts() == []
    (home / "config").mkdir()
    assert ssh_hosts.configured_hosts() == []


def test_a_configuration_without_end_is_cut(home):
    (home / "config").write_text("".join(f"Host h{number}\n" for number in range(10_000)))
    assert ssh_hosts.configured_hosts() == [f"h{number}" for number in range(200)]
