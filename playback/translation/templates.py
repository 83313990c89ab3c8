"""English text of the engine, recognized by the templates that it was made from."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

_PLACEHOLDER = re.compile(r"\{(\w+)[^{}]*\}")
_ADJACENT = re.compile(r"[\w}]\{\w")
_CLAUSE = r"(?:[;:.(] ?| (?:on|in|of|at|from|by|with|and) )"
"""Beginnings of values that follow another at once."""
_BRACES = re.compile(r"\{\{|\}\}|" + _PLACEHOLDER.pattern)
_SENTENCE = re.compile(r"(?<=[.!?:;]) (?=\S)")
_WITHIN = r"(?:(?![.!?] [A-Z]|[.!?;:,]$).)"
"""A letter of a value within a sentence."""
_NAME = rf"(?:(?={_WITHIN})(?:[^ ]|(?<=,) ))"
"""A letter of names and numbers with commas: values of messages with few letters of their own."""
_STOPS = {".": "。", ":": "：", ";": "；", ",": "，"}
"""Marks at the end of a part of a sentence, and those of Chinese."""
_WIDE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")
_LEADING = ";,. "
_LEADING_WIDE = "；，。 "
"""Marks with which clauses begin, and those of Chinese."""
_BETWEEN = " · "
"""Between facts that have nothing to do with each other."""
_GAP = re.compile(r"([。！？：；，]) ")
_FEWEST_LETTERS = 4
"""Letters that a template needs beyond its placeholders: one with fewer would fit anything."""
_MANY_LETTERS = 10
_DEEPEST = 4
"""Most templates within the values of templates."""
_CACHED = 2048


class _Template(Struct):
    """A message with placeholders. ``anchor`` is its longest piece without any."""

    message: str
    anchor: str
    translation: str
    patterns: tuple[tuple[re.Pattern[str], ...], ...] = ()
    """The strict ones and the loose ones, each in the order in which they are tried."""

    def match(self, text: str, is_loose: bool) -> re.Match[str] | None:
        """Match a text whose values are within a sentence, or may be sentences.

        The pattern is compiled for the first text with the anchor: all of them take half a second.
        """
        if self.anchor not in text:
            return None
        if not self.patterns:
            is_short = _letters(self.message) < _MANY_LETTERS
            self.patterns = tuple(
                tuple(map(re.compile, _patterns(self.message, _NAME if is_short else kind, kind)))
                for kind in (_WITHIN, ".")
            )
        found = (pattern.fullmatch(text) for pattern in self.patterns[is_loose])
        return next(filter(None, found), None)


class Templates:
    """Messages with placeholders, and the plain ones, with their translations."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._plain: dict[str, str] = {}
        self._templates: list[_Template] = []
        self._clauses: list[_Template] = []
        """Short ones, such as " of {name}": values of others begin so, and nothing else does."""
        self._pairs = [*pairs]
        self.translated = lru_cache(_CACHED)(self._translated)

    def _translated(self, text: str) -> str:
        """Return the translation of text that may be several sentences or lines."""
        if self._pairs:
            self._sort()
        return "\n".join(self._of_line(line, 0) for line in text.split("\n"))

    def _sort(self) -> None:
        """Sort the messages, when the first text comes."""
        pairs, self._pairs = self._pairs, []
        for message, translation in _with_clauses(pairs):
            if not _PLACEHOLDER.search(message):
                self._plain[_unescaped(message)] = translation
                continue
            pieces = [piece for piece in _PLACEHOLDER.split(message)[::2] if piece]
            one = _Template(message, _unescaped(max(pieces, key=len, default="")), translation)
            if _letters(message) >= _FEWEST_LETTERS:
                self._templates.append(one)
            elif message[0] in _LEADING:
                self._clauses.append(one)
        # The most specific first.
        self._templates.sort(key=lambda one: -sum(map(len, _PLACEHOLDER.split(one.message)[::2])))

    def _of_line(self, text: str, depth: int) -> str:
        whole = self._whole(text, depth)
        if whole is None:
            whole = self._of_parts(text, depth)
        if whole is not None:
            return whole
        sentences, is_whole = self._sentences(_SENTENCE.split(text), depth)
        loose = None if is_whole else self._whole(text, depth, is_loose=True)
        return sentences if loose is None else loose

    def _of_parts(self, text: str, depth: int) -> str | None:
        """Return facts between dots, or what is said of a file after its name; None if neither."""
        if _BETWEEN in text:
            return _BETWEEN.join(self._of_line(part, depth) for part in text.split(_BETWEEN))
        name, _, rest = text.partition(" ")
        said = self._whole(rest, depth) if "." in name[:-1] and rest else None
        return None if said is None else f"{name} {said}"

    def _sentences(self, parts: list[str], depth: int) -> tuple[str, bool]:
        """Return the sentences, as many as possible translated together, and whether all are."""
        found, start, is_whole = [], 0, True
        while start < len(parts):
            for end in range(len(parts), start, -1):
                words = self._whole(" ".join(parts[start:end]), depth)
                if words is not None:
                    break
            else:
                words, end, is_whole = parts[start], start + 1, False
            found.append(words)
            start = end
        joined = " ".join(found)
        return _GAP.sub(r"\1", joined), is_whole

    def _whole(self, text: str, depth: int, is_loose: bool = False) -> str | None:
        """Return the translation of a text that is a message as a whole."""
        plain = self._plain.get(text)
        if plain is None and text[-1:] in _STOPS and not is_loose:
            if (found := self._filled(text, depth)) is not None:
                return found
            found = self._whole(text[:-1], depth)
            is_open = found is not None and found[-1:] not in _STOPS and found[-1:] != "。"
            stop = _STOPS[text[-1]] if found and _WIDE.search(found) else text[-1]
            return f"{found}{stop}" if is_open else found
        if plain is not None:
            return _unescaped(plain)
        found = self._filled(text, depth, is_loose)
        if found is not None or " " not in text:
            return found
        # A clause that a colon introduces in some sentences, and a sentence of its own in others.
        other = text[:1].swapcase() + text[1:]
        plain = self._plain.get(other)
        return self._filled(other, depth, is_loose) if plain is None else _unescaped(plain)

    def _filled(
        self,
        text: str,
        depth: int,
        is_loose: bool = False,
        among: Sequence[_Template] | None = None,
    ) -> str | None:
        """Return the translation of a text that is made from a template."""
        for one in self._templates if among is None else among:
            if match := one.match(text, is_loose):
                values = {k[1:]: self._value(v, depth + 1) for k, v in match.groupdict().items()}
                return _filled(one.translation, values)
        return None

    def _value(self, text: str, depth: int) -> str:
        """Return a value; phrases are translated, single words are names of the program's."""
        if depth > _DEEPEST or " " not in text:
            return text
        if text[0] in _LEADING and (found := self._filled(text, depth, among=self._clauses)):
            return found
        if text[0] in _STOPS and text[1] == " ":
            return _STOPS[text[0]] + self._of_line(text[2:], depth)
        return self._of_line(text, depth)


