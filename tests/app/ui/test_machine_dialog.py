"""The dialog for a machine and a Python on it."""

import shutil

import pytest
from PySide6.QtWidgets import QDialogButtonBox

from gradscribe.app.link.remote import ssh_command
from gradscribe.app.ui.machine_dialog import MachineDialog

OK = QDialogButtonBox.StandardButton.Ok


@pytest.fixture
def make(qtbot, tmp_path, monkeypatch):
    config = tmp_path / "config"
    config.write_text("Host gpu\n  HostName 10.0.0.7\n  User user\n  Port 2200\nHost lab\n")
    monkeypatch.setenv(ssh_command.CONFIG_VARIABLE, str(config))
    made = []

    def dialog(address=""):
        one = MachineDialog(None, address)
        qtbot.addWidget(one)
        made.append(one)
        return one

    yield dialog
    for one in made:
        one._later.stop()
        one._worker.close()


def test_it_offers_the_machines_of_the_configuration(make):
    dialog = make()
    assert [dialog.machine.itemText(at) for at in range(dialog.machine.count())] == ["gpu", "lab"]
    assert dialog.address().url == "ssh://gpu/python3"
    dialog.machine.setEditText("user@10.0.0.9:22")
    dialog.python.setText("~/venv/bin/python")
    assert dialog.address().url == "ssh://user@10.0.0.9:22/~/venv/bin/python"
    dialog.python.setText("/usr/bin/python3")
    assert dialog.address().python == "/usr/bin/python3"


@pytest.mark.skipif(not shutil.which("ssh"), reason="there is no OpenSSH client")
def test_it_says_where_ssh_connects_to(make, qtbot):
    dialog = make()
    told = "ssh connects to user@10.0.0.7, port 2200"
    qtbot.waitUntil(lambda: dialog.line.text() == told, timeout=20_000)


@pytest.mark.parametrize(
    ("machine", "words"),
    [("", "Name a machine"), ("a b", "names no machine"), ("-x", "no machine")],
)
def test_what_is_no_machine_is_said_and_cannot_be_agreed_to(make, machine, words):
    dialog = make()
    dialog.machine.setEditText(machine)
    assert dialog.address() is None
    assert not dialog.buttons.button(OK).isEnabled()
    assert words in dialog.line.text()
    dialog.machine.setEditText("lab")
    assert dialog.buttons.button(OK).isEnabled()


def test_it_begins_with_what_is_chosen(make):
    dialog = make("ssh://user@lab:2222/~/venv/bin/python")
    assert dialog.machine.currentText() == "user@lab:2222"
    assert dialog.address().url == "ssh://user@lab:2222/~/venv/bin/python"
