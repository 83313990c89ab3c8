"""Lists of texts among a program's variables: they name the rows and columns of its tensors."""

from collections.abc import Iterator, Mapping
from itertools import islice

from gradscribe.engine.protocol.safe_text import without_surrogates
from gradscribe.engine.protocol.tape import WordList

MAX_LISTS = 16
MAX_WORDS = 512
"""Longest list that is read: longer ones name nothing that is drawn with names."""
MAX_CHARACTERS = 40
"""Characters after which a text is cut."""


def word_lists(names: Mapping[str, object]) -> tuple[WordList, ...]:
    """Return the lists and tuples of texts among a program's global names.

    Only plain ones are read: subclasses may run code of the program.
    """
    return tuple(islice(_found(names), MAX_LISTS))


def _found(names: Mapping[str, object]) -> Iterator[WordList]:
    for name, thing in list(names.items()):
        if type(name) is not str or name.startswith("_") or len(name) > MAX_CHARACTERS:
            continue
        if type(thing) not in (list, tuple) or not isinstance(thing, list | tuple):
            continue
        if 2 <= len(thing) <= MAX_WORDS and all(type(item) is str for item in thing):
            words = (without_surrogates(str(item)[:MAX_CHARACTERS]) for item in thing)
            yield WordList(without_surrogates(name), tuple(words))
