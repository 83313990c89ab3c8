"""Bad input of ``record --ranks``: one line each, before anything is started."""

import shlex

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.exit_codes import REFUSED


@pytest.fixture
def script(tmp_path):
    """A script that is never started."""
    path = tmp_path / "script.py"
    path.write_text("raise SystemExit")
    return str(path)


@pytest.mark.parametrize("count", ["0", "-1", "65", "1e3", "two", "9" * 400, "²"])
def test_an_impossible_number_of_ranks_is_refused_in_one_line(count, script, capsys):
    with pytest.raises(SystemExit) as ended:
        command_line.main(["record", f"--ranks={count}", "--trust", script])
    assert ended.value.code == REFUSED
    assert f"{count[:20]} is not a number of ranks, 1 to 64" in capsys.readouterr().err


def test_without_trust_nothing_starts(script, capsys):
    assert command_line.main(["record", "--ranks", "2", script]) == REFUSED
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith(f"gradscribe record --ranks 2 --trust {script}\n")


def test_the_command_to_use_has_what_was_asked_for(script, capsys, tmp_path):
    tape = str(tmp_path / "a b.tape")
    words = ["--ranks", "2", "--tape", tape, "--timeout", "5", script, "--", "--lr", "0.1"]
    assert command_line.main(["record", *words]) == REFUSED
    command = capsys.readouterr().err.split(": ")[-1]
    options = command_line.parse(shlex.split(command)[1:])
    assert options.trust
    assert (options.tape, options.timeout, options.ranks) == (tape, 5.0, 2)
    assert (options.script, options.arguments) == (script, ["--lr", "0.1"])


def test_arguments_of_the_script_are_told_from_options(script):
    options = command_line.parse(["record", script, "a", "b", "--ranks", "3", "--trust"])
    assert (options.arguments, options.ranks) == (["a", "b"], 3)
    options = command_line.parse(["record", "--ranks", "3", script, "--", "--lr", "0.1"])
    assert options.arguments == ["--lr", "0.1"]
