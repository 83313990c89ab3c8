"""Healthy programs have no sure finding.

`make conformance` examines all of them; a plain test run takes each model and each style of the
generated ones once.
"""

from pathlib import Path

import pytest

from gradscribe.engine.run import run
from gradscribe.playback.lessons.parse import parse_lesson
from tests.conformance.tutorial_programs import MODELS, STYLES, generated, whole
from tests.engine.doctor.programs import HEALTHY, learners, load

ASSETS = Path(__file__).parents[2] / "assets"
TAUGHT = {
    "04_arithmetic": {"first-nan"},
    "06_broadcasting": {"silent-broadcast"},
    "15_accumulate": {"missing-zero-grad"},
    "17_freed": {"kept-graphs"},
    "20_flat": {"nondifferentiable-op"},
    "21_further": {"grad-of-non-leaf"},
    "24_modules": {"forward-called-directly"},
    "25_losses": {"silent-broadcast", "softmax-before-cross-entropy"},
    "27_five_lines": {"missing-step", "step-before-backward", "optimizer-misses-parameter"},
    "35_compare": {"missing-zero-grad"},
}
"""The mistakes that lessons make on purpose, to teach them."""
LEAST = 600


def lessons():
    """Yield the name of each program of the lessons with its text, without repetitions."""
    seen = set()
    for path in sorted((ASSETS / "lessons").glob("*.md")):
        for number, step in enumerate(parse_lesson(path.name, path.read_text("utf-8")).steps):
            if step.program not in seen:
                seen.add(step.program)
                yield f"{path.stem}, step {number}", step.program


def examples():
    """Yield the examples, those with a mistake left out."""
    for path in sorted((ASSETS / "examples").glob("*/*.py")):
        if path.parent.name == "broken":
            continue
        yield f"example {path.stem}", path.read_text("utf-8")


def collected():
    """Yield all programs with their names."""
    yield from examples()
    yield from lessons()
    yield from ((f"{p.id}: {p.title}", p.source) for p in (*HEALTHY, *load("tutorials.txt")))
    yield from ((f"{p.id}: twin of {p.title}", p.twin) for p in learners() if p.twin)
    yield from whole()
    yield from generated()


def sure(name, source):
    """Return what is wrong about a program: its error, or the sure findings that it has."""
    tape = run.record(source, timeout=60)
    is_lesson = ", step " in name
    if tape.error is not None:
        # A lesson may show an error.
        return [] if is_lesson else [tape.error.message]
    taught = TAUGHT.get(name.split(",")[0], set()) if is_lesson else set()
    return [
        f"{f.id} on line {f.place.line}: {f.message}"
        for f in tape.findings
        if f.severity == "sure" and f.id not in taught
    ]


@pytest.mark.conformance
def test_no_healthy_program_has_a_sure_finding(record_property):
    count, wrong = 0, {}
    for name, source in collected():
        count += 1
        found = sure(name, source)
        if found:
            wrong[name] = found
    record_property("compared", f"{count} healthy programs")
    assert not wrong
    assert count >= LEAST


def _some():
    """Return generated programs: each model and each style occurs."""
    models, styles = list(MODELS), list(STYLES)
    wanted = {f"{model}, {styles[at % len(styles)]}" for at, model in enumerate(models)}
    return [(name, source) for name, source in generated() if name in wanted]


@pytest.mark.parametrize(("name", "source"), _some(), ids=[name for name, _ in _some()])
def test_models_and_styles_of_tutorials_have_no_sure_finding(name, source):
    assert sure(name, source) == []


@pytest.mark.parametrize(("name", "source"), list(whole()), ids=[name for name, _ in whole()])
def test_whole_programs_of_tutorials_have_no_sure_finding(name, source):
    assert sure(name, source) == []


def test_the_sweep_would_notice_a_mistake():
    name, source = next(iter(generated()))
    assert sure(name, source.replace("    opt.zero_grad()\n", ""))
