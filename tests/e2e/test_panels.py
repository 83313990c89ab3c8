"""Panels dragged with the mouse: docked, tabbed, in a window of their own; a restart keeps them."""

from tests.e2e.program import Program

Box = tuple[int, int, int, int]


def place(program: Program, role: str, name: str) -> Box:
    """Return where an element is, once it stands still."""
    found: list[Box] = []

    def is_still() -> bool:
        found.append(program.find(role, name).box)
        return found[-2:] == [found[-1]] * 2 and found[-1][2] > 0

    program.wait(is_still, f"{name!r} standing still")
    return found[-1]


def drag_to(program: Program, panel: str, x: int, y: int) -> None:
    """Drag the handle or the title of a panel, at its left end, to a pixel of the screen."""
    is_out = program.sees("push button", f"Hide {panel}")
    name = f"Move {panel}" if is_out else f"Handle of {panel}"
    left, top, _, high = place(program, "push button" if is_out else "panel", name)
    start = (left - 60 if is_out else left + 60, top + high // 2)
    program.drag(start, (x - start[0], y - start[1]), steps=14)


def test_panels_are_docked_tabbed_floated_and_put_back(start):
    program = start()
    program.says("Backward is done")
    usual = place(program, "text", "Program")
    program.keys("ctrl+alt+a")
    drag_to(program, "Inspector", 12, 450)
    program.find("push button", "Hide Inspector")
    program.wait(
        lambda: place(program, "text", "Program")[0] > usual[0] + 100, "the inspector at the left"
    )
    # Its middle: nearer to an edge it would be docked above or below.
    left, _, wide, _ = place(program, "filler", "Backward · event .*")
    drag_to(program, "Values", left + wide // 2, 450)
    program.find("page tab", "Inspector")
    program.find("push button", "Hide Values")
    drag_to(program, "Values", 700, 300)
    program.wait(lambda: len(program.bus.windows()) == 2, "the table in a window of its own")
    program.keys("ctrl+alt+a")
    # The list of commands takes the keyboard from the panel's window.
    program.keys("ctrl+k")
    program.wait(lambda: "focused" in program.find("text", "Command").states, "the list's field")
    program.keys("Escape")
    box = place(program, "table", "Values and gradients")
    assert program.quit() == 0

    program.start()
    program.wait(lambda: len(program.bus.windows()) == 2, "both windows")
    program.says("Backward is done")
    program.find("push button", "Hide Inspector")
    again = place(program, "table", "Values and gradients")
    assert again[2:] == box[2:]
    # It lies on top of the main window: a click reaches it.
    program.press("push button", "Hide Values")
    program.wait(lambda: len(program.bus.windows()) == 1, "the main window alone")
    program.keys("ctrl+k")
    program.find("text", "Command")
    program.type("reset layout")
    program.find("list item", "View: Reset layout.*")
    program.keys("Return")
    program.wait(lambda: not program.sees("push button", "Hide Inspector"), "the usual places")
    back = place(program, "text", "Program")
    assert abs(back[0] - usual[0]) <= 2
    assert abs(back[2] - usual[2]) <= 2
    program.find("table", "Values and gradients")
    assert "Traceback" not in program.log
