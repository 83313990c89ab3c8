"""Names known without asking: those of the text, of the last run, and of torch."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from PySide6.QtGui import QTextDocument

from gradscribe.playback.completion.candidates import Known, Owners
from gradscribe.playback.completion.live_names import LiveName
from gradscribe.playback.completion.source_names import SourceNames, names_in
from gradscribe.widgets.editor.completion.masked_text import masked_lines

_WORD = re.compile(r"[^\W\d]\w*")


class Knowledge:
    """The names of a document's text, read again after each change, and names from outside."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._revision = -1
        self._source = SourceNames({}, {}, (), {})
        self._words: frozenset[str] = frozenset()
        self.owners: Owners = {}
        """The members of torch's packages and classes, once they have arrived."""
        self.live: Callable[[], Mapping[str, LiveName]] = dict
        """Return the names of the last run."""

    def known(self) -> Known:
        """Return all of it."""
        self._read()
        return Known(self._source, self.live(), self.owners)

    def words(self) -> frozenset[str]:
        """Return the words of the code."""
        self._read()
        return self._words

    def _read(self) -> None:
        if self._document.revision() != self._revision:
            self._revision = self._document.revision()
            lines = list(masked_lines(self._document))
            self._source = names_in(lines)
            self._words = frozenset().union(*map(_words_of, lines))


@lru_cache(maxsize=8192)
def _words_of(line: str) -> frozenset[str]:
    return frozenset(_WORD.findall(line))
