"""Backward code by hand next to autograd's, in its window (row 88)."""

import pytest

CODE = "dy = 2 * (y - 5.0)\ndw = dy * x\ndx = dy * y\n"


@pytest.fixture
def code(bench):
    bench.code.show()
    yield bench.code
    bench.code.window.close()


def check(bench, text):
    bench.code.window.set_code(text)
    bench.code.window.check.click()
    bench.compare()
    return {row.name: row for row in bench.code.window._rows}


def test_the_window_begins_with_the_gradients_to_assign(code):
    text = code.window.code()
    assert [name for name in ("dy", "dw", "dx") if f"# {name} =" in text] == ["dy", "dw", "dx"]


@pytest.mark.checklist(88)
def test_each_gradient_is_compared(bench, code):
    rows = check(bench, CODE)
    assert rows["dy"].result == "equal to the bit"
    assert rows["dw"].mood == "good"
    assert rows["dx"].mood == "bad"
    # y·3 = 19.5 where w·3 = 9.75 belongs
    assert (rows["dx"].own, rows["dx"].true) == ("19.5", "9.75")
    assert code.window.words.said().startswith("2 of 3 gradients equal to the bit")


def test_a_mistake_of_the_code_is_said_with_its_line(bench, code):
    assert check(bench, "dy = 2 * y\ndw = dy * q\n") == {}
    assert code.window.words.said().startswith("Line 2: NameError")


def test_the_link_that_breaks_is_named(bench, code):
    check(bench, "dw = 2 * (y - 5.0)\n")
    assert "mul (line 3)" in code.window.words.said()


def test_hidden_gradients_stay_hidden(bench, code):
    bench.hand.hide(True)
    rows = check(bench, CODE)
    assert rows["dx"].true == "?"
    assert "9.75" not in "".join((rows["dx"].result, code.window.words.said()))


def test_starting_over_can_be_undone(bench, code):
    code.window.set_code(CODE)
    code.window.outline.click()
    assert "# dw =" in code.window.code()
    code.window.editor.undo()
    assert code.window.code() == CODE


def test_the_code_stays_when_another_program_is_opened(bench, code):
    check(bench, CODE)
    bench.load("a = param(1.0)\nb = a * 2\nb.backward()\n")
    assert code.window.code() == CODE
    assert code.window._rows == ()


def test_a_stale_run_is_refused(bench, code):
    bench.session.apply_fix("raise ValueError\n")
    bench.run()
    code.window.check.click()
    assert "run it first" in code.window.words.said()


def test_the_end_of_python_gives_the_check_up(bench, code):
    code.window.set_code(CODE)
    code.window.check.click()
    assert not code.window.check.isEnabled()
    bench.link.die()
    assert code.window.check.isEnabled()
    assert "Python ended" in code.window.words.said()


def test_a_row_selects_its_tensor(bench, code):
    check(bench, CODE)
    code.window.row_chosen.emit(1)
    assert (
        bench.session.view.selection
        == bench.window.presenter.picture.value_cards[
            next(v.id for v in bench.session.result.tape.values if v.name == "w")
        ]
    )
