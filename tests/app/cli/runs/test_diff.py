"""Two saved runs are compared without running anything."""

import json
from pathlib import Path

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.exit_codes import REFUSED
from gradscribe.app.cli.runs import diff
from gradscribe.app.compare.controller import CompareCard
from gradscribe.app.files import tape_files
from gradscribe.engine.run import run as engine_run

BASE = "a = param(2.0)\nb = a * 3\nc = b.log()\nc.backward()\n"
OTHER = BASE.replace("b.log()", "b.exp()")


@pytest.fixture
def saved(tmp_path):
    def write(name, source, seed=0):
        tape = engine_run.record(source, seed=seed)
        path = tmp_path / name
        program = tape_files.describe(source, f"{path.stem}.py", seed, tape)
        path.write_bytes(b"".join(tape_files.encode(program, tape)))
        return str(path)

    return write


def test_what_differs_is_printed_with_its_line_and_where_each_run_comes_from(saved, capsys):
    names = saved("left.tape", BASE), saved("right.tape", OTHER, seed=7)
    assert command_line.main(["diff", *names]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"left {names[0]}: Recorded on ")
    assert "seed: 0 → 7" in out
    assert "the programs differ" in out
    assert "line 3: log → exp" in out


def test_a_run_does_not_differ_from_itself(saved, capsys):
    name = saved("left.tape", BASE)
    assert command_line.main(["diff", name, name]) == 0
    assert "→" not in capsys.readouterr().out


def test_the_differences_are_written_as_json(saved, capsys):
    names = saved("left.tape", BASE), saved("right.tape", OTHER)
    assert command_line.main(["diff", *names, "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["causes"][0]["lines"] == [3, 3]


def test_a_file_without_its_numbers_is_refused_and_one_with_them_is_compared(
    saved, tmp_path, capsys
):
    name = saved("left.tape", BASE)
    data = (tmp_path / "left.tape").read_bytes()
    cut = tmp_path / "cut.tape"
    cut.write_bytes(data[:-200])
    assert command_line.main(["diff", name, str(cut)]) == REFUSED
    assert "cannot be compared: it is cut" in capsys.readouterr().err
    cut.write_bytes(data[:-1])
    assert command_line.main(["diff", name, str(cut)]) == 0
    assert "is not whole" in capsys.readouterr().err


def test_a_script_is_no_saved_run(saved, tmp_path, capsys):
    script = tmp_path / "a.py"
    script.write_text(BASE)
    assert command_line.main(["diff", str(script), str(script)]) == REFUSED
    assert "not a recorded run" in capsys.readouterr().err


def test_names_of_a_hostile_file_send_nothing_to_the_terminal(saved, tmp_path, capsys):
    tape = engine_run.record(BASE)
    path = tmp_path / "a.tape"
    program = tape_files.describe(BASE, "a", 0, tape)
    program = type(program)(BASE, "a", torch="\x1b]0;gone\x07")
    path.write_bytes(b"".join(tape_files.encode(program, tape)))
    command_line.main(["diff", str(path), saved("b.tape", BASE)])
    assert "\x1b" not in capsys.readouterr().out


def test_both_runs_open_side_by_side(settled, saved):
    names = saved("left.tape", BASE), saved("right.tape", OTHER)
    diff.show(settled, tuple(tape_files.read(Path(name)) for name in names))
    card = settled.findChild(CompareCard)
    assert [cause.lines for cause in card.compared.causes] == [(3, 3)]
