"""A program with the mouse and the keyboard: typed, dragged, played, scrubbed, repaired, saved."""

import json
import math
import subprocess
import sys

import pytest

import gradscribe
from tests.e2e.program import Program

TYPED = """\
a = param(2.0)
b = param(-3.0)
c = (a * b + a).tanh()
c.backward()
"""
CLOSE = {"abs": 5e-5}
"""The table shows four digits after the point."""


def number(cell: str) -> float:
    """Return the number of a cell; NaN for an empty one."""
    text = cell.replace("\N{MINUS SIGN}", "-")
    return math.nan if text in {"\N{EM DASH}", "\N{HORIZONTAL ELLIPSIS}"} else float(text)


def row(program: Program, name: str) -> tuple[float, float] | None:
    """Return value and gradient of a tensor from the table, or None if it is not there."""
    table = program.find("table", "Values and gradients")
    cells = [child.name for child in table.children if child.role == "cell"]
    if name not in cells[::3]:
        return None
    at = 3 * cells[::3].index(name)
    return number(cells[at + 1]), number(cells[at + 2])


def plain(source: str, *names: str) -> list[tuple[float, float]]:
    """Return value and gradient of each name after plain PyTorch has run the program."""
    head = "import torch, json\ndef param(x): return torch.tensor(x, requires_grad=True)\n"
    pairs = ", ".join(f"[{name}.item(), {name}.grad.item()]" for name in names)
    done = subprocess.run(
        [sys.executable, "-c", f"{head}{source}\nprint(json.dumps([{pairs}]))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(pair) for pair in json.loads(done.stdout)]


def open_empty(program: Program) -> None:
    """Leave the example of the first start for an empty program."""
    program.says("Backward is done")
    program.keys("ctrl+n")
    program.says("Untitled")
    program.press("text", "Program")
    program.keys("ctrl+a", "Delete")


def test_the_first_start_shows_an_example_with_its_gradients(start):
    program = start()
    program.says("Backward is done")
    # (x + y) * z at -2, 5, -4: the gradient of x is z.
    assert row(program, "x") == (-2.0, -4.0)
    assert program.quit() == 0
    assert "Traceback" not in program.log


def test_the_tour_is_taken_at_the_first_start_and_later_the_start_page_is_shown(start):
    program = start(settings={"tour": "false", "start": "page"})
    program.says("Drag a number")
    program.keys("alt+n")
    program.press("push button", "Play")
    program.says("Step back")
    program.keys("Escape")
    program.wait(lambda: not program.sees("push button", "Skip"), "the end of the tour")
    assert program.quit() == 0
    program.start()
    program.type("spiral")
    program.find("push button", "Three spirals")
    program.keys("Escape")
    program.wait(lambda: not program.sees("push button", "Three spirals"), "the end of the page")
    assert program.quit() == 0
    assert "Traceback" not in program.log


def test_a_typed_program_shows_what_pytorch_computes(start):
    program = start()
    open_empty(program)
    program.type(TYPED)
    a, b = plain(TYPED, "a", "b")
    program.wait(lambda: row(program, "b") == pytest.approx(b, **CLOSE), "the gradient of b")
    assert row(program, "a") == pytest.approx(a, **CLOSE)


def test_a_dragged_number_runs_the_program_again_and_is_one_undo(start):
    program = start()
    program.says("Backward is done")
    editor = program.find("text", "Program")
    before = editor.text
    program.drag(program.place_of(editor, "5.0"), (60, 0))
    program.wait(lambda: editor.text != before, "another number")
    line = next(line for line in editor.text.splitlines() if line.startswith("y = "))
    dragged = float(line.removeprefix("y = param(").rstrip(")"))
    assert dragged > 5.0
    program.wait(lambda: row(program, "z") == (-4.0, -2.0 + dragged), "the gradient of z")
    program.keys("ctrl+z")
    program.wait(lambda: editor.text == before, "the number before")
    program.wait(lambda: row(program, "z") == (-4.0, 3.0), "the gradient before")


def test_the_film_is_played_and_scrubbed(start):
    program = start()
    program.says("Backward is done")
    program.press("push button", "Reset")
    bar = program.find("slider", "Position on the tape")
    program.wait(lambda: bar.value == 0, "the beginning")
    assert row(program, "L") is None or math.isnan(row(program, "L")[0])
    program.press("push button", "Play")
    program.says("Backward is done")
    left, top, wide, high = bar.box
    program.drag((left + wide - 5, top + high // 2), (-wide // 2, 0))
    program.says("Backward starts at L")
    assert row(program, "L")[0] == -12.0
    assert math.isnan(row(program, "x")[1]), "no gradient has come back yet"
    program.press("push button", "Back")
    program.wait(lambda: bar.value < 6, "an event earlier")
    program.press("push button", "Step")
    program.says("Backward starts at L")


def test_an_error_is_at_its_line_and_gone_once_repaired(start):
    program = start()
    open_empty(program)
    program.type("import torch\na = torch.ones(3)\nb = torch.ones(4)\nc = a @ b")
    program.says("Line 4: RuntimeError")
    program.type("[1:]")
    program.wait(lambda: not program.sees("filler", "Error"), "the end of the error")
    program.wait(lambda: row(program, "c") is not None, "the result")
    assert row(program, "c")[0] == 3.0


def test_a_run_is_saved_and_read_elsewhere(start):
    program = start()
    open_empty(program)
    program.type(TYPED)
    (a,) = plain(TYPED, "a")
    program.wait(lambda: row(program, "a") == pytest.approx(a, **CLOSE), "the gradient of a")
    program.keys("ctrl+k")
    program.find("text", "Command")
    program.type("save run")
    program.find("list item", "File: Save run.*")
    program.keys("Return")
    program.find("dialog", "Save the run.*")
    path = program.screen.folder / "mine.tape"
    program.keys("ctrl+a")
    program.type(f"{path}\n")
    program.wait(path.is_file, "the file")
    tape = gradscribe.load(path)
    assert (float(tape["a"].value), float(tape["a"].grad)) == a
    assert program.quit() == 0
