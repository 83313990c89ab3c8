"""Lessons, presenting, a crash and the recovery, large text: with the mouse and the keyboard."""

from tests.e2e.test_program import open_empty, row


def test_a_crash_loses_nothing(start):
    program = start()
    open_empty(program)
    program.type("a = param(3.0)\nb = a * a\nb.backward()")
    program.wait(lambda: row(program, "a") == (3.0, 6.0), "the gradient of a")
    sessions = program.screen.folder / "data" / "gradscribe" / "sessions"
    program.wait(
        lambda: any(b"b = a * a" in path.read_bytes() for path in sessions.glob("*.session")),
        "the program among what is restored",
    )
    program.kill()
    program.start()
    program.says("Recovered Untitled")
    assert "b = a * a" in program.find("text", "Program").text
    program.wait(lambda: row(program, "a") == (3.0, 6.0), "the gradient of a")
    program.press("push button", "Keep")
    program.wait(lambda: not program.sees("push button", "Discard"), "the end of the notice")
    assert program.quit() == 0
    program.start()
    program.find("text", "Program")
    assert "b = a * a" in program.find("text", "Program").text
    assert not program.sees("push button", "Discard")


def test_a_lesson_is_taken_with_the_keyboard_alone(start):
    program = start()
    program.says("Backward is done")
    program.keys("ctrl+shift+t")
    program.find("list item", "1[.] What a tensor is.*")
    program.keys("Return")
    program.find("filler", "Step 1 of 5")
    program.keys("ctrl+Next")
    program.find("filler", "Step 2 of 5")
    program.keys("ctrl+Prior")
    program.find("filler", "Step 1 of 5")


def test_presenting_enlarges_and_ends(start):
    program = start()
    program.says("Backward is done")
    small = program.find("push button", "Play").box
    program.keys("shift+F5")
    program.wait(lambda: program.find("push button", "Play").box[3] > small[3], "larger buttons")
    bar = program.find("slider", "Position on the tape")
    last = bar.value
    program.keys("Prior")
    program.wait(lambda: bar.value < last, "an event earlier, by the key of a remote")
    program.keys("Escape")
    program.wait(lambda: program.find("push button", "Play").box[3] == small[3], "the usual size")


def test_the_window_speaks_chinese(start):
    program = start(settings={"language": "zh_CN"})
    assert program.press("push button", "重置")
    program.press("push button", "播放")
    # Names of tensors and numbers are those of the program.
    program.wait(lambda: ("cell", "−12.0000") in program.texts(), "the value of L")
    menus = [name for role, name in program.texts() if role == "menu item"]
    assert menus
    assert all(any("一" <= letter <= "鿿" for letter in name) for name in menus)
    assert program.quit() == 0


def test_text_of_twice_the_size_leaves_every_control_within_a_small_screen(start):
    wide, high = 1000, 640
    program = start(settings={"text": "2.0"}, size=(wide, high))
    program.says("Backward is done")
    program.keys("alt+Home")
    bar = program.find("slider", "Position on the tape")
    program.wait(lambda: bar.value == 0, "the beginning")
    program.find("label", ".*torch .*")
    _, top, _, height = program.bus.windows()[0].box
    assert top + height <= high
    controls = [
        element
        for window in program.bus.windows()
        for element in window.walk()
        if element.role in {"push button", "check box", "page tab", "slider", "combo box"}
    ]
    assert len(controls) > 10
    for control in controls:
        left, top, width, height = control.box
        assert left >= 0, control.name
        assert top >= 0, control.name
        assert left + width <= wide, control.name
        assert top + height <= high, control.name


def test_a_lecture_is_made_given_saved_and_opened_again(start):
    program = start()
    program.says("Backward is done")
    bar = program.find("slider", "Position on the tape")
    last = bar.value
    program.keys("alt+Home")
    program.keys("ctrl+alt+i")
    program.find("list item", "1  the start")
    program.keys("alt+End")
    program.keys("ctrl+alt+x")
    program.wait(lambda: ("cell", "?") in program.texts(), "blank gradients")
    program.keys("ctrl+alt+i")
    program.find("list item", "2  event .*")
    program.keys("shift+F5", "F5")
    program.wait(lambda: bar.value == 0, "the first slide")
    program.keys("Next")
    program.wait(lambda: bar.value == last, "the second slide")
    program.keys("Escape")
    program.keys("ctrl+k")
    program.find("text", "Command")
    program.type("save the lecture")
    program.find("list item", "Lecture: Save the lecture.*")
    program.keys("Return")
    program.find("dialog", "Save the run.*")
    path = program.screen.folder / "mine.tape"
    program.keys("ctrl+a")
    program.type(f"{path}\n")
    program.wait(path.is_file, "the file")
    assert program.quit() == 0
    program.start(str(path))
    program.find("list item", "2  event .*")
    assert program.find("slider", "Position on the tape").value == 0
