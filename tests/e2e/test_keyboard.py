"""The first hour by the keyboard alone: no test here moves the mouse or asks a widget for focus."""

import re
import threading

import gradscribe
from tests.e2e.accessibility import Element
from tests.e2e.program import Program
from tests.e2e.test_program import row
from tests.e2e.test_training import step

TYPED = """\
a = param(2.0)
b = a * 3
c = b * a
c.backwrd()"""
FAR = 80
"""Presses of Tab or F6 that lead around the window for certain."""
SETTLE = 5
"""Looks at an element before the next press; around again is the way to what a press passed."""


def lead_to(program: Program, key: str, role: str, name: str, within: str = "") -> Element:
    """Press ``key`` until a named element has the keyboard; return it.

    Args:
        program: the program, with its window in front.
        key: the key that moves on, such as ``Tab`` or ``F6``.
        role: role of the element looked for.
        name: expression that its whole name matches.
        within: expression for the name of a panel that it is in; empty for any.
    """
    panel = program.find("panel", within) if within else None
    wanted = program.find(role, name, panel)
    for _ in range(FAR):
        for _ in range(SETTLE):
            if "focused" in wanted.states:
                return wanted
            threading.Event().wait(0.05)
        program.keys(key)
    raise AssertionError(f"{key} never leads to {role} {name!r}")


def chosen(program: Program) -> list[str]:
    """Return the names of the cards and wires that are selected in the graph."""
    graph = program.find("list", "Computation graph")
    return [child.name for child in graph.children if "selected" in child.states]


def command(program: Program, words: str, whole: str) -> None:
    """Give a command by a part of its name, through the list of all commands."""
    program.keys("ctrl+k")
    program.find("text", "Command")
    program.type(words)
    program.find("list item", whole)
    program.keys("Return")


def test_a_program_is_typed_repaired_run_played_scrubbed_and_read_by_keys(start, tmp_path):
    program = start()
    program.says("Backward is done")
    program.keys("ctrl+n")
    program.says("Untitled")
    program.keys("ctrl+a", "Delete")
    program.type(TYPED)
    program.says("Line 4: AttributeError")
    # The fix of the error, then a run with the next seed.
    program.keys("alt+Return")
    program.wait(lambda: row(program, "a") == (2.0, 12.0), "the gradient of 3 a²")
    program.keys("F5", "ctrl+shift+r")
    program.says("seed 1")

    bar = program.find("slider", "Position on the tape")
    program.keys("alt+Home")
    program.wait(lambda: bar.value == 0, "the beginning")
    program.keys("F7")
    program.says("Backward is done")
    last = bar.value
    lead_to(program, "F6", "slider", "Position on the tape")
    for key, place in (("Left", last - 1), ("Home", 0), ("Right", 1), ("End", last)):
        program.keys(key)
        program.wait(lambda place=place: bar.value == place, f"{key} on the bar")

    lead_to(program, "F6", "list", "Computation graph")
    for key, card in (
        ("Up", "mul, c, value 12.0000.*"),
        ("Up", "mul, b, value 6.0000.*"),
        ("shift+Up", "from a to b, gradient back × 3.*"),
        ("Up", "a, value 2.0, gradient .*"),
    ):
        program.keys(key)
        program.wait(
            lambda card=card: (
                [bool(re.fullmatch(card, name)) for name in chosen(program)] == [True]
            ),
            f"{card} by {key}",
        )

    command(program, "save run", "File: Save run.*")
    program.find("dialog", "Save the run.*")
    path = tmp_path / "mine.tape"
    program.keys("ctrl+a")
    program.type(f"{path}\n")
    program.wait(path.is_file, "the file")
    assert float(gradscribe.load(path)["a"].grad) == 12.0
    assert program.quit() == 0
    assert "Traceback" not in program.log


def test_a_model_is_trained_looked_at_rewound_and_exported_by_keys(start, tmp_path):
    program = start()
    program.says("Backward is done")
    program.keys("ctrl+alt+2")
    program.wait(lambda: step(program) >= 5, "5 steps")
    program.keys("F7")
    program.find("push button", "Train")
    program.wait(lambda: step(program) == step(program), "a step that stands")
    reached = step(program)

    lead_to(program, "F6", "page tab list", "Output")
    chart = lead_to(program, "Tab", "filler", "Chart.*", within="Loss")
    whole = program.screen.pixels(chart.box)
    program.keys("plus", "plus")
    program.wait(lambda: program.screen.pixels(chart.box) != whole, "a closer look")
    program.keys("Home")
    program.wait(lambda: program.screen.pixels(chart.box) == whole, "the whole curve")

    program.keys("alt+Home")
    program.wait(lambda: step(program) == 0, "the first step")
    program.keys("alt+End")
    program.wait(lambda: step(program) == reached, "the last step")
    program.keys("F7")
    program.wait(lambda: step(program) > reached, "more steps")
    program.keys("F7")
    program.find("push button", "Train")

    command(program, "export as python", "Train: Export as Python script.*")
    program.find("dialog", ".*")
    path = tmp_path / "mine.py"
    program.keys("ctrl+a")
    program.type(f"{path}\n")
    program.wait(path.is_file, "the script")
    assert "optimizer.step()" in path.read_text()
    assert program.quit() == 0
    assert "Traceback" not in program.log


def test_a_lesson_is_opened_and_its_question_answered_by_keys(start):
    program = start()
    program.says("Backward is done")
    program.keys("ctrl+shift+t")
    program.find("list item", "1[.] What a tensor is.*")
    program.keys("Return")
    program.find("filler", "Step 1 of 5")
    program.keys("ctrl+Next")
    program.find("filler", "Step 2 of 5")
    lead_to(program, "Tab", "text", "Your answer")
    program.type("(1, 3, 2)\n")
    program.says("One block of three rows")
    assert program.quit() == 0
    assert "Traceback" not in program.log
