"""Lines of a text, found in an earlier version."""

from gradscribe.playback.code.moved_lines import in_earlier_text

THEN = "a\nb\nc\nd"


def test_the_same_text_has_the_same_lines():
    assert in_earlier_text((1, 4), THEN, THEN) == {1, 4}


def test_lines_after_an_inserted_line_were_above():
    assert in_earlier_text((1, 2, 3, 4, 5), "a\nnew\nb\nc\nd", THEN) == {1, 2, 3, 4}
    assert in_earlier_text((2,), "a\nnew\nb\nc\nd", THEN) == frozenset()


def test_lines_after_a_removed_line_were_below():
    assert in_earlier_text((1, 2, 3), "a\nc\nd", THEN) == {1, 3, 4}


def test_an_edited_line_keeps_its_place():
    assert in_earlier_text((2, 3), "a\nB\nc\nd", THEN) == {2, 3}


def test_nothing_in_common_gives_no_line():
    assert in_earlier_text((1, 2), "x\ny", THEN) == frozenset()
