"""Two scripts compared on the command line."""

import json

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.engine.protocol import messages
from gradscribe.engine.run import run

BASE = "a = param(2.0)\nb = a * 3\nc = b.log()\nc.backward()\n"


@pytest.fixture
def here(monkeypatch):
    """Record in this process: an engine of its own is tested elsewhere."""

    def record_source(source, *, filename, device="cpu", timeout=60.0, policy=False, **_):
        return run.execute(messages.Run(0, source, device=device, timeout=timeout, policy=policy))

    monkeypatch.setattr("gradscribe.app.cli.record.record_source", record_source)


@pytest.fixture
def scripts(tmp_path, here):
    def write(*sources):
        paths = []
        for n, source in enumerate(sources):
            path = tmp_path / f"run{n}.py"
            path.write_text(source, encoding="utf-8")
            paths.append(str(path))
        return paths

    return write


def test_the_cause_is_printed_first_with_what_follows(scripts, capsys):
    paths = scripts(BASE, BASE.replace("b.log()", "b.exp()"))
    assert command_line.main(["compare", *paths]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"left {paths[0]}, right {paths[1]}"
    assert told[1] == "line 3: log → exp"
    assert told[2] == "  2 gradients and 1 value differ because of it"


def test_equal_runs_end_with_0(scripts, capsys):
    assert command_line.main(["compare", *scripts(BASE, BASE)]) == 0
    assert "Both runs are the same" in capsys.readouterr().out


def test_json_goes_to_a_file_or_to_the_terminal_alone(scripts, tmp_path, capsys):
    paths = scripts(BASE, BASE.replace("* 3", "* 4"))
    assert command_line.main(["compare", *paths, "--json", "-"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert made["causes"][0]["title"] == "line 2: mul 3 → 4"
    assert command_line.main(["compare", *paths, "--json", str(tmp_path / "out.json")]) == 1
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == made
    assert "mul 3 → 4" in capsys.readouterr().out


def test_a_script_that_fails_is_compared_up_to_there(scripts, capsys):
    paths = scripts(BASE, BASE.replace("b.log()", "b @ b"))
    assert command_line.main(["compare", *paths]) == 1
    told = capsys.readouterr()
    assert "right fails" in told.out
    assert "run1.py:3" in told.err


def test_nothing_is_compared_where_a_script_is_refused(scripts, capsys):
    paths = scripts(BASE, "import os\n" + BASE)
    assert command_line.main(["compare", *paths]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "--trust" in told.err
    assert command_line.main(["compare", *paths, "--trust"]) == 0


@pytest.mark.parametrize("extra", [["--timeout", "0"], ["--timeout", "nan"]])
def test_bad_limits_are_refused(scripts, extra, capsys):
    assert command_line.main(["compare", *scripts(BASE, BASE), *extra]) == 2
    assert "above 0" in capsys.readouterr().err
