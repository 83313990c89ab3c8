"""The training page with the mouse and the keyboard: train, zoom, rewind, fork."""

import re

from tests.e2e.program import Program

STEP = re.compile(r"step ([\d,]+)")


def step(program: Program) -> int:
    """Return the step that the toolbar names."""
    match = STEP.fullmatch(program.find("label", STEP.pattern).name)
    assert match is not None
    return int(match[1].replace(",", ""))


def train(program: Program, steps: int) -> int:
    """Go to the training page, train some steps, pause, and return the step that was reached."""
    program.says("Backward is done")
    program.keys("ctrl+alt+2")
    program.wait(lambda: step(program) >= steps, f"{steps} steps")
    program.press("push button", "Pause")
    program.find("push button", "Train")
    program.wait(lambda: step(program) == step(program), "a step that stands")
    return step(program)


def runs(program: Program) -> list[tuple[str, int]]:
    """Return name and steps of the rows in the table of runs."""
    table = program.find("table", "Runs")
    cells = [child.name for child in table.children if child.role == "cell"]
    columns = len([child for child in table.children if child.role == "column header"])
    return [
        (name, int(steps)) for name, steps in zip(cells[::columns], cells[1::columns], strict=True)
    ]


def test_it_trains_rewinds_and_forks_without_losing_a_step(start):
    program = start()
    reached = train(program, 20)
    program.keys("Home")
    program.wait(lambda: step(program) == 0, "the first step")
    program.keys("End")
    program.wait(lambda: step(program) == reached, "the last step")
    program.keys("Home")
    program.wait(lambda: step(program) == 0, "the first step again")
    program.press("push button", "Fork")
    program.says("from step 0")
    program.press("page tab", "Runs.*")
    program.press("push button", "Train")
    program.wait(lambda: step(program) > 0, "steps of the fork")
    program.press("push button", "Pause")
    program.find("push button", "Train")
    program.wait(lambda: len(runs(program)) == 2, "both runs")
    assert reached in [steps for _, steps in runs(program)], "the run before the fork is whole"
    assert program.quit() == 0
    assert "Traceback" not in program.log


def test_a_chart_is_zoomed_by_the_wheel_and_shows_all_again_by_a_key(start):
    program = start()
    train(program, 30)
    chart = program.find("filler", "Chart.*", program.find("panel", "Loss"))
    chart.focus()
    left, top, wide, _ = chart.box
    program.wait(lambda: "focused" in chart.states, "the focus")
    whole = program.screen.pixels(chart.box)
    program.scroll(chart, 5)
    program.point(left + wide // 2, top - 60)
    program.wait(lambda: program.screen.pixels(chart.box) != whole, "a closer look")
    program.keys("Home")
    program.wait(lambda: program.screen.pixels(chart.box) == whole, "the whole curve")
    assert step(program) >= 30, "the key is that of the chart, not of the run"
