import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.protocol.tape import Place
from gradscribe.widgets.editor.source_text import (
    MAX_LENGTH,
    MAX_LINE_LENGTH,
    Hunk,
    clean_pasted,
    hunks,
    length_problem,
    underline_ranges,
)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n", "\u2028", "\u2029", "\u0085", "\v", "\f"])
def test_all_line_ends_become_newlines(end):
    assert clean_pasted(f"a{end}b") == "a\nb"


def test_tabs_become_spaces_up_to_the_next_stop():
    assert clean_pasted("\tif x:\n\t\ty = 1\na\t= 1") == "    if x:\n        y = 1\na   = 1"


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u202f", "\u3000"])
def test_odd_spaces_become_spaces(space):
    assert clean_pasted(f"x{space}={space}1") == "x = 1"


@pytest.mark.parametrize("nothing", ["\u200b", "\ufeff", "\u00ad", "\u2060", "\u202e", "\0"])
def test_invisible_characters_go_away(nothing):
    assert clean_pasted(f"{nothing}x{nothing} = 1{nothing}") == "x = 1"


def test_a_true_minus_becomes_one_python_knows():
    assert clean_pasted("x = −3 – 4") == "x = -3 - 4"


def test_smart_quotes_around_strings_become_straight():
    assert clean_pasted("print(“hi”, ‘a’)") == "print(\"hi\", 'a')"


def test_a_lone_smart_quote_becomes_straight():
    assert clean_pasted("x = “abc") == 'x = "abc'


@pytest.mark.parametrize(
    "line",
    [
        "s = 'it’s “so”'",
        's = "a\u00a0b\tc\u200bd − e"',
        "# “note” − it’s\u00a0kept",
        "s = '''“a”",
        "s = '👩\u200d🔬'",
    ],
)
def test_the_content_of_strings_and_comments_is_kept(line):
    assert clean_pasted(line) == line


def test_a_smart_string_keeps_other_smart_quotes_inside():
    assert clean_pasted("print(“it’s”)") == 'print("it’s")'


def test_strings_over_several_lines_are_kept_and_code_after_them_is_cleaned():
    assert clean_pasted("s = '''\n\t“x”\n''' + “y”") == "s = '''\n\t“x”\n''' + \"y\""


def test_prompts_are_taken_off_and_the_output_between_them_left_out():
    text = ">>> x = 1\n>>> for i in x:\n...     print(i)\n...\n1\n>>> x"
    assert clean_pasted(text) == "x = 1\nfor i in x:\n    print(i)\n\nx"


def test_dots_without_prompts_are_code():
    assert clean_pasted("class A:\n    ...") == "class A:\n    ..."


def test_half_of_a_surrogate_pair_is_replaced():
    assert clean_pasted("x = '\ud83d'") == "x = '\N{REPLACEMENT CHARACTER}'"


@given(st.text(alphabet="ab \n='\"#().12é日😀"))
def test_text_that_is_code_already_stays_as_it_is(text):
    assert clean_pasted(text) == text


def test_a_pasted_program_can_be_parsed():
    text = "def\u00a0f(x):\r\n\treturn x − 1\r\nprint(f(“abc”))"
    ast.parse(clean_pasted(text))


def applied(old, found):
    for hunk in reversed(found):
        old = old[: hunk.start] + hunk.text + old[hunk.end :]
    return old


@given(st.text(alphabet="ab\n", max_size=30), st.text(alphabet="ab\n", max_size=30))
def test_hunks_turn_one_text_into_the_other(old, new):
    assert applied(old, hunks(old, new)) == new


def test_equal_texts_have_no_hunks():
    assert hunks("a\nb", "a\nb") == []


def test_changes_far_apart_are_hunks_of_their_own():
    assert hunks("a=1\nb=2\nc=3\n", "a=1.5\nb=2\nc=4\n") == [Hunk(3, 3, ".5"), Hunk(10, 11, "4")]


def test_a_huge_change_is_one_hunk():
    old = "\n".join(f"a{i}" for i in range(5000))
    new = old.replace("a", "b")
    assert applied(old, hunks(old, new)) == new
    assert len(hunks(old, new)) == 1


LINES = ["abcd", "", "   efg", ""]


@pytest.mark.parametrize(
    ("place", "ranges"),
    [
        (Place(1, 1, 1, 3), [(0, 1, 3)]),
        (Place(1, 2, 1, 2), [(0, 2, 3)]),
        (Place(1, 4, 1, 4), [(0, 3, 4)]),
        (Place(1, 9, 1, 99), [(0, 3, 4)]),
        (Place(1, 2, 0, 0), [(0, 2, 3)]),
        (Place(1, 1, 3, 5), [(0, 1, 4), (2, 3, 5)]),
        (Place(1, 1, 2, 0), [(0, 1, 4)]),
        (Place(1, 3, 99, 99), [(0, 3, 4), (2, 3, 6)]),
        (Place(2, 0, 2, 0), [(0, 3, 4)]),
        (Place(4, 0, 4, 5), [(2, 5, 6)]),
        (Place(99, 7, 99, 8), [(2, 5, 6)]),
        (Place(), []),
    ],
)
def test_a_place_becomes_what_is_underlined(place, ranges):
    assert underline_ranges(place, LINES) == ranges


def test_an_empty_text_has_nothing_to_underline():
    assert underline_ranges(Place(1, 0, 1, 1), [""]) == []


@given(
    st.lists(st.text(alphabet="a b", max_size=5), max_size=5),
    st.builds(Place, *[st.integers(-2, 9)] * 4),
)
def test_underlines_are_always_inside_the_text_and_never_empty(lines, place):
    for number, start, end in underline_ranges(place, lines):
        assert 0 <= start < end <= len(lines[number])


def test_too_much_text_is_told_apart_from_much():
    assert (
        length_problem("")
        == length_problem("x" * MAX_LINE_LENGTH + "\n" + "y" * MAX_LINE_LENGTH)
        == ""
    )
    assert length_problem("a\n" * (MAX_LENGTH // 2)) == ""
    assert "line 2 has 10,001 characters" in length_problem(
        "a\n" + "x" * (MAX_LINE_LENGTH + 1) + "\nb"
    )
    assert f"it has {MAX_LENGTH + 2:,} characters" in length_problem("a\n" * (MAX_LENGTH // 2 + 1))
