"""Each finding is found in its sick programs, at its line, gone once fixed, and else absent."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from gradscribe.engine.doctor.examine import examine, finding_kinds
from gradscribe.engine.run import run
from tests.engine.doctor.programs import HEALTHY, SICK, Program

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "assets" / "examples").glob("*.py"))


def found(source: str):
    tape = run.record(source)
    return tape, examine(tape, source)


def name_of(program: Program) -> str:
    return f"{program.id} {program.title}".strip()


@pytest.mark.parametrize("program", SICK, ids=name_of)
def test_a_sick_program_is_found_at_its_line_and_healthy_once_fixed(program):
    _, findings = found(program.source)
    own = [finding for finding in findings if finding.id == program.id]
    assert own, [finding.id for finding in findings]
    lines = program.source.split("\n")
    assert own[0].place.line == program.line or program.line is None
    for place in (own[0].place, *own[0].related):
        assert 1 <= place.line <= place.end_line <= len(lines)
        assert 0 <= place.column <= len(lines[place.line - 1])
        assert 0 < place.end_column <= len(lines[place.end_line - 1])
    if own[0].fix:
        tape, left = found(own[0].fix)
        assert (tape.status, [finding.id for finding in left]) == ("ok", [])


@pytest.mark.parametrize("program", HEALTHY, ids=name_of)
def test_on_a_healthy_program_the_doctor_is_silent(program):
    tape, findings = found(program.source)
    assert tape.status == "ok", tape.error
    assert findings == ()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_on_the_examples_the_doctor_is_silent(path):
    assert found(path.read_text(encoding="utf-8"))[1] == ()


def test_every_finding_has_sick_and_healthy_programs():
    for entry in finding_kinds():
        assert len(entry.sick) >= 1, entry.id
        assert len(entry.healthy) >= 2, entry.id


def test_every_finding_is_told_in_whole_sentences_and_named_like_its_file():
    folder = ROOT / "engine" / "doctor" / "findings"
    files = {path.stem.replace("_", "-") for path in folder.glob("[a-z]*.py")}
    assert files == {entry.id for entry in finding_kinds()}
    for entry in finding_kinds():
        assert entry.why.endswith("."), entry.id
        assert not entry.title.endswith("."), entry.id
        assert entry.title[0].isupper(), entry.id


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = (",
        "x = 'é' + param(1.0)",
        "1/0",
        "import torch; x = torch.ones(2, requires_grad=True); (x * 2).sum().backward(); x.grad",
        "while True: pass",
        "class A:\n    def forward(self): return self.forward()\nA().forward()",
    ],
)
def test_the_doctor_stands_any_program(source):
    tape = run.record(source, timeout=0.5)
    assert examine(tape, source) == ()


def test_memory_that_nothing_was_written_to_yet_is_no_nan():
    source = "x = torch.full((2,), float('nan'))"
    tape = run.record(source)
    assert [finding.id for finding in examine(tape, source)] == ["first-nan"]
    # Whether torch.empty() happens to hold NaN is chance; what made the value decides.
    values = tuple(replace(value, maker="empty") for value in tape.values)
    assert examine(replace(tape, values=values), source) == ()
