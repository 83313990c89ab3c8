"""Words of a lesson as HTML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.lessons.markup import html, inline, plain


def test_marks_become_tags():
    assert inline("a **b** *c* `d*e*`") == "a <b>b</b> <i>c</i> <code>d*e*</code>"


def test_what_looks_like_html_is_text():
    assert inline("a < b & `<i>`") == "a &lt; b &amp; <code>&lt;i&gt;</code>"


def test_stars_of_arithmetic_are_left_alone():
    assert inline("2 * 3 * 4 and x**2 and y**2") == "2 * 3 * 4 and x**2 and y**2"


def test_paragraphs_and_lists():
    shown = html("One\ntwo.\n\n- a\n  b\n- c\n\nThree")
    assert shown == "<p>One two.</p><ul><li>a b</li><li>c</li></ul><p>Three</p>"


def test_plain_words_have_no_marks():
    assert plain("a **b** `c`") == "a b c"


@given(st.text(max_size=80))
def test_no_text_opens_a_tag_of_its_own(text):
    shown = html(text)
    for tag in ("p", "b", "i", "code", "ul", "li"):
        shown = shown.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    assert "<" not in shown


def test_a_list_may_be_numbered():
    assert html("1. one\n2. *two*\n   more") == ("<ol><li>one</li><li><i>two</i> more</li></ol>")
    assert html("2.5 is a number") == "<p>2.5 is a number</p>"


@pytest.mark.parametrize("words", ["8. Backward adds.", "1. It is one.", "12. Twelve\n13. more"])
def test_a_number_that_ends_a_sentence_begins_no_list(words):
    assert html(words) == f"<p>{' '.join(words.split())}</p>"


def test_lists_of_two_kinds_are_not_mixed():
    assert html("- holds\n  2. times\n- b") == "<ul><li>holds 2. times</li><li>b</li></ul>"
