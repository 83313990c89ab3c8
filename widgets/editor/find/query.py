"""A search for a text or a regular expression, and the replacement of what it finds."""

import re
import warnings
from collections.abc import Iterator

from msgspec import Struct

from gradscribe.playback.translation import tr
from gradscribe.widgets.editor.find.time_limit import SearchTimeout, time_limit

MAX_S = 0.3
"""Processor time for one search, in seconds."""
MAX_MATCHES = 100_000
"""Maximum number of matches that are counted and shown."""
TOO_SLOW = tr("This pattern takes too long; make it simpler")


class QueryError(ValueError):
    """A pattern or replacement that cannot be used: the reason, and its place in it.

    ``start`` and ``end`` are columns in characters; both 0 where no place is known.
    """

    def __init__(self, reason: str, start: int = 0, end: int = 0) -> None:
        super().__init__(reason)
        self.start, self.end = start, end


class Query(Struct, frozen=True):
    """The text to search for, and the way it is compared."""

    text: str
    match_case: bool = False
    whole_word: bool = False
    is_regex: bool = False

    def pattern(self) -> re.Pattern[str]:
        """Return the compiled pattern.

        Raises:
            QueryError: it is not a regular expression.
        """
        flags = re.MULTILINE | (re.NOFLAG if self.match_case else re.IGNORECASE)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return re.compile(self.text if self.is_regex else re.escape(self.text), flags)
        except re.error as error:
            raise _shown(error, self.text) from None
        except (OverflowError, RecursionError, MemoryError):
            raise QueryError(tr("This pattern is too big")) from None

    def _found(self, source: str) -> Iterator[re.Match[str]]:
        for match in self.pattern().finditer(source):
            if not self.whole_word or _is_word(source, match.start(), match.end()):
                yield match

    def matches(self, source: str) -> list[tuple[int, int]]:
        """Return start and end of the matches, in characters; at most `MAX_MATCHES`.

        Raises:
            QueryError: it is not a regular expression, or takes too long.
        """
        found: list[tuple[int, int]] = []
        if not self.text:
            return found
        try:
            with time_limit(MAX_S):
                for match in self._found(source):
                    found.append(match.span())
                    if len(found) == MAX_MATCHES:
                        break
        except SearchTimeout:
            raise QueryError(TOO_SLOW) from None
        return found

    def replacements(
        self, source: str, template: str, most: int
    ) -> list[tuple[tuple[int, int], str]]:
        r"""Return the span of every match with the text for it.

        ``template`` may name the groups of a regular expression: ``\1``, ``\g<name>``. ``most``
        is the maximum length of the text afterwards, in characters.

        Raises:
            QueryError: the pattern or the template cannot be used, or the text would be too long.
        """
        found: list[tuple[tuple[int, int], str]] = []
        size = len(source)
        if not self.text:
            return found
        try:
            with time_limit(MAX_S * 4):
                for match in self._found(source):
                    text = self._expanded(match, template)
                    size += len(text) - (match.end() - match.start())
                    if size > most:
                        raise QueryError(
                            tr("The text would have more than {most:,} characters", most=most)
                        )
                    found.append((match.span(), text))
        except SearchTimeout:
            raise QueryError(TOO_SLOW) from None
        return found

    def _expanded(self, match: re.Match[str], template: str) -> str:
        if not self.is_regex:
            return template
        try:
            return match.expand(template)
        except re.error as error:
            raise _shown(error, template) from None
        except IndexError as error:
            raise QueryError(
                tr("{capitalize} in the replacement", capitalize=str(error).capitalize())
            ) from None


def _is_word(source: str, start: int, end: int) -> bool:
    """Return whether no word goes on beyond either end of a match."""
    return (
        start < end
        and not (_in_word(source[start : start + 1]) and _in_word(source[start - 1 : start]))
        and not (_in_word(source[end - 1 : end]) and _in_word(source[end : end + 1]))
    )


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _shown(error: re.error, text: str) -> QueryError:
    """Return an error of `re` in words, with the place from which the text is wrong."""
    start = min(error.pos or 0, len(text))
    message = error.msg[:1].upper() + error.msg[1:]
    end = min(len(text), start + 1)
    if start == len(text) and start:
        start -= 1
    return QueryError(
        tr("{message_}, at character {value}", message_=message, value=start + 1), start, end
    )
