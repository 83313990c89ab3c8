"""Place and words of an exception."""

import sys
import time
import types

import pytest
import torch

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.tape import Place
from gradscribe.engine.record.code_positions import compile_text
from gradscribe.engine.run import errors, run
from gradscribe.engine.run.watchdog import Interrupted

FILE = "<program>"


def raised(source, **names):
    """Run ``source`` and return what it raised."""
    names = {"torch": torch, **names}
    try:
        exec(compile_text(source, FILE), names)
    except BaseException as error:  # noqa: BLE001 - any exception is the subject here
        return error
    raise AssertionError("the program ran")


def problem(source, **names):
    return errors.to_problem(raised(source, **names), source, FILE)


def shown(source, **names):
    """Return the text that is underlined."""
    place = problem(source, **names).place
    assert place.line == place.end_line
    return source.split("\n")[place.line - 1][place.column : place.end_column]


def test_the_place_is_the_failing_expression_not_the_line():
    assert shown("a = [1]\nb = a[0] + a[7] + 1") == "a[7]"


def test_columns_count_characters_not_bytes():
    assert shown("é = 'ü'; ß = 1 / 0") == "1 / 0"


def test_the_innermost_frame_of_the_program_counts_not_the_librarys():
    source = "def f(x):\n    return x.view(5)\n\nf(torch.ones(2, 3))"
    assert problem(source).place == Place(2, 11, 2, 20)


def test_a_failure_inside_torchs_own_python_is_shown_at_the_call():
    source = "layer = torch.nn.Linear(3, 2)\nlayer(torch.ones(4, 5))"
    assert shown(source) == "layer(torch.ones(4, 5))"


def test_an_expression_over_several_lines_keeps_its_range():
    assert problem("x = (1 +\n     'a')").place == Place(1, 5, 2, 8)


def test_form_feeds_do_not_count_as_lines():
    assert problem("x = 1\n\x0c\ny = 1 / 0").place.line == 3


def test_windows_line_ends_do_not_shift_the_place():
    assert problem("x = 1\r\ny = 1 / 0").place == Place(2, 4, 2, 9)


def test_torchs_message_is_kept_word_for_word():
    message = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)"
    found = problem("torch.ones(2, 3) @ torch.ones(4, 2)")
    assert (found.type, found.message) == ("RuntimeError", message)


def test_an_endless_message_is_cut():
    assert len(problem("raise ValueError('x' * 10**6)").message) < 5000


def test_an_exception_that_cannot_be_printed_is_shown_by_its_type():
    source = "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd"
    found = problem(source)
    assert (found.type, found.message, found.place.line) == ("Odd", "", 3)


def test_half_a_surrogate_pair_can_be_sent():
    problem("raise ValueError('\\udfff')").message.encode()


def test_an_error_without_a_frame_of_the_program_has_no_place():
    assert errors.to_problem(ValueError("x"), "a = 1", FILE).place == Place()


