"""The doctor on the command line."""

import json

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.record import ProgramRecorder
from gradscribe.engine.doctor.fix_trial import outcome_of
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.run import run

SICK = "x = param([1.0, 2.0])\ny = x**2\ny.sum().backward()\nprint(y.grad)\n"


@pytest.fixture
def here(monkeypatch):
    """Record in this process: an engine of its own is tested elsewhere."""

    def record_source(
        source,
        *,
        filename,
        device="cpu",
        timeout=60.0,
        policy=False,
        is_open=False,
        interpreter=None,
    ):
        assert interpreter is None
        asked.append((policy, is_open))
        return run.execute(messages.Run(0, source, device=device, timeout=timeout, policy=policy))

    asked: list[tuple[bool, bool]] = []

    def outcome(self, request):
        return outcome_of(run.execute(request), request.source)

    monkeypatch.setattr("gradscribe.app.cli.record.record_source", record_source)
    monkeypatch.setattr(ProgramRecorder, "outcome", outcome)
    return asked


def script(tmp_path, source):
    path = tmp_path / "script.py"
    path.write_text(source, encoding="utf-8")
    return str(path)


def test_findings_are_told_with_line_measure_reason_and_mended_lines(here, tmp_path, capsys):
    path = script(tmp_path, SICK)
    assert command_line.main(["doctor", path]) == 1
    told = capsys.readouterr().out
    assert f"{path}:4: A computed tensor keeps no gradient [grad-of-non-leaf]\n" in told
    assert "y was computed by pow on line 2" in told
    assert "See also line 2." in told
    assert "    + y.retain_grad()\n" in told


def test_what_cannot_be_mended_says_why(here, tmp_path, capsys):
    source = "s = torch.randn(2, 3, requires_grad=True)\nF.cross_entropy(s, tensor([0, 7]))\n"
    assert command_line.main(["doctor", script(tmp_path, source)]) == 1
    told = capsys.readouterr().out
    assert "Not fixed here. Either a class number is wrong or the last layer has too few" in told


def test_a_fix_that_does_not_help_is_not_offered_and_the_reason_is_said(
    here, tmp_path, capsys, monkeypatch
):
    def stops(self, request):
        return outcome_of(run.execute(replace(request, source="1 / 0")), "1 / 0")

    monkeypatch.setattr(ProgramRecorder, "outcome", stops)
    assert command_line.main(["doctor", script(tmp_path, SICK)]) == 1
    out = capsys.readouterr().out
    assert "With the change that usually helps, it stops on line 1 with ZeroDivisionError" in out
    assert "    + " not in out


def test_without_trials_no_fix_is_offered(here, tmp_path, capsys):
    path = script(tmp_path, SICK)
    assert command_line.main(["doctor", path, "--no-trials"]) == 1
    out = capsys.readouterr().out
    assert "Not fixed here. Not tried, and so not offered." in out
    assert "    + " not in out


def test_what_follows_from_another_finding_is_indented_below_it(here, tmp_path, capsys):
    source = (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.w = torch.randn(3, requires_grad=True) * 0.01\n"
        "    def forward(self, x):\n"
        "        return x @ self.w\n"
        "n = Net()\n"
        "n(torch.randn(4, 3)).pow(2).mean().backward()\n"
        "print(n.w.grad)\n"
    )
    path = script(tmp_path, source)
    command_line.main(["doctor", path])
    out = capsys.readouterr().out
    assert out.startswith(f"{path}:4: ")
    assert f"\n    {path}:9: A computed tensor keeps no gradient [grad-of-non-leaf]\n" in out
    assert "\n      Not fixed here. Fix line 4 first: this follows from it.\n" in out
    command_line.main(["doctor", path, "--json", "-"])
    rows = json.loads(capsys.readouterr().out)["findings"]
    assert [(row["id"], row["follows"], row["tried"]) for row in rows] == [
        ("lost-leaf", "", "whole"),
        ("grad-of-non-leaf", "lost-leaf", "no"),
    ]


