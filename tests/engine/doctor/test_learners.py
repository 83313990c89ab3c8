"""Mistakes in the way learners write them, and long healthy programs as tutorials have them."""

import pytest

from gradscribe.engine.doctor.examine import examine
from gradscribe.engine.run import run
from tests.engine.doctor.programs import Program, learners, load

WITHOUT_FIX = {
    "hard attention in a module",
    "only no_grad in an evaluate method",
    "only the last of a dict of layers",
    "Adam in a function",
}
"""Titles of the programs that no edit of one place can fix."""
LEARNERS, TUTORIALS = learners(), load("tutorials.txt")


def found(source: str):
    tape = run.record(source)
    return tape, examine(tape, source)


def name_of(program: Program) -> str:
    return f"{program.id} {program.title}".strip()


@pytest.mark.parametrize("program", LEARNERS, ids=name_of)
def test_the_mistake_alone_is_found_at_its_line(program):
    _, findings = found(program.source)
    assert {finding.id for finding in findings} == {program.id}
    assert findings[0].place.line == program.line or program.line is None
    # A fixed program is healthy; where there is none the finding says so.
    if not findings[0].fix:
        assert program.title in WITHOUT_FIX
        assert findings[0].why_no_fix
        return
    tape, left = found(findings[0].fix)
    assert (tape.status, [finding.id for finding in left]) == ("ok", [])


@pytest.mark.parametrize("program", [p for p in LEARNERS if p.twin], ids=name_of)
def test_the_doctor_is_silent_on_its_healthy_twin(program):
    tape, findings = found(program.twin)
    assert tape.status == "ok", tape.error
    assert findings == ()


@pytest.mark.parametrize("program", TUTORIALS, ids=name_of)
def test_the_doctor_is_silent_on_tutorials(program):
    tape, findings = found(program.source)
    assert tape.status == "ok", tape.error
    assert findings == ()


def test_a_finding_without_a_mended_program_says_why():
    source = (
        "scores = torch.randn(2, 3, requires_grad=True)\nF.cross_entropy(scores, tensor([0, 7]))"
    )
    (finding,) = found(source)[1]
    assert (finding.id, finding.fix) == ("wrong-target", "")
    assert "last layer has too few outputs" in finding.why_no_fix
