"""A finding is one file: a new one is looked for, explained, tested and put on the page."""

import importlib
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gradscribe.app.training.setup import apply_fix
from gradscribe.engine.doctor import examine as doctor
from gradscribe.engine.doctor import findings
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.run import run
from gradscribe.engine.train.source import catalogue
from tests.engine.doctor.programs import declared

ROOT = Path(__file__).parents[3]
SOURCE = '''
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix


def detect(evidence):
    for op in evidence.tape.ops:
        if op.op == "cosh":
            fix = evidence.program.text.replace("cosh", "sinh")
            yield FoundCase(op.place, "cosh is even", (), fix)


ENTRY = FindingKind(
    "even-function",
    "An even function",
    "It cannot tell x from -x.",
    detect,
    "hint",
    setup_fix=SetupFix(rate=0.5),
    sick=("""# of a parameter
x = param(1.0)
x.cosh().backward()  # !
""",),
    healthy=("x = param(1.0)", "y = 1"),
)
'''


@pytest.fixture
def even(tmp_path, monkeypatch):
    """The doctor with a finding more, whose file is in a folder of its own."""
    (tmp_path / "even_function.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(findings, "__path__", [*findings.__path__, str(tmp_path)])
    doctor.finding_kinds.cache_clear()
    yield doctor.find_kind("even-function")
    doctor.finding_kinds.cache_clear()
    sys.modules.pop(f"{findings.__name__}.even_function", None)
    vars(findings).pop("even_function", None)


def test_a_new_finding_is_found_and_fixed_in_its_own_program(even):
    (program,), healthy = declared(even)
    assert (program.title, program.line, len(healthy)) == ("of a parameter", 3, 2)
    (finding,) = doctor.examine(run.record(program.source), program.source)
    assert (finding.id, finding.place.line, finding.severity) == ("even-function", 3, "hint")
    assert (finding.title, finding.why) == (even.title, even.why)
    assert doctor.examine(run.record(finding.fix), finding.fix) == ()


def test_a_new_finding_of_a_step_is_fixed_in_the_setup(even):
    known = messages.Catalogue(1, catalogue.entries())
    sick = Setup(optimizer=Part("sgd", {"lr": 0.2}))
    fixed = apply_fix.fixed_setup(sick, "even-function", known)
    assert fixed is not None
    assert fixed[0] == replace(sick, optimizer=Part("sgd", {"lr": 0.1}))


def test_a_new_finding_is_on_the_page_once_it_is_made(even, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    page = importlib.import_module("doctor_page").with_table("")
    assert "| `even-function` | hint | **An even function.** It cannot tell x from -x. |\n" in page


def test_an_id_that_no_finding_has_is_of_no_kind():
    for name in ("no-such-finding", "", ".", "..examine", "__init__", "dead-relu.x"):
        assert doctor.find_kind(name) is None