def test_a_healthy_script_ends_with_0(here, tmp_path, capsys):
    assert (
        command_line.main(["doctor", script(tmp_path, "x = param(1.0)\n(x * 2).backward()")]) == 0
    )
    assert "found nothing" in capsys.readouterr().out


def test_a_script_is_held_to_the_policy_until_it_is_trusted(here, tmp_path, capsys):
    path = script(tmp_path, "import os\nx = param(1.0)\n(x * 2).backward()")
    assert command_line.main(["doctor", path]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Refused" in told.err
    assert "--trust" in told.err
    assert command_line.main(["doctor", path, "--trust"]) == 0
    assert here == [(True, False), (False, True)]


def test_an_error_that_the_doctor_knows_nothing_of_is_not_called_nothing(here, tmp_path, capsys):
    command_line.main(["doctor", script(tmp_path, "1/0")])
    told = capsys.readouterr()
    assert told.out == "The doctor found nothing but this error.\n"
    assert "ZeroDivisionError" in told.err


@pytest.mark.parametrize(("source", "code"), [("1/0", 1), ("while True: pass", 3)])
def test_a_script_that_fails_ends_as_record_does(here, tmp_path, source, code, capsys):
    assert command_line.main(["doctor", script(tmp_path, source), "--timeout", "0.5"]) == code
    assert "script.py:1" in capsys.readouterr().err


def test_the_json_goes_to_a_file_or_to_standard_output(here, tmp_path, capsysbinary):
    path, out = script(tmp_path, SICK), tmp_path / "out.json"
    assert command_line.main(["doctor", path, "--json", str(out)]) == 1
    document = json.loads(out.read_text(encoding="utf-8"))
    assert [row["id"] for row in document["findings"]] == ["grad-of-non-leaf"]
    assert (document["format"], document["status"], document["error"]) == (1, "ok", None)
    command_line.main(["doctor", path, "--json", "-"])
    assert json.loads(capsysbinary.readouterr().out) == document


@pytest.mark.parametrize(
    "words",
    [["nowhere.py"], ["{path}", "--json", "no/such/folder.json"], ["{path}", "--timeout", "0"]],
)
def test_bad_usage_is_refused(here, tmp_path, words, capsys):
    path = script(tmp_path, SICK)
    assert command_line.main(["doctor", *(word.format(path=path) for word in words)]) == 2


LOOP = """\
for _ in range(3):
    loss = (w * 3 - 1) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
"""


@pytest.mark.e2e
def test_a_notebook_is_one_program_with_its_magics_as_comments(tmp_path, capsys):
    import nbformat

    cells = [
        "%matplotlib inline\nimport torch",
        "w = torch.tensor(2.0, requires_grad=True)",
        LOOP,
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    path = tmp_path / "fit.ipynb"
    nbformat.write(book, path)
    assert command_line.main(["doctor", str(path)]) == 1
    said = capsys.readouterr()
    assert "missing-zero-grad" in said.out
    assert "1 line for IPython became comments: %matplotlib inline" in said.err
    assert command_line.main(["record", str(path), "--json", str(tmp_path / "o.json")]) == 0
    # w follows 3 (3 w - 1) 2, summed up as nothing sets it to zero.
    w, total = 2.0, 0.0
    for _ in range(3):
        total += 6 * (3 * w - 1)
        w -= 0.01 * total
    leaf = json.loads((tmp_path / "o.json").read_text())["leaves"][0]
    assert (leaf["name"], leaf["grad"]) == ("w", pytest.approx(total, rel=1e-6))


def test_a_notebook_of_another_language_is_refused(tmp_path, capsys):
    path = tmp_path / "fit.ipynb"
    path.write_text(
        '{"cells": [], "metadata": {"kernelspec": {"language": "julia"}}, "nbformat": 4}'
    )
    assert command_line.main(["doctor", str(path)]) == 2
    assert "julia" in capsys.readouterr().err