def _letters(message: str) -> int:
    """Return how many letters a message has beyond its placeholders."""
    return sum(map(str.isalpha, _PLACEHOLDER.sub("", message)))


def _with_clauses(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs, and each clause such as "; write {words}" without its mark, too.

    A text is divided at such marks, which then belong to the part before.
    """
    for message, translation in pairs:
        yield message, translation
        if message[:1] in _LEADING:
            yield message.lstrip(_LEADING), translation.lstrip(_LEADING_WIDE)


def _patterns(message: str, letter: str, of_clause: str) -> Iterator[str]:
    """Yield the regular expressions of a message whose values have such letters.

    The end of a value is unknown where another follows at once; mostly that begins a clause, and
    so does a value that follows a word without a space.
    """
    if _ADJACENT.search(message):
        yield _pattern(message, letter, rf"(?:{_CLAUSE}{of_clause}*?\??)?")
    yield _pattern(message, letter, f"{letter}*?")


def _pattern(message: str, letter: str, next_value: str) -> str:
    """Return a regular expression; a placeholder that comes again is the same.

    ``next_value``: that of a value right after another.
    """
    found, seen, end = [], set(), 0
    for match in _PLACEHOLDER.finditer(message):
        piece = _unescaped(message[end : match.start()])
        # A number, as in {1}, cannot be the name of a group.
        name = f"_{match[1]}"
        # Nothing before a text would make " on line 3" of "{name} on line {line}".
        first = f"{letter}*?" if match.start() else f"{letter}+?"
        one = next_value if _ADJACENT.match(message, match.start() - 1) else first
        found += [re.escape(piece), f"(?P={name})" if name in seen else f"(?P<{name}>{one})"]
        seen.add(name)
        end = match.end()
    found.append(re.escape(_unescaped(message[end:])))
    return "".join(found)


def _filled(translation: str, values: dict[str, str]) -> str:
    """Return the translation with its values; not str.format, for which {1} is a position."""
    return _BRACES.sub(lambda m: values.get(m[1], m[0]) if m[1] else m[0][0], translation)


def _unescaped(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
