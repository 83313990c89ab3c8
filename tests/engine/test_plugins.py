"""Plug-ins of other packages: found by their entry points, and left out with a reason if broken."""

import subprocess
import sys

import pytest

from gradscribe.app.cli import train as headless
from gradscribe.engine import plugins
from tests.plugins import install

pytestmark = pytest.mark.e2e

__all__ = ["install"]

MODEL = """
from gradscribe.engine.zoo.entry import Model
ENTRY = Model(
    lambda options, shapes: f"nn.Linear({shapes.inputs}, {shapes.outputs}, bias=False)",
    "Line through zero", "A linear layer without a bias", (),
)
"""
FINDING = """
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase

def detect(evidence):
    for op in evidence.tape.ops:
        if op.op == "cosh":
            yield FoundCase(op.place, "cosh is even")

ENTRY = FindingKind("even-function", "An even function", "It loses the sign.", detect, "hint")
"""
RULES = """
from gradscribe.playback.explain.rule import Rule
RULES = (Rule("xlog1py_of_others mul", "{a} times ln(1 + {b})", "a product"),)
"""


def test_a_model_of_another_package_trains_and_is_exported(install):
    install([("models", "zero_line = others.zero_line")], {"zero_line": MODEL})
    listed = headless.catalogue()
    assert "Line through zero" in [entry.title for entry in listed.entries]
    assert listed.left_out == ()
    from gradscribe.engine.protocol import setup

    parts = {"data": {"name": "line"}, "model": {"name": "zero_line"}, "steps": 5}
    done = headless.run(setup.parse(parts), ("script",))
    assert [(p.name, p.shape) for p in done.begun.parameters] == [("weight", (1, 1))]
    assert b"nn.Linear(1, 1, bias=False)" in done.files["script"]


@pytest.mark.parametrize(
    ("group", "name", "text", "reason"),
    [
        ("models", "gone", None, "ModuleNotFoundError"),
        ("models", "raises", "1 / 0", "ZeroDivisionError"),
        ("models", "empty", "", "has no attribute 'ENTRY'"),
        ("models", "number", "ENTRY = 7", "its ENTRY is a int, not a Model"),
        ("models", "mlp", MODEL, "Gradscribe has an entry of this name"),
        ("models", "titled", MODEL.replace('"Line through zero"', "7"), "its entry is not valid"),
        ("losses", "zero_line", MODEL, "its ENTRY is a Model, not a Loss"),
        ("findings", "another", FINDING, "its id is 'even-function', not its name"),
        ("findings", "dead_relu", FINDING, "Gradscribe has an entry of this name"),
    ],
)
def test_a_broken_plug_in_is_named_and_nothing_else_fails(install, group, name, text, reason):
    install([(group, f"{name} = others.made")], {} if text is None else {"made": text})
    listed = headless.catalogue()
    (line,) = listed.left_out
    assert reason in line
    assert f"The plug-in {name} of others (gradscribe.{group})" in line
    assert {entry.name for entry in listed.entries} >= {"mlp", "moons", "mse", "sgd", "constant"}
    assert not [entry for entry in listed.entries if entry.title == "Line through zero"]


def test_a_finding_of_another_package_is_found(install):
    from gradscribe.engine.doctor import examine
    from gradscribe.engine.run import run

    source = "x = param(1.0)\ny = x.cosh()\ny.backward()"
    tape = run.record(source)
    assert "even-function" not in [f.id for f in examine.examine(tape, source)]
    install([("findings", "even_function = others.even")], {"even": FINDING})
    found = [f for f in examine.examine(tape, source) if f.id == "even-function"]
    assert [(f.place.line, f.severity) for f in found] == [(2, "hint")]
    assert examine.find_kind("even-function").title == "An even function"
    assert plugins.broken() == ()


def test_two_plug_ins_of_a_name_are_no_riddle(install):
    points = [("models", "zero_line = others.zero_line\nzero_line = others.zero_line:ENTRY")]
    install(points, {"zero_line": MODEL})
    from gradscribe.engine.zoo.entry import Model

    assert [*plugins.entries("models", "ENTRY", Model)] == ["zero_line"]
    assert [broken.reason for broken in plugins.broken()] == ["another plug-in has this name"]


def test_an_explanation_of_another_package_is_used_where_there_is_none(install):
    from gradscribe.playback.explain import rule

    assert "xlog1py_of_others" not in rule.rule_table()
    install([("explanations", "more = others.more")], {"more": RULES})
    own = rule.rule_table()["mul"].formula
    assert rule.rule_table()["xlog1py_of_others"].formula == "{a} times ln(1 + {b})"
    assert own != "{a} times ln(1 + {b})"


def test_the_command_line_names_a_broken_plug_in(install):
    install([("optimizers", "gone = others.nothing")], {})
    command = [sys.executable, "-P", "-m", "gradscribe", "train", "--list"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout.startswith("The plug-in gone of others (gradscribe.optimizers) is left out")
    assert "\ndata\n" in done.stdout