def test_an_exception_from_an_imported_module_is_shown_at_the_import(tmp_path, monkeypatch):
    (tmp_path / "broken_neighbour.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert problem("x = 1\nimport broken_neighbour").place.line == 2
    sys.modules.pop("broken_neighbour", None)


@pytest.mark.parametrize(
    ("source", "underlined"),
    [
        ("x = 1 +", "+"),
        ("if True\n    pass", "e"),
        ("é = 5; f(a b)", "a b"),
        ("é = 1; return 3", "return 3"),
        ("é = 'ü'; break", "break"),
        ("x = f(1,\n", "("),
        ("x = 'abc", "'"),
        ("5 = x", "5"),
        ("a = “b”", "“"),
    ],
)
def test_a_syntax_error_underlines_something_that_can_be_seen(source, underlined):
    assert shown(source) == underlined


@pytest.mark.parametrize("source", ["", "x=(", "if x:", "def f(:", "\n\n(", "'''\n\n", "\tx\n y"])
def test_the_place_of_any_syntax_error_lies_in_the_text(source):
    try:
        compile(source, FILE, "exec")
    except SyntaxError as error:
        place = errors.to_problem(error, source, FILE).place
        lines = source.split("\n")
        assert 1 <= place.line <= len(lines)
        assert 0 <= place.column < max(len(lines[place.line - 1]), 1)
        assert (place.end_line, place.end_column) > (place.line, place.column)


def test_a_syntax_error_is_shown_without_python_s_file_and_line():
    assert problem("x = 1 +").message == "invalid syntax"


def test_a_null_character_is_found_though_python_names_no_line():
    found = problem("x = 1\ny = '\0'\n")
    assert (found.place.line, found.place.column) == (2, 5)


@pytest.mark.parametrize("deep", ["-" * 100_000 + "1", "+".join("1" * 100_000)])
def test_an_expression_too_deep_for_python_is_found_by_its_length(deep):
    found = problem(f"x = 1\ny = {deep}\nz = 3\n")
    assert found.place.line == 2
    assert found.type in ("MemoryError", "RecursionError")


@pytest.mark.parametrize(
    "told",
    [
        "1 << 30, 1",
        "10**20, 1",
        "-(10**20), -(10**20)",
        "1, 10**20",
        "'a', 1",
        "1, 'b'",
        "None, None",
        "Much(3), Much(3)",
    ],
)
def test_a_syntax_error_of_the_program_s_own_may_tell_of_any_place(told):
    source = f"""class Much(int):
    def __gt__(self, other):
        raise SystemExit
error = SyntaxError("mine", ("<gradscribe>", 1, 1, "x"))
error.lineno, error.offset = {told}
error.end_lineno, error.end_offset = error.lineno, error.offset
raise error
"""
    start = time.process_time()
    found = run.record(source).error
    assert (found.type, found.message) == ("SyntaxError", "mine")
    assert 1 <= found.place.line <= found.place.end_line <= 8
    assert time.process_time() - start < 1


@pytest.mark.parametrize("line", ["2**31 - 2", "9", "0", "-5"])
def test_code_made_by_hand_stands_on_no_line_that_is_not_there(line):
    source = f"""import ast
made = ast.parse("y = x * 2\\nprint(y)\\ny.backward()\\n1 / 0")
for node in ast.walk(made):
    if hasattr(node, "lineno"):
        node.lineno = node.end_lineno = {line}
x = param(3.0)
exec(compile(made, "<gradscribe>", "exec"))
"""
    tape = run.record(source)
    assert tape.error.message == "division by zero"
    assert not any(check_tape.find_flaws(tape))
    assert {event.line for event in tape.events} <= set(range(9))
    assert tape.leaves


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("class E(Exception, metaclass=Odd): pass\nraise E('mine')", ("E", "mine")),
        ("class E(Exception):\n    def __str__(self): return Word('mine')\nraise E", ("E", "mine")),
    ],
)
def test_neither_a_metaclass_nor_a_text_of_the_program_s_own_hides_an_error(source, told):
    odd = """class Odd(type):
    @property
    def __name__(self): raise ValueError
class Word(str):
    startswith = partition = encode = None
"""
    found = run.record(odd + source).error
    assert (found.type, found.message) == told


def test_an_error_that_cannot_be_told_is_told_all_the_same():
    source = "class E(Exception):\n  def __str__(self): raise SystemExit\nraise E()"
    assert (problem(source).type, problem(source).place.line) == ("E", 3)


def test_a_timeout_names_the_line_and_says_how_long_it_was():
    source = "x = 0\nwhile True:\n    x += 1"
    error = raised("x = 0\nraise stop", stop=Interrupted("timeout", 5))
    found = errors.to_problem(error, source, FILE)
    assert (found.type, found.message) == ("Timeout", "Still running after 5 s: while True:")
    assert found.place.line == 2
    assert "loop" in found.hint


def test_a_stop_is_no_timeout():
    error = raised("raise stop", stop=Interrupted("stop", 5))
    found = errors.to_problem(error, "raise stop", FILE)
    assert (found.type, found.message) == ("Stopped", "The program was here: raise stop")


@pytest.mark.parametrize(("code", "clean"), [(None, True), (0, True), (3, False), ("why", False)])
def test_only_an_exit_with_nothing_to_complain_is_clean(code, clean):
    assert errors.is_clean_exit(SystemExit(code)) is clean


def test_an_exit_code_is_told_in_words():
    found = problem("import sys\nsys.exit(3)")
    assert found.message == "The program ended itself with exit code 3"
    assert problem("raise SystemExit('no data')").message == "no data"


def test_running_out_of_stack_and_memory_has_words():
    assert problem("def f(): f()\nf()").type == "RecursionError"
    assert problem("raise MemoryError").message == "Not enough memory"
    assert problem("assert 1 == 2").message == "Assertion failed"


def test_code_without_columns_is_shown_as_a_line():
    code = compile("if True:\n    x = 1", FILE, "exec")
    bare = code.replace(co_linetable=b"")
    assert isinstance(bare, types.CodeType)
    assert errors.line_place(2, ["if True:", "    x = 1 "]) == Place(2, 4, 2, 9)


def test_an_error_inside_backward_is_shown_at_the_backward():
    source = (
        "x = torch.ones(1, requires_grad=True)\ny = x.exp()\ny.add_(1)\nz = y.sum()\nz.backward()"
    )
    found = problem(source)
    assert found.place.line == 5
    assert "in place" in found.hint
