"""Frames become exact places; assignments become names."""

import sys

from gradscribe.engine.record.code_positions import compile_text
from gradscribe.engine.record.source import Source
from gradscribe.engine.run.run import record


def placed(text: str, expression: str):
    """Run ``text`` with a function that notes where it was called, at ``expression``."""
    source, seen = Source(text, "<test>"), []

    def here(*_args):
        seen.append(source.locate(sys._getframe(1)))
        return 0

    exec(compile_text(text, "<test>"), {"here": here})
    where, doing = seen[0]
    place = source.place(source.span(where))
    line = text.splitlines()[place.line - 1]
    assert line[place.column : place.end_column] == expression
    assert doing == ""
    return source, source.span(where)


def test_the_innermost_expression_is_found():
    placed("x = 1 + here(2) * 3", "here(2)")


def test_characters_are_counted_and_not_bytes():
    placed("é = 'ü'; y = here(é)", "here(é)")


def test_a_call_inside_a_comprehension_and_a_function():
    placed("def f():\n    return [here(i) for i in range(1)]\nf()", "here(i)")


def test_targets_pair_with_their_expressions():
    source, span = placed("a, b = here(1), here(2)", "here(1)")
    assert source.syntax.targets[span] == ("a",)
    source, span = placed("self = lambda: 0\nself.w = here(1)", "here(1)")
    assert source.syntax.targets[span] == ("self.w",)


def test_text_that_does_not_parse_has_no_names_and_no_error():
    assert Source("x = = 2", "<test>").syntax.targets == {}
    assert Source("x = '\0'", "<test>").syntax.targets == {}


def test_a_frame_outside_the_text_is_nowhere():
    assert Source("", "<nobody>").locate(sys._getframe())[0] is None


def test_a_form_feed_ends_no_line():
    line = "s = 'ñ'; y = (x + x) * x"
    tape = record(f"x = param(2.0)\n\x0c\n'''a\x0c\x0b\x1c\u2028b'''\n{line}")
    add, _ = tape.ops
    assert line[add.place.column : add.place.end_column] == "x + x"


def test_a_factor_gives_its_name_to_no_other_factor():
    tape = record("f, dt = nn.Linear(2, 2), 0.1\nz = torch.ones(1, 2)\nz = z + dt * f(z)")
    (result,) = next(op for op in tape.ops if op.op == "linear").outputs
    assert next(v.name for v in tape.values if v.id == result) == ""
    assert "dt" not in {v.name for v in tape.values}


def test_a_value_from_a_loop_is_called_what_the_program_calls_it():
    tape = record("for x in [torch.ones(2), torch.zeros(2)]:\n    y = x * 0.5")
    assert {v.name for v in tape.values} == {"x", "y"}


def test_the_lines_of_every_loop_are_on_the_tape():
    tape = record(
        "for i in range(2):\n    x = torch.ones(2)\n    while i > 5:\n        pass\n"
        "def f():\n    for j in range(1):\n        x\n    else:\n        pass\n"
    )
    assert set(tape.loops) == {(1, 4), (3, 4), (6, 9)}


def test_the_lines_of_what_a_choice_chooses_are_on_the_tape():
    tape = record(
        "n = 2\nif n:\n    torch.ones(2)\nelif n > 1:\n    n\nelse:\n    n\n    n\n"
        "if n:\n    n\nmatch n:\n    case 1:\n        n\n    case _:\n        n\n        n\n"
    )
    assert set(tape.arms) == {((3, 3), (4, 8)), ((5, 5), (7, 8)), ((13, 13), (15, 16))}
