"""English text of the engine, recognized by the templates that it was made from."""

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

_PLACEHOLDER = re.compile(r"\{(\w+)[^{}]*\}")
_BRACES = re.compile(r"\{\{|\}\}|" + _PLACEHOLDER.pattern)
_SENTENCE = re.compile(r"(?<=[.!?:;]) (?=\S)")
_WITHIN = r"(?:(?![.!?] [A-Z]|[.!?]$).)*?"
"""A value within a sentence."""
_STOPS = {".": "。", ":": "：", ";": "；", ",": "，"}
"""Marks at the end of a part of a sentence, and those of Chinese."""
_WIDE = re.compile(r"[\u3000-\u9fff\uff00-\uffef）]$")
_GAP = re.compile(r"([。！？：；，]) ")
_FEWEST_LETTERS = 4
"""Letters that a template needs beyond its placeholders: one with fewer would fit anything."""
_DEEPEST = 4
"""Most templates within the values of templates."""
_CACHED = 2048


class _Template(Struct):
    """A message with placeholders. ``anchor`` is its longest piece without any."""

    message: str
    anchor: str
    translation: str
    pattern: re.Pattern[str] | None = None
    loose: re.Pattern[str] | None = None

    def match(self, text: str, is_loose: bool) -> re.Match[str] | None:
        """Match a text whose values are within a sentence, or may be sentences.

        The pattern is compiled for the first text with the anchor: all of them take half a second.
        """
        if self.anchor not in text:
            return None
        if self.pattern is None or self.loose is None:
            self.pattern, self.loose = (
                re.compile(_pattern(self.message, value)) for value in (_WITHIN, ".*?")
            )
        return (self.loose if is_loose else self.pattern).fullmatch(text)


class Templates:
    """Messages with placeholders, and the plain ones, with their translations."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._plain: dict[str, str] = {}
        self._templates: list[_Template] = []
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
        for message, translation in pairs:
            if not _PLACEHOLDER.search(message):
                self._plain[_unescaped(message)] = translation
                continue
            pieces = [piece for piece in _PLACEHOLDER.split(message)[::2] if piece]
            if sum(c.isalpha() for piece in pieces for c in piece) < _FEWEST_LETTERS:
                continue
            anchor = _unescaped(max(pieces, key=len))
            self._templates.append(_Template(message, anchor, translation))
        # The most specific first.
        self._templates.sort(key=lambda one: -sum(map(len, _PLACEHOLDER.split(one.message)[::2])))

    def _of_line(self, text: str, depth: int) -> str:
        whole = self._whole(text, depth)
        if whole is not None:
            return whole
        sentences, is_whole = self._sentences(_SENTENCE.split(text), depth)
        loose = None if is_whole else self._whole(text, depth, is_loose=True)
        return sentences if loose is None else loose

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
            found = self._filled(text, depth, is_loose) or self._whole(text[:-1], depth)
            is_open = found is not None and found[-1:] not in _STOPS and found[-1:] != "。"
            stop = _STOPS[text[-1]] if found and _WIDE.search(found) else text[-1]
            return f"{found}{stop}" if is_open else found
        if plain is not None:
            return _unescaped(plain)
        return self._filled(text, depth, is_loose)

    def _filled(self, text: str, depth: int, is_loose: bool) -> str | None:
        """Return the translation of a text that is made from a template."""
        for one in self._templates:
            if match := one.match(text, is_loose):
                values = {k[1:]: self._value(v, depth + 1) for k, v in match.groupdict().items()}
                return _filled(one.translation, values)
        return None

    def _value(self, text: str, depth: int) -> str:
        """Return a value; phrases are translated, single words are names of the program's."""
        if depth > _DEEPEST or " " not in text:
            return text
        return self._of_line(text, depth)


def _pattern(message: str, value: str) -> str:
    """Return the regular expression of a message; a placeholder that comes again is the same."""
    found, seen, end = [], set(), 0
    for match in _PLACEHOLDER.finditer(message):
        piece = _unescaped(message[end : match.start()])
        # A number, as in {1}, cannot be the name of a group.
        name = f"_{match[1]}"
        found += [re.escape(piece), f"(?P={name})" if name in seen else f"(?P<{name}>{value})"]
        seen.add(name)
        end = match.end()
    found.append(re.escape(_unescaped(message[end:])))
    return "".join(found)


def _filled(translation: str, values: dict[str, str]) -> str:
    """Return the translation with its values; not str.format, for which {1} is a position."""
    return _BRACES.sub(lambda m: values.get(m[1], m[0]) if m[1] else m[0][0], translation)


def _unescaped(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
