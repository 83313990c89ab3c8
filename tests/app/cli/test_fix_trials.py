"""Fixes on the command line run before they are offered."""

import json

import pytest

from gradscribe.app.cli import fix_trials
from gradscribe.app.cli import main as command_line
from gradscribe.engine.doctor.fix_trial import outcome_of
from gradscribe.engine.protocol.outcome import Outcome
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Place, Problem, Tape
from gradscribe.engine.run import run

pytestmark = pytest.mark.e2e

SICK = "x = param([1.0, 2.0])\ny = x**2\ny.sum().backward()\nprint(y.grad)\n"


def outcome(source):
    return outcome_of(run.record(source), source)


def test_a_fix_that_works_stays():
    tape = run.record(SICK)
    (found,) = fix_trials.tried_findings(tape, SICK, outcome)
    assert (found.fix, found.tried) == (tape.findings[0].fix, "whole")


def test_a_fix_that_fails_gives_way_to_the_reason():
    tape = run.record(SICK)
    bad = tuple(replace(f, fix=SICK + "1 / 0\n") for f in tape.findings)
    (found,) = fix_trials.tried_findings(replace(tape, findings=bad), SICK, outcome)
    assert found.fix == ""
    assert found.why_no_fix.endswith("it stops with ZeroDivisionError: division by zero")


def test_an_engine_that_dies_in_a_trial_costs_only_that_fix():
    tape = run.record(SICK)
    dead = Outcome("died", Problem("Crash", "Python crashed"), is_cut=True)
    (found,) = fix_trials.tried_findings(tape, SICK, lambda _: dead)
    assert (found.fix, found.tried) == ("", "whole")


def test_once_the_time_is_over_no_further_fix_is_tried(monkeypatch):
    monkeypatch.setattr(fix_trials, "ALL_S", -1.0)
    tape = run.record(SICK)
    (found,) = fix_trials.tried_findings(tape, SICK, lambda _: pytest.fail("it was run"))
    assert (found.fix, found.tried) == ("", "no")
    assert found.why_no_fix.startswith("Not tried")


def test_what_has_no_fix_keeps_its_reason():
    own = Finding("a", "A", Place(1, 0, 1, 1), "m", "w.", why_no_fix="Because")
    tape = Tape(findings=(own,))
    assert fix_trials.tried_findings(tape, "x = 1", outcome) == (own,)
    assert fix_trials.without_fixes(tape).findings == (own,)


def test_a_real_engine_tries_the_fixes_of_doctor_and_of_record(tmp_path, capsys):
    path = tmp_path / "script.py"
    path.write_text(SICK, encoding="utf-8")
    for command in ("doctor", "record"):
        command_line.main([command, str(path), "--json", "-"])
        (found,) = json.loads(capsys.readouterr().out)["findings"]
        assert (found["tried"], "y.retain_grad()" in found["fix"]) == ("whole", True)
