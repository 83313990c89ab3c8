"""Queries: matches as those of `re`, limits in time and size."""

import re
import signal
import threading

import pytest

from gradscribe.widgets.editor.find.query import MAX_MATCHES, Query, QueryError
from gradscribe.widgets.editor.find.time_limit import SearchTimeout, time_limit


@pytest.mark.parametrize("text", ["a", ".", "(", "\\", "a|b", "é", "🙂", "İ"])
def test_a_plain_text_is_found_as_it_is(text):
    source = f"x{text}y {text}\n{text}"
    found = Query(text, match_case=True).matches(source)
    assert [source[a:b] for a, b in found] == [text] * source.count(text)


def test_a_whole_word_has_no_letter_beyond_it():
    source = "loss loss_1 xloss loss. 'loss'"
    found = Query("loss", whole_word=True).matches(source)
    assert found == [m.span() for m in re.finditer(r"\bloss\b", source)]


def test_an_empty_query_finds_nothing():
    assert Query("").matches("abc") == []
    assert Query("", is_regex=True).replacements("abc", "x", 100) == []


def test_very_many_matches_are_cut_but_all_are_replaced():
    source = "a" * (MAX_MATCHES + 5)
    assert len(Query("a").matches(source)) == MAX_MATCHES
    assert len(Query("a").replacements(source, "b", 10**6)) == len(source)


def test_a_wrong_pattern_has_its_place():
    with pytest.raises(QueryError) as raised:
        Query("ab(c", is_regex=True).matches("x")
    assert (raised.value.start, raised.value.end) == (2, 3)


def test_replacements_stop_at_the_limit():
    with pytest.raises(QueryError, match="more than 100 characters"):
        Query("a").replacements("a" * 50, "b" * 10**6, 100)


def test_the_limit_of_time_ends_a_search_and_leaves_no_timer():
    with pytest.raises(QueryError, match="too long"):
        Query(r"(x+x+)+y", is_regex=True).matches("x" * 60)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == signal.SIG_DFL


def test_a_quick_body_is_not_disturbed():
    with time_limit(5.0):
        pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_in_another_thread_there_is_no_limit():
    seen = []

    def work():
        try:
            with time_limit(0.001):
                seen.append(sum(range(300_000)))
        except SearchTimeout:
            seen.append(-1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [sum(range(300_000))]
