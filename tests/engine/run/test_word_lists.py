"""Lists of texts among a program's variables are on its tape, within bounds."""

import pytest

from gradscribe.engine.protocol.tape import WordList
from gradscribe.engine.run.run import record
from gradscribe.engine.run.word_lists import MAX_CHARACTERS, MAX_LISTS, MAX_WORDS, word_lists


def test_lists_and_tuples_of_texts_are_recorded_by_name():
    tape = record(
        "tokens = 'the cat sat'.split()\nkinds = ('a', 'b')\nx = param(1.0)\nx.backward()"
    )
    assert tape.word_lists == (
        WordList("tokens", ("the", "cat", "sat")),
        WordList("kinds", ("a", "b")),
    )


@pytest.mark.parametrize(
    "thing", [["one"], [], ["a", 1], "text", {"a": "b"}, {"a", "b"}, ["x"] * (MAX_WORDS + 1), None]
)
def test_other_things_are_not(thing):
    assert word_lists({"thing": thing}) == ()


def test_they_are_bounded():
    many = {f"names{n}": ["x" * 1000, "y"] for n in range(100)}
    found = word_lists(many)
    assert len(found) == MAX_LISTS
    assert max(len(word) for item in found for word in item.words) == MAX_CHARACTERS


def test_no_code_of_the_program_runs():
    class Words(list):
        def __iter__(self):
            raise AssertionError

    class Text(str):
        __slots__ = ()

        def __getitem__(self, _at):
            raise AssertionError

    assert word_lists({"a": Words(["x", "y"]), "b": [Text("x"), "y"], "_c": ["x", "y"]}) == ()


def test_what_no_message_can_carry_is_replaced():
    (found,) = word_lists({"a": ["\ud800", "y"]})
    assert found.words == ("?", "y")
