"""Bad input of ``--send``: one line each, before anything is started."""

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.exit_codes import REFUSED
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.link.remote import ask

PYTHON = Interpreter("/env/bin/python", "3.12.1", "2.9.0", host="ssh://lab")


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script that is never started, and a machine that is not reached."""
    path = tmp_path / "script.py"
    path.write_text("raise SystemExit")
    monkeypatch.setattr(ask, "ask_machine", lambda _address: ask.Machine(PYTHON))
    return str(path)


@pytest.mark.parametrize("command", ["record", "doctor"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--send table.csv --trust", "--send needs --engine"),
        ("--send table.csv --engine ssh://lab", "--send needs --trust"),
        ("--send table.csv --engine ssh://lab --trust", "There is no table.csv to send"),
        ("--send / --engine ssh://lab --trust", "/ is not in the folder of script.py"),
    ],
)
def test_it_is_refused_in_one_line(script, capsys, command, options, words):
    assert command_line.main([command, script, *options.split()]) == REFUSED
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert words in told
